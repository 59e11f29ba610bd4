import PackStore

/// The kind of a file, for the error of a command that received a file of another kind.
package enum PackFileKind: Sendable {
  case archive, delta, other

  /// Detects the kind from the first bytes; later bytes are not checked.
  ///
  /// - Returns: `nil` if the file cannot be read.
  package init?(_ path: FilePath) {
    guard let file = try? InputFile(path), let bytes = try? file.bytes(at: 0, upTo: TarHeader.byteCount) else {
      return nil
    }
    self.init(start: bytes)
  }

  /// Detects the kind from the first bytes, as many as a tar header has or all of them.
  package init(start bytes: [UInt8]) {
    if DeltaBlockList.isDelta(start: bytes) {
      self = .delta
    } else if bytes.dropFirst(TarHeader.magicOffset).starts(with: "ustar".utf8) {
      self = .archive
    } else {
      self = .other
    }
  }
}
