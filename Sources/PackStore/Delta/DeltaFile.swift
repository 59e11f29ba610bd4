import CPackStore

/// A delta in a file, open for reading, with a checked header.
///
/// A signature may follow the delta. `PackStore` does not read the signature: `VerifiedDelta` of `PackFormats` does.
///
/// The file stays open until the object is released. No program may write to it during that time; changes are detected.
public final class DeltaFile: Sendable {
  private let file: InputFile
  package let path: FilePath

  public let info: Info

  /// Whether bytes follow the delta, which should be its signature.
  package let isFollowedBySignature: Bool

  /// Opens a delta and checks its header.
  ///
  /// - Throws: `notFound`; `corrupt` if the file is not a delta or ends too early; `newerFormat`, `ioError`, `outOfMemory`.
  public init(_ path: FilePath) throws {
    file = try InputFile(path)
    info = try Self.inspect(file, path)
    self.path = path
    let end = try file.bytes(at: UInt64(clamping: info.byteCount - 1), upTo: 2)
    guard !end.isEmpty else {
      throw Self.explain(PackStoreError(.corrupt, "ends too early", about: .delta(path.string)), path)
    }
    isFollowedBySignature = end.count > 1
  }

  /// Returns the bytes after the delta, at most `limit`.
  ///
  /// - Throws: `corrupt` if the file was changed since it was opened; `ioError`, `outOfMemory`.
  package func trailer(upTo limit: Int) throws -> [UInt8] {
    try file.bytes(at: UInt64(clamping: info.byteCount), upTo: limit)
  }

  /// Adds the remedy for a damaged delta, because the remedy for a damaged store does not apply.
  func explain(_ error: any Error) -> any Error { Self.explain(error, path) }

  private static func explain(_ error: any Error, _ path: FilePath) -> any Error {
    guard var error = error as? PackStoreError, error.code == .corrupt, error.subject == .delta(path.string) else {
      return error
    }
    error.specificRemedy = "download it again from its publisher"
    return error
  }

  /// Calls `body` with the core's source for this file, which is valid only during the call.
  func withSource<Result>(_ body: (pks_delta_source) -> Result) -> Result {
    Self.withSource(file, path, body)
  }
}

// MARK: - Reading

extension DeltaFile {
  private static func withSource<Result>(
    _ file: InputFile, _ path: FilePath, _ body: (pks_delta_source) -> Result
  ) -> Result {
    var file = file
    return withContext(&file) { context in
      path.withPlatformString { name in
        body(
          pks_delta_source(
            context: context,
            read: { DeltaFile.readForCore(from: $0, at: $1, to: $2, count: $3, got: $4) }, name: name))
      }
    }
  }

  /// Reads for the core. `context` points to the file.
  ///
  /// - Returns: 0, or an error number of the system.
  private static func readForCore(
    from context: UnsafeMutableRawPointer?, at offset: UInt64, to out: UnsafeMutableRawPointer, count: Int,
    got: UnsafeMutablePointer<Int>
  ) -> Int32 {
    let file = context!.load(as: InputFile.self)
    do {
      got.pointee = try file.read(at: offset, into: UnsafeMutableRawBufferPointer(start: out, count: count))
      return 0
    } catch {
      return systemError(of: error)
    }
  }

  private static func inspect(_ file: InputFile, _ path: FilePath) throws -> Info {
    var info = pks_delta_info()
    do {
      try PackStore.check { error in
        withSource(file, path) { source in
          withUnsafePointer(to: source) { pks_delta_inspect(&info, $0, sha256, error) }
        }
      }
      return try Info(info)
    } catch {
      throw explain(error, path)
    }
  }
}
