#if Hosting
  import Foundation
  import GRDB
  import PackAuthoring
  import PackPublishing
  import PackStore
  import Testing

  @testable import PackHosting

  /// Uploads with ranges that the host copies.
  struct ContentUploadTests {
    /// A build machine: a store that keeps its versions, and their archives.
    private struct Builder {
      let folder: FilePath
      let store: Store

      init(_ host: TestHost, _ name: String = "builder") throws {
        folder = host.folder.appending(name)
        try FileManager.default.createDirectory(atPath: folder.string, withIntermediateDirectories: true)
        store = try Store(at: folder.appending("store"))
      }

      /// Adds a file of 300,000 bytes that do not compress, and returns the archive of the next version.
      func archive(adding name: String, seed: UInt64, number: UInt64) async throws -> FilePath {
        let content = folder.appending("content")
        try FileManager.default.createDirectory(atPath: content.string, withIntermediateDirectories: true)
        var generator = SeededGenerator(seed: seed)
        let bytes = (0..<300_000).map { _ in UInt8.random(in: 0 ... .max, using: &generator) }
        try Data(bytes).write(to: URL(filePath: content.appending(name).string))
        try await store.install(folder: content, as: "City")
        let file = folder.appending("City-\(number).pack")
        _ = try await store.export(.init("City"), to: file, signedBy: SiteKey())
        return file
      }
    }

    private func table(_ file: FilePath) throws -> UploadTable {
      let text = Base64URL.encode(try ArchiveFrames(of: InputFile(file)).table(rowLimit: 1000))
      return try UploadTable(text: text, fileByteCount: Int64(try InputFile(file).byteCount))
    }

    private func reserve(
      _ file: FilePath, _ version: VersionRecord, _ host: TestHost, sha256: String? = nil,
      by principal: Principal? = nil
    ) async throws -> UploadFileRecord {
      let bytes = try InputFile(file).contents(limit: 1 << 30)
      return try await ContentUploadCommands(host.context, signer: host.signer).reserve(
        fileName: "City.pack", byteCount: Int64(bytes.count), sha256: sha256 ?? Digest256(hashing: bytes).hex,
        try table(file), version: version.id, by: principal ?? host.developer)
    }

    private func missing(_ file: UploadFileRecord, _ host: TestHost) async throws -> Int64 {
      try await host.uploads.operations(of: file, origin: "").reduce(0) { $0 + $1.length }
    }

    private func send(_ archive: FilePath, _ file: UploadFileRecord, _ host: TestHost) async throws {
      try await host.send(try InputFile(archive).contents(limit: 1 << 30), to: file)
      _ = try await host.uploads.commit(file.id, nil, by: host.developer)
      await host.work()
    }

    /// Publishes a first version by a whole upload.
    private func host(_ archive: (Builder) async throws -> FilePath) async throws -> (TestHost, Builder) {
      let host = try await TestHost(), builder = try Builder(host)
      try await host.delegate()
      let file = try await archive(builder), version = try await host.version()
      try await send(file, try await reserve(file, version, host), host)
      #expect(try await host.version(version.id).state == .complete)
      return (host, builder)
    }

    /// The same request again is the same upload: while it is open, after its commit, and after processing; not after it failed.
    @Test func repeatedReservationIsTheSameUpload() async throws {
      let host = try await TestHost(), builder = try Builder(host)
      try await host.delegate()
      let archive = try await builder.archive(adding: "a", seed: 1, number: 1), version = try await host.version()
      let files = try await withThrowingTaskGroup(of: String.self) { group in
        for _ in 0..<4 { group.addTask { try await reserve(archive, version, host).id.rawValue } }
        return try await group.reduce(into: Set<String>()) { $0.insert($1) }
      }
      #expect(files.count == 1, "also at the same time")
      let file = try await reserve(archive, version, host)
      try await host.send(try InputFile(archive).contents(limit: 1 << 30), to: file)
      _ = try await host.uploads.commit(file.id, nil, by: host.developer)
      let committed = try await reserve(archive, version, host)
      #expect(committed.id == file.id && committed.state == .uploadComplete)
      #expect(try await host.uploads.operations(of: committed, origin: "").isEmpty)
      await host.work()
      #expect(try await reserve(archive, version, host).state == .complete)
      #expect(
        await apiError { try await reserve(archive, version, host, sha256: String(repeating: "0", count: 64)) }
          == "409 STATE_ERROR.ENTITY_STATE_INVALID")
      try await host.context.database.write { try $0.execute(sql: "UPDATE uploadFile SET state = 'FAILED'") }
      #expect(
        await apiError { try await reserve(archive, version, host) } == "409 STATE_ERROR.ENTITY_STATE_INVALID")
    }

    @Test func onlyMissingRangesAreSent() async throws {
      let (host, builder) = try await host { try await $0.archive(adding: "a", seed: 1, number: 1) }
      let second = try await builder.archive(adding: "b", seed: 2, number: 2), version = try await host.version()
      let file = try await reserve(second, version, host), missing = try await missing(file, host)
      #expect(file.byteCount > 600_000 && (300_000..<400_000).contains(missing), "\(missing) of \(file.byteCount)")
      try await send(second, file, host)
      let done = try await host.version(version.id)
      #expect(done.state == .complete, "\(done.details)")
      #expect(try await host.offered(.internalBeta) == [2])
      let recorded = try await host.context.database.read {
        try Int.fetchOne($0, sql: "SELECT count(*) FROM uploadPart WHERE length(frames) > 0")
      }
      #expect(recorded == 0, "a processed upload keeps no frames")
      // A third upload of the same content sends the tables and signed files only.
      let third = try await host.version()
      #expect(try await self.missing(try await reserve(second, third, host), host) < 60_000)
    }

    @Test func interruptedUploadContinues() async throws {
      let (host, builder) = try await host { try await $0.archive(adding: "a", seed: 1, number: 1) }
      let second = try await builder.archive(adding: "b", seed: 2, number: 2), version = try await host.version()
      let file = try await reserve(second, version, host), bytes = try InputFile(second).contents(limit: 1 << 30)
      let first = try #require(try await host.uploads.operations(of: file, origin: "").first)
      _ = try await host.put(
        Array(bytes[Int(first.offset)..<Int(first.offset + first.length)]), to: first.url)
      #expect(try await reserve(second, version, host).id == file.id, "the same reservation")
      let error = await apiError { try await reserve(second, version, host, sha256: String(repeating: "0", count: 64)) }
      #expect(error == "409 STATE_ERROR.ALREADY_EXISTS", "another file")
      try await send(second, file, host)
      #expect(try await host.version(version.id).state == .complete)
    }

    /// A client without the content has digests at most, and cannot complete a file by them.
    @Test func digestsAloneSupplyNothing() async throws {
      let (host, builder) = try await host { try await $0.archive(adding: "a", seed: 1, number: 1) }
      let again = builder.folder.appending("City-1.pack"), version = try await host.version()
      let file = try await reserve(again, version, host, sha256: String(repeating: "0", count: 64))
      try await send(again, file, host)
      let done = try await host.version(version.id)
      #expect(done.state == .failed && done.details.errors.map(\.code) == ["CHECKSUM_MISMATCH"])
      let next = try await host.version(), open = try await reserve(again, next, host)
      try await host.send(try InputFile(again).contents(limit: 1 << 30), to: open)
      let other = UploadChecksums(fileSHA256: String(repeating: "1", count: 64))
      #expect(
        await apiError { try await host.uploads.commit(open.id, other, by: host.developer) }
          == "409 ENTITY_ERROR.ATTRIBUTE.INVALID.INVALID_STATE")
      #expect(try await host.uploads.commit(open.id, nil, by: host.developer).state == .uploadComplete)
      #expect(try await host.uploads.commit(open.id, nil, by: host.developer).state == .uploadComplete, "again")
    }

    /// The answer for content of another app is the answer for unknown content.
    @Test func contentOfOtherAppsIsUnknown() async throws {
      let (host, builder) = try await host { try await $0.archive(adding: "a", seed: 1, number: 1) }
      let archive = builder.folder.appending("City-1.pack")
      let other = try await AppCommands(host.context).create(
        .init(name: "Second", bundleID: "com.example.second", sku: "S"), by: host.admin)
      for (app, principal) in [(other.id, host.developer), (host.otherApp, host.stranger)] {
        let pack = try await host.packs.create("City", app: app, by: principal)
        let version = try await host.packs.createVersion(of: pack.id, by: principal)
        let file = try await reserve(archive, version, host, by: principal)
        #expect(try await missing(file, host) == file.byteCount)
      }
      let version = try await host.version()
      #expect(
        await apiError { try await reserve(archive, version, host, by: host.stranger) }
          == "409 ENTITY_ERROR.RELATIONSHIP.INVALID")
      var limited = host.developer
      limited.app = other.id
      #expect(
        await apiError { try await reserve(archive, version, host, by: limited) }
          == "409 ENTITY_ERROR.RELATIONSHIP.INVALID", "a token for another app")
      #expect(
        await apiError { try await reserve(archive, version, host, by: host.principal(role: .marketing)) }
          == "403 FORBIDDEN_ERROR")
    }

    @Test func lostContentFailsTheVersion() async throws {
      let (host, builder) = try await host { try await $0.archive(adding: "a", seed: 1, number: 1) }
      let archive = builder.folder.appending("City-1.pack"), version = try await host.version()
      let file = try await reserve(archive, version, host)
      try FileManager.default.removeItem(atPath: host.siteFolder.appending("frames").string)
      try await send(archive, file, host)
      let done = try await host.version(version.id)
      #expect(done.state == .failed && done.details.errors.map(\.code) == ["CONTENT_LOST"], "\(done.details)")
    }

    /// Rows that are shorter than their frames do not make the host write more bytes than were reserved.
    @Test func shortRowsAreNotCopied() async throws {
      let (host, builder) = try await host { try await $0.archive(adding: "a", seed: 1, number: 1) }
      let frames = try table(builder.folder.appending("City-1.pack")).frames
      let longest = try #require(frames.max { $0.length < $1.length }), site = host.siteFolder
      let present = try SiteFrames([longest.digest], in: site).digests
      #expect(longest.length > 100 && present == [longest.digest])
      let rows = (0..<Int64(100)).map { UploadTable.Frame(offset: $0, length: 1, digest: longest.digest) }
      let part = UploadPartRecord(
        fileID: .init(rawValue: "short"), number: 1, offset: 0, length: 100,
        frames: UploadPlan.Piece(offset: 0, length: 100, frames: rows).record)
      let uploads = UploadFolder(part.fileID, in: host.context.folder), file = host.folder.appending("assembled")
      #expect(throws: ContentLost.self) { try AssembledArchive.write([part], from: uploads, site, to: file) }
      #expect(try InputFile(file).byteCount == 0)
    }

    @Test func invalidTablesAreRefused() {
      func row(_ offset: Int64, _ length: UInt32) -> [UInt8] {
        withUnsafeBytes(of: offset.littleEndian) { Array($0) } + withUnsafeBytes(of: length.littleEndian) { Array($0) }
          + [UInt8](repeating: 1, count: 32)
      }
      let valid = row(0, 10) + row(10, 90)
      #expect((try? UploadTable(text: Base64URL.encode(valid), fileByteCount: 100))?.frames.count == 2)
      #expect((try? UploadTable(text: "", fileByteCount: 1))?.frames.isEmpty == true)
      for bytes in [
        row(0, 0), row(-1, 1), row(.max, 1), row(.min, .max), row(0, 101), row(100, 1), row(91, 10), row(0, .max),
        row(10, 5) + row(0, 5), row(0, 10) + row(9, 5), row(0, 10).dropLast(), [1],
      ] as [[UInt8]] {
        #expect(throws: APIError.self) { try UploadTable(text: Base64URL.encode(bytes), fileByteCount: 100) }
      }
      #expect(throws: APIError.self) { try UploadTable(text: "?", fileByteCount: 100) }
      let many = [UInt8](repeating: 0, count: UploadTable.rowByteCount * (UploadTable.rowLimit + 1))
      #expect(throws: APIError.self) { try UploadTable(text: Base64URL.encode(many), fileByteCount: 100) }
    }

    /// The parts of a file are planned only after its size was checked.
    @Test func largestSizeIsRefused() async throws {
      let host = try await TestHost(), version = try await host.version()
      let error = await apiError {
        try await ContentUploadCommands(host.context, signer: host.signer).reserve(
          fileName: "City.pack", byteCount: ValueSchema.largestInteger, sha256: String(repeating: "0", count: 64),
          .init(), version: version.id, by: host.developer)
      }
      #expect(error == "409 ENTITY_ERROR.ATTRIBUTE.INVALID")
    }

    /// Any plan covers the file exactly once.
    @Test func plansCoverTheFile() {
      var generator = SeededGenerator(seed: 7)
      for _ in 0..<200 {
        var frames: [UploadTable.Frame] = [], present: Set<Digest256> = [], end: Int64 = 0
        for index in 0..<Int.random(in: 0..<40, using: &generator) {
          let digest = Digest256(hashing: [UInt8(index)])
          let offset = end + (Bool.random(using: &generator) ? 0 : Int64.random(in: 0..<90_000, using: &generator))
          frames.append(.init(offset: offset, length: .random(in: 1..<200_000, using: &generator), digest: digest))
          end = frames.last?.end ?? 0
          if Bool.random(using: &generator) { present.insert(digest) }
        }
        let byteCount = end + Int64.random(in: 1..<1000, using: &generator)
        var next: Int64 = 0
        for piece in UploadPlan(byteCount, .init(frames: frames), present: present).pieces {
          #expect(piece.offset == next && piece.length > 0)
          #expect(piece.frames.isEmpty || piece.frames.reduce(0) { $0 + $1.length } == piece.length)
          #expect(piece.frames.allSatisfy { present.contains($0.digest) })
          next += piece.length
        }
        #expect(next == byteCount)
      }
    }

    @Test func uploadsByTheAPI() async throws {
      let (host, builder) = try await host { try await $0.archive(adding: "a", seed: 1, number: 1) }
      let archive = try await builder.archive(adding: "b", seed: 2, number: 2), version = try await host.version()
      let bytes = try InputFile(archive).contents(limit: 1 << 30), key = TestKey(), reader = TestKey("READER")
      try await key.register(in: host)
      try await reader.register(in: host, role: .marketing)
      try await TestServer.run(host, key) { server async throws in
        let session = try await SessionTests.Session(server)
        let rows = Base64URL.encode(try ArchiveFrames(of: InputFile(archive)).table(rowLimit: 1000))
        func body(_ more: String) -> String {
          SessionTests.Session.body(
            "uploads", #""fileName":"City.pack","fileSize":\#(bytes.count),"# + more,
            [("backgroundAssetVersion", "backgroundAssetVersions", version.id.rawValue)])
        }
        for (more, fault) in [
          (#""frames":"""#, "409 ENTITY_ERROR.ATTRIBUTE.REQUIRED"),
          (#""sha256":"x""#, "409 ENTITY_ERROR.ATTRIBUTE.INVALID"),
        ] {
          #expect(try await session.send("POST", "/packstore/v1/uploads", body(more)).fault == fault)
        }
        let sha256 = Digest256(hashing: bytes).hex
        let answer = try await session.send(
          "POST", "/packstore/v1/uploads", body(#""sha256":"\#(sha256)","frames":"\#(rows)""#))
        #expect(answer.status == 201)
        let missing = try #require(answer.value("data.attributes.missingBytes")?.integer(Int.self))
        #expect((1..<400_000).contains(missing))
        let id = try #require(answer.text("data.id")), bearer = try reader.bearer(at: host.time.now)
        for path in ["/packstore/v1/uploads/\(id)", "/v1/backgroundAssetUploadFiles/\(id)"] {
          let seen = try await session.send("GET", path, authorization: bearer)
          #expect(seen.value("data.attributes.uploadOperations")?.array?.isEmpty == true, "a role that cannot upload")
        }
        try await session.upload(bytes, answer)
        let rest = try await session.send("GET", "/packstore/v1/uploads/\(id)")
        #expect(rest.value("data.attributes.missingBytes")?.integer(Int.self) == 0)
        #expect(rest.value("data.attributes.uploadOperations")?.array?.isEmpty == true)
        #expect(try await session.commit(id).status == 200)
        await host.work()
        let done = try await session.send("GET", "/v1/backgroundAssetVersions/\(version.id)")
        #expect(done.text("data.attributes.state") == "COMPLETE")
        #expect(
          try await session.send("GET", "/packstore/v1/uploads/\(id)/backgroundAssetUploadFile").text("data.id") == id)
      }
    }
  }
#endif
