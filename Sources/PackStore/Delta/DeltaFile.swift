import CPackStore

/// A delta as a file: what it says of itself, and who signed it.
///
/// The file stays open as long as this lives; write nothing to it meanwhile; what was changed is noticed.
public final class DeltaFile: Sendable {
  private let file: InputFile
  let path: FilePath

  public let info: Info

  /// The root key by whose word it is signed. Nil when it is unsigned.
  public var signer: SitePublicKey? { signature?.authority.rootKey }

  /// By whose word it is signed, with all keys.
  package var authority: SigningAuthority? { signature?.authority }

  /// By whose word its version comes.
  public var origin: Store.Origin { signature?.authority.origin ?? .unsigned(.standard) }

  private let signature: DeltaSignature?

  /// Opens a delta and checks its header and its signature.
  ///
  /// - Throws: `notFound`; `corrupt` for what is no delta, or ends too early; `untrusted` for a signature that does not
  ///   belong to it; `newerFormat`, `ioError`, `outOfMemory`.
  public init(_ path: FilePath) throws {
    file = try InputFile(path)
    info = try Self.inspect(file, path)
    signature = try Self.signature(file, path, info)
    self.path = path
  }

  /// Refuses what no trusted key signed.
  func check(_ trust: Trust) throws {
    if let end = signature?.authority.delegation.endsAt, Double(end) <= Date().timeIntervalSince1970 * 1e9 {
      var error = PackStoreError(.untrusted, "the key that signed the delta has ended", file: path.string)
      error.specificRemedy = "get the delta once more from its publisher"
      throw error
    }
    let isTrusted =
      switch trust {
      case .anyone: true
      case .packOrigin: signer != nil
      case .key(let key): signature?.authority.rootKeys.contains(key) ?? false
      }
    guard !isTrusted else { return }
    let reason = signer.map { "the delta is signed by another key, \($0)" } ?? "the delta is not signed"
    var error = PackStoreError(.untrusted, reason, file: path.string)
    error.specificRemedy = signer == nil ? "get it from its publisher" : "ask the publisher whose key that is"
    throw error
  }

  func provenance(_ options: Store.ApplyOptions) -> Provenance {
    Provenance(
      origin, .delta, serial: signature?.authority.delegation.serial ?? 0, sequence: signature?.sequence ?? 0,
      adopts: options.adopts,
      allowsDowngrade: options.allowsDowngrade)
  }

  /// What is wrong with a delta is nothing that is wrong with the store.
  func explain(_ error: any Error) -> any Error { Self.explain(error, path) }

  private static func explain(_ error: any Error, _ path: FilePath) -> any Error {
    guard var error = error as? PackStoreError, error.code == .corrupt, error.file == path.string else { return error }
    error.specificRemedy = "get it once more from its publisher"
    return error
  }

  /// Lends the core what it reads.
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

  /// What the core calls to read: `context` leads to the file. Returns 0, or an error number.
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

  /// The signature that follows the delta. What follows is a signature of its header, or nothing.
  private static func signature(
    _ file: InputFile, _ path: FilePath, _ info: Info
  ) throws -> DeltaSignature? {
    let last = try file.bytes(at: UInt64(clamping: info.byteCount - 1), upTo: DeltaSignature.byteCountLimit + 2)
    guard !last.isEmpty else {
      throw explain(PackStoreError(.corrupt, "the delta ends too early", file: path.string), path)
    }
    let rest = Array(last.dropFirst())
    if rest.isEmpty { return nil }
    guard let signature = DeltaSignature(rest, of: info.headerDigest) else {
      var error = PackStoreError(.untrusted, "the delta has a signature that is not right", file: path.string)
      error.specificRemedy = "get it once more from its publisher"
      throw error
    }
    return signature
  }
}
