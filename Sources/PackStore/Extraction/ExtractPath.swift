import CPackStore

/// The path to write an asset to: copied from the core and checked. Stored as bytes, because equal strings may be different paths.
struct ExtractPath: Sendable {
  /// The whole path of the asset, NUL-terminated.
  private let bytes: [UInt8]

  /// The offset of the path below the target.
  private let start: Int

  /// The offset of the last part.
  private let nameStart: Int

  /// - Parameter prefixCount: the length of the extracted folder's own path, including its `/`.
  init(_ asset: pks_asset, droppingFirst prefixCount: Int) throws {
    let path = UnsafeRawBufferPointer(start: asset.path, count: Int(asset.path_length))
    bytes = Array(path) + [0]
    start = prefixCount
    let slash = path.lastIndex(of: UInt8(ascii: "/"))
    nameStart = max(slash.map { $0 + 1 } ?? 0, start)
    guard start < path.count, parts(of: path[start...]).allSatisfy(isName) else {
      throw PackStoreError(.corrupt, "the asset has an impossible path", about: .path(text))
    }
  }

  /// - Parameter path: relative to the target.
  init(_ path: [UInt8]) throws {
    bytes = path + [0]
    start = 0
    nameStart = path.lastIndex(of: UInt8(ascii: "/")).map { $0 + 1 } ?? 0
    guard parts(of: path).allSatisfy(isName) else {
      throw PackStoreError(.invalidArgument, "invalid path of a file", about: .path(text))
    }
  }

  /// The parent folder, relative to the target; empty for the target itself.
  var folder: ArraySlice<UInt8> { bytes[start..<max(nameStart - 1, start)] }

  /// The path relative to the target.
  var relative: ArraySlice<UInt8> { bytes[start..<bytes.count - 1] }

  var text: String { String(decoding: relative, as: UTF8.self) }

  /// Calls `body` with the last part, NUL-terminated.
  func withName<Result, Failure: Error>(
    _ body: (UnsafePointer<CChar>) throws(Failure) -> Result
  ) throws(Failure) -> Result {
    try bytes.span.bytes.withUnsafeBytes { bytes throws(Failure) in
      try body(bytes.baseAddress!.advanced(by: nameStart).assumingMemoryBound(to: CChar.self))
    }
  }

  /// Calls `body` with `asset` and this path, because the core's own path is no longer valid.
  func lend<Result>(_ asset: pks_asset, _ body: (UnsafePointer<pks_asset>) -> Result) -> Result {
    var asset = asset
    return bytes.withUnsafeBytes { bytes in
      asset.path = bytes.baseAddress!.assumingMemoryBound(to: CChar.self)
      return body(&asset)
    }
  }

  /// Whether a link here that points to `target` may lead out of the folder that `relative` is relative to.
  ///
  /// Nothing is followed. Leading `..` parts go up from the link's own folder, which is not a link. A later `..` could go up from
  /// the target of another link, so it counts as leading out.
  func leadsOut(_ target: UnsafeRawBufferPointer) -> Bool {
    guard let first = target.first, first != UInt8(ascii: "/"), !target.contains(0) else { return true }
    let steps = parts(of: target[...]).filter { !$0.isEmpty && !$0.elementsEqual(".".utf8) }
    let climbs = steps.prefix { $0.elementsEqual("..".utf8) }.count
    let depth = folder.isEmpty ? 0 : parts(of: folder).count
    return climbs > depth || steps.dropFirst(climbs).contains { $0.elementsEqual("..".utf8) }
  }
}

/// Returns the parts between the slashes, including empty ones.
func parts<Bytes: Collection<UInt8>>(of path: Bytes) -> [Bytes.SubSequence] {
  path.split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false)
}

/// Whether a part is a valid name in a folder. The core guarantees it, but a file written outside the target cannot be undone.
private func isName(_ part: some Collection<UInt8>) -> Bool {
  !part.isEmpty && !part.contains(0) && !part.elementsEqual(".".utf8) && !part.elementsEqual("..".utf8)
}
