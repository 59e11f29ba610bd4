import CPackStore
public import SystemPackage

/// A delta as a file: what it says of itself, and who signed it.
///
/// The file stays open as long as this lives; nobody should write to it meanwhile, but what was changed is noticed.
public final class DeltaFile: Sendable {
  private let descriptor: FileDescriptor
  private let path: FilePath

  public let info: DeltaInfo

  /// Who signed it, if that is true. Nil when nobody did.
  public let signer: SitePublicKey?

  /// Opens a delta and checks its header and its signature.
  ///
  /// - Throws: `notFound`; `corrupt` for what is no delta, or ends too early; `untrusted` for a signature that does not
  ///   belong to it; `newerFormat`, `ioError`, `outOfMemory`.
  public init(_ path: FilePath) throws(PackStoreError) {
    let descriptor = try Self.open(path)
    do throws(PackStoreError) {
      info = try Self.inspect(descriptor, path)
      signer = try Self.signer(descriptor, path, info)
    } catch {
      try? descriptor.close()
      throw error
    }
    self.descriptor = descriptor
    self.path = path
  }

  /// Opens a delta and checks its header and its signature.
  public convenience init(_ path: String) throws(PackStoreError) { try self.init(FilePath(path)) }

  deinit { try? descriptor.close() }

  /// Refuses what nobody who is trusted signed.
  func check(_ trust: DeltaTrust) throws(PackStoreError) {
    guard case .key(let key) = trust, signer != key else { return }
    let reason = signer == nil ? "nobody signed the delta" : "the delta is signed by another key"
    var error = PackStoreError(.untrusted, reason, file: path.string)
    error.remedy = signer.map { "it is \($0): ask the publisher whose that is" } ?? "get it from its publisher"
    throw error
  }

  /// What is wrong with a delta is nothing that is wrong with the store.
  func explain(_ error: PackStoreError) -> PackStoreError { Self.explain(error, path) }

  private static func explain(_ error: PackStoreError, _ path: FilePath) -> PackStoreError {
    var error = error
    if error.code == .corrupt, error.file == path.string { error.remedy = "get it from its publisher once more" }
    return error
  }

  /// Lends the core what it reads.
  func withSource<Result>(_ body: (pks_delta_source) -> Result) -> Result {
    Self.withSource(descriptor, path, body)
  }
}

// MARK: - Reading

extension DeltaFile {
  private static func open(_ path: FilePath) throws(PackStoreError) -> FileDescriptor {
    do {
      return try FileDescriptor.open(path, .readOnly, options: [.closeOnExec, .nonBlocking])
    } catch let error as Errno {
      let code: PackStoreError.Code = error == .noSuchFileOrDirectory ? .notFound : .ioError
      throw PackStoreError(code, "cannot open", file: path.string, systemError: error)
    } catch {
      preconditionFailure("opening a file throws nothing else")
    }
  }

  private static func withSource<Result>(
    _ descriptor: FileDescriptor, _ path: FilePath, _ body: (pks_delta_source) -> Result
  ) -> Result {
    var number = descriptor.rawValue
    return withContext(&number) { context in
      path.withPlatformString { name in
        body(
          pks_delta_source(
            context: context,
            read: { DeltaFile.readForCore(from: $0, at: $1, to: $2, count: $3, got: $4) }, name: name))
      }
    }
  }

  /// What the core calls to read: `context` leads to the descriptor's number. Returns 0, or an error number.
  private static func readForCore(
    from context: UnsafeMutableRawPointer?, at offset: UInt64, to out: UnsafeMutableRawPointer?, count: Int,
    got: UnsafeMutablePointer<Int>?
  ) -> Int32 {
    let descriptor = FileDescriptor(rawValue: context!.load(as: Int32.self))
    let buffer = UnsafeMutableRawBufferPointer(start: out, count: count)
    do throws(Errno) {
      got!.pointee = try read(descriptor, at: Int64(clamping: offset), into: buffer)
      return 0
    } catch {
      return error.rawValue
    }
  }

  /// Fills the buffer, unless the file ends before; returns how many bytes there were.
  private static func read(
    _ descriptor: FileDescriptor, at offset: Int64, into buffer: UnsafeMutableRawBufferPointer
  ) throws(Errno) -> Int {
    var done = 0
    while done < buffer.count {
      let rest = UnsafeMutableRawBufferPointer(rebasing: buffer[done...])
      let count: Int
      do {
        count = try descriptor.read(fromAbsoluteOffset: offset + Int64(done), into: rest)
      } catch {
        throw error as? Errno ?? .ioError
      }
      if count == 0 { break }
      done += count
    }
    return done
  }

  private static func bytes(
    _ descriptor: FileDescriptor, _ path: FilePath, at offset: Int, count: Int
  ) throws(PackStoreError) -> [UInt8] {
    var failure: Errno?
    let bytes = [UInt8](unsafeUninitializedCapacity: count) { buffer, filled in
      do throws(Errno) {
        filled = try read(descriptor, at: Int64(offset), into: UnsafeMutableRawBufferPointer(buffer))
      } catch {
        failure = error
      }
    }
    if let failure { throw PackStoreError(.ioError, "cannot read", file: path.string, systemError: failure) }
    return bytes
  }

  private static func inspect(_ descriptor: FileDescriptor, _ path: FilePath) throws(PackStoreError) -> DeltaInfo {
    var info = pks_delta_info()
    do throws(PackStoreError) {
      try PackStore.check { error in
        withSource(descriptor, path) { source in
          withUnsafePointer(to: source) { pks_delta_inspect(&info, $0, sha256, error) }
        }
      }
      return try DeltaInfo(info)
    } catch {
      throw explain(error, path)
    }
  }

  /// Whose signature follows the delta. What follows is a signature of its header, or nothing.
  private static func signer(
    _ descriptor: FileDescriptor, _ path: FilePath, _ info: DeltaInfo
  ) throws(PackStoreError) -> SitePublicKey? {
    let last = try bytes(descriptor, path, at: info.byteCount - 1, count: DeltaSignature.byteCount + 2)
    guard !last.isEmpty else {
      throw explain(PackStoreError(.corrupt, "the delta ends too early", file: path.string), path)
    }
    let rest = Array(last.dropFirst())
    if rest.isEmpty { return nil }
    let header = try bytes(descriptor, path, at: 0, count: info.headerByteCount)
    guard let signature = DeltaSignature(rest), signature.isOf(header),
      Digest256(hashing: header) == info.headerDigest
    else {
      var error = PackStoreError(.untrusted, "the delta's signature is not right", file: path.string)
      error.remedy = "get it from its publisher once more"
      throw error
    }
    return signature.publicKey
  }
}
