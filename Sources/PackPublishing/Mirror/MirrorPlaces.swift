import PackDelivery
import PackFormats
import PackStore

/// A folder that a mirror fills.
struct MirrorFolder: MirrorTarget {
  let path: FilePath

  func has(_ file: MirroredFile) throws -> Bool {
    do {
      return try InputFile(file.name, in: path).byteCount == file.copiedByteCount
    } catch let error as PackStoreError where [.notFound, .wrongKind].contains(error.code) { return false }
  }

  func draft(of file: MirroredFile) -> FilePlace { FilePlace(file.name + ".new", in: path) }

  func finish(_ draft: FilePlace, as file: MirroredFile) throws {
    try renameFile(draft, to: FilePlace(file.name, in: path))
  }
}

/// The public space of an object storage, which a mirror fills. Each object is first a file on this machine, because its SHA-256
/// precedes its bytes in a request.
struct MirrorBucket: MirrorTarget {
  let storage: any ObjectStorage

  /// A temporary folder.
  let spool: FilePath

  private static let pieceByteCount = 1 << 20

  private func key(_ file: MirroredFile) -> ObjectKey { ObjectKey(space: .shared, path: file.name) }

  func has(_ file: MirroredFile) async throws -> Bool {
    try await storage.examine(key(file))?.byteCount == file.copiedByteCount
  }

  func draft(of file: MirroredFile) -> FilePlace {
    FilePlace(String(file.name.map { $0 == "/" ? "-" : $0 }), in: spool)
  }

  func finish(_ draft: FilePlace, as file: MirroredFile) async throws {
    let body = ObjectBody.file(draft, byteCount: file.copiedByteCount, digest: try Self.digest(of: draft))
    guard case .written = try await storage.write(body, to: key(file), .always, latest: nil) else {
      throw DeliveryError(
        .badResponse, "the storage refused an object without a condition", at: "\(storage.location): \(file.name)")
    }
    try removeFile(draft)
  }

  private static func digest(of draft: FilePlace) throws -> Digest256 {
    let file = try InputFile(draft.path)
    var hash = DigestBuilder(), offset: UInt64 = 0
    while true {
      let bytes = try file.bytes(at: offset, upTo: pieceByteCount)
      guard !bytes.isEmpty else { return hash.finish() }
      bytes.withUnsafeBytes { hash.update($0) }
      offset = offset.addingClamped(UInt64(bytes.count))
    }
  }
}

/// The files of a site that is a site source: a web server, a folder, or the public space of a storage.
struct MirroredSource: MirrorSource {
  let source: any SiteSource

  /// Counts the received bytes.
  var tally = ByteTally()

  private static let pieceByteCount: UInt64 = 1 << 20

  /// - Throws: `SourceFault`.
  func fetch(
    _ file: MirroredFile, isFresh: Bool, restart: () throws -> Void, _ body: (UnsafeRawBufferPointer) throws -> Void
  ) async throws {
    let memory = UnsafeMutableRawBufferPointer.allocate(
      byteCount: Int(min(file.copiedByteCount, Self.pieceByteCount)), alignment: 16)
    defer { memory.deallocate() }
    let named = SiteFile(file.path, byteCount: file.byteCount)
    var offset = file.begin
    while offset < file.byteCount {
      try Task.checkCancellation()
      let count = Int(min(file.byteCount - offset, UInt64(memory.count)))
      let buffer = TransferBuffer(UnsafeMutableRawBufferPointer(rebasing: memory[..<count]))
      defer { tally.add(buffer.wireByteCount) }
      try await source.read(named, at: offset, into: buffer, isFresh: isFresh)
      try body(UnsafeRawBufferPointer(buffer.bytes))
      offset += UInt64(count)
    }
  }

  func damage(of file: MirroredFile) -> any Error {
    DeliveryError(.corrupt, "has other content than the site's root records", at: source.place(of: file.path))
  }
}

/// The files of an image, in the storage or in the image itself.
struct MirroredImage: MirrorSource {
  let files: [SiteImage.Path: SiteImage.File]
  let storage: any ObjectStorage

  /// - Throws: ``MissingObject``.
  func fetch(
    _ file: MirroredFile, isFresh: Bool, restart: () throws -> Void, _ body: (UnsafeRawBufferPointer) throws -> Void
  ) async throws {
    guard let path = SiteImage.Path(file.path), let entry = files[path] else { throw damage(of: file) }
    if let content = entry.content { return try content.withUnsafeBytes(body) }
    guard let key = SiteImage.key(path, entry) else { throw damage(of: file) }
    let isThere = try await storage.fetch(key, byteCount: file.byteCount, restart: restart, body)
    guard isThere else { throw MissingObject(key: key) }
  }

  func damage(of file: MirroredFile) -> any Error {
    let key = SiteImage.Path(file.path).flatMap { path in files[path].flatMap { SiteImage.key(path, $0) } }
    let name = key.map { "\(storage.location): \($0)" } ?? storage.location
    var error = PackStoreError(.corrupt, "the object has other content than the site's publisher stored", file: name)
    error.specificRemedy = "restore it from another version of the bucket, or from a mirror of the site"
    return error
  }
}

/// The storage lacks an object of a ledger or an image: another publisher may have been active since they were read.
struct MissingObject: Error {
  let key: ObjectKey
}

extension DeliveryError {
  /// The error of an inspection or a copy that needs parts of files.
  static func noRanges(of source: any SiteSource) -> DeliveryError {
    var error = DeliveryError(.badResponse, "the server sends whole files only", at: source.location)
    error.specificRemedy = "enable ranges on the server, or name the folder or bucket of the site"
    return error
  }
}
