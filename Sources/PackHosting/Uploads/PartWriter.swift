#if Hosting
  import Crypto
  import GRDB
  import PackStore
  import SystemPackage

  /// Receives the bytes of one PUT into a file of its own.
  ///
  /// One thread at a time calls its methods. They may block.
  final class PartWriter {
    private let context: HostContext
    private let part: UploadPartRecord
    private let folder: UploadFolder
    private let name: String
    private let file: NewFile
    private var digest = Insecure.MD5()
    private var received: Int64 = 0
    private var isDone = false

    /// - Throws: `APIError` 503 if the disk is full.
    init(_ context: HostContext, _ part: UploadPartRecord) throws {
      self.context = context
      self.part = part
      folder = UploadFolder(part.fileID, in: context.folder)
      name = "\(part.number)-\(context.random.hex(16))"
      do {
        try folder.make()
        file = try NewFile(folder.place(name), isSecret: true)
      } catch { throw Self.apiError(error) }
    }

    deinit { abandon() }

    /// Appends bytes. Chunked requests have no length, so bytes are counted here.
    ///
    /// - Throws: `APIError` 400 if the part has more bytes than announced, 503 if the disk is full.
    func write(_ bytes: UnsafeRawBufferPointer) throws {
      guard Int64(bytes.count) <= part.length - received else { throw wrongLength("more than \(part.length) bytes") }
      do { try file.write(bytes) } catch { throw Self.apiError(error) }
      digest.update(bufferPointer: bytes)
      received += Int64(bytes.count)
    }

    /// Makes the file durable, and makes it the part if the reservation is still open.
    ///
    /// - Returns: the value of `ETag`, with its quotes.
    /// - Throws: `APIError` 400 for a short part, 410 if the reservation was committed or expired, 503.
    func finish() async throws -> String {
      guard received == part.length else { throw wrongLength("\(received) bytes instead of \(part.length)") }
      do { try file.sync() } catch { throw Self.apiError(error) }
      let md5 = digest.finalize().hex
      let replaced = try await context.database.write { [context, part, name] database in
        try Self.requireOpen(part.fileID, at: context.now, in: database)
        let before = try String.fetchOne(
          database, sql: "SELECT storedName FROM uploadPart WHERE fileID = ? AND number = ?",
          arguments: [part.fileID, part.number])
        try database.execute(
          sql: "UPDATE uploadPart SET storedName = ?, md5 = ? WHERE fileID = ? AND number = ?",
          arguments: [name, md5, part.fileID, part.number])
        return before
      }
      isDone = true
      if let replaced { try? removeFile(folder.place(replaced)) }
      return "\"\(md5)\""
    }

    /// Deletes the file, if it did not become the part.
    func abandon() {
      guard !isDone else { return }
      isDone = true
      try? removeFile(folder.place(name))
    }

    static func requireOpen(_ file: Identifier<UploadFileRecord>, at now: Timestamp, in database: Database) throws {
      guard let record = try UploadFileRecord.fetchOne(database, key: ["id": file]), record.state == .awaitingUpload,
        record.expirationDate > now
      else {
        throw APIError(
          410, "GONE", "The upload is closed", "upload URL: the file was committed or the URL expired; reserve again")
      }
    }

    private func wrongLength(_ fault: String) -> APIError {
      APIError(
        400, "ENTITY_INVALID", "The part has the wrong length",
        "part \(part.number): \(fault); send the described range")
    }

    static func apiError(_ error: any Error) -> any Error {
      guard let error = error as? PackStoreError else { return error }
      return error.code == .noSpace ? APIError.unavailable("disk of the host: full; try again later") : error
    }
  }
#endif
