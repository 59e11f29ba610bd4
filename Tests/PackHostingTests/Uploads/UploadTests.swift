#if Hosting
  import Foundation
  import GRDB
  import SystemPackage
  import Testing

  @testable import PackHosting

  struct UploadTests {
    @Test func datesOfVersionsRiseWithTheirNumbers() async throws {
      let host = try await TestHost()
      let first = try await host.version(), second = try await host.version()
      #expect([first.number, second.number] == [1, 2])
      #expect(second.createdDate == first.createdDate.adding(seconds: 1))
      #expect(first.createdDate.text == "2026-11-18T11:06:40Z")
    }

    @Test(arguments: ["", "a--b", "-a", "a-", "a_b", "a.b", "ä", String(repeating: "a", count: 65)])
    func invalidIdentifiersAreRefused(_ name: String) async throws {
      let host = try await TestHost()
      let error = await apiError { try await host.packs.create(name, app: host.app, by: host.developer) }
      #expect(error == "409 ENTITY_ERROR.ATTRIBUTE.INVALID")
    }

    @Test func usedIdentifiersAndForeignAppsAreRefused() async throws {
      let host = try await TestHost()
      _ = try await host.packs.create("City", app: host.app, by: host.developer)
      #expect(
        await apiError { try await host.packs.create("City", app: host.app, by: host.developer) }
          == "409 ENTITY_ERROR.ATTRIBUTE.INVALID.DUPLICATE")
      let unknown = await apiError { try await host.packs.create("A", app: AppID(rawValue: "1"), by: host.developer) }
      let foreign = await apiError { try await host.packs.create("A", app: host.otherApp, by: host.developer) }
      #expect(unknown == "409 ENTITY_ERROR.RELATIONSHIP.INVALID")
      #expect(foreign == unknown)
      let reader = host.principal(role: .marketing)
      #expect(await apiError { try await host.packs.create("A", app: host.app, by: reader) } == "403 FORBIDDEN_ERROR")
    }

    @Test func commitClosesTheReservation() async throws {
      let host = try await TestHost()
      let version = try await host.version(), bytes = [UInt8](repeating: 3, count: 1000)
      let file = try await host.uploads.reserve(
        .asset, fileName: "city.pack", byteCount: 1000, version: version.id, by: host.developer)
      let target = try #require(try await host.uploads.operations(of: file, origin: "").first?.url)
      #expect(
        await apiError { try await host.uploads.commit(file.id, nil, by: host.developer) }
          == "409 ENTITY_ERROR.ATTRIBUTE.INVALID.INVALID_STATE")
      _ = try await host.put([UInt8](repeating: 1, count: 1000), to: target)
      let tag = try await host.put(bytes, to: target)
      #expect(tag.count == 34)
      // This PUT began before the commit and ends after it.
      let late = try await host.uploads.receivePart(method: "PUT", target: target, contentLength: 1000)
      try [UInt8](repeating: 9, count: 1000).withUnsafeBytes { try late.write($0) }
      let committed = try await host.uploads.commit(file.id, nil, by: host.developer)
      #expect(committed.state == .uploadComplete)
      #expect(await apiError { try await late.finish() } == "410 GONE")
      late.abandon()
      #expect(await apiError { try await host.put(bytes, to: target) } == "410 GONE")
      #expect(try await host.version(version.id).state == .processing)
      #expect(try await host.uploads.commit(file.id, nil, by: host.developer).state == .uploadComplete)
      #expect(try await host.uploads.operations(of: committed, origin: "").isEmpty)
      let names = try FileManager.default.contentsOfDirectory(
        atPath: host.folder.appending("uploads").appending(file.id.rawValue).string)
      #expect(names.count == 1)
    }

    @Test func partsArriveInAnyOrderAndTwice() async throws {
      let host = try await TestHost()
      let version = try await host.version()
      let file = try await host.uploads.reserve(
        .asset, fileName: "a", byteCount: Assumptions.partByteCount + 5, version: version.id, by: host.developer)
      let operations = try await host.uploads.operations(of: file, origin: "https://h")
      #expect(operations.map(\.length) == [Assumptions.partByteCount, 5])
      #expect(operations.allSatisfy { $0.url.hasPrefix("https://h/u/") })
      let second = String(operations[1].url.dropFirst("https://h".count))
      _ = try await host.put([1, 2, 3, 4, 5], to: second)
      _ = try await host.put([5, 4, 3, 2, 1], to: second)
      #expect(
        await apiError { try await host.uploads.commit(file.id, nil, by: host.developer) }
          == "409 ENTITY_ERROR.ATTRIBUTE.INVALID.INVALID_STATE")
    }

    @Test func wrongLengthsAreRefused() async throws {
      let host = try await TestHost()
      let version = try await host.version()
      let file = try await host.uploads.reserve(
        .asset, fileName: "a", byteCount: 4, version: version.id, by: host.developer)
      let target = try #require(try await host.uploads.operations(of: file, origin: "").first?.url)
      #expect(await apiError { try await host.put([1, 2, 3], to: target) } == "400 ENTITY_INVALID")
      #expect(await apiError { try await host.put([1, 2, 3, 4, 5], to: target) } == "400 ENTITY_INVALID")
      let announced = await apiError {
        try await host.uploads.receivePart(method: "PUT", target: target, contentLength: 5)
      }
      #expect(announced == "400 ENTITY_INVALID")
      #expect(
        await apiError { try await host.put([1, 2, 3, 4], to: target, method: "POST") } == "405 METHOD_NOT_ALLOWED")
    }

    @Test func changedURLsAreRefused() async throws {
      let host = try await TestHost()
      let version = try await host.version()
      let file = try await host.uploads.reserve(
        .asset, fileName: "a", byteCount: Assumptions.partByteCount + 4, version: version.id, by: host.developer)
      let targets = try await host.uploads.operations(of: file, origin: "").map(\.url)
      let other = targets[1].replacing("/2?", with: "/1?")
      let hostile = [
        other, targets[1].replacing("expires=1", with: "expires=2"), String(targets[1].dropLast(2)), targets[1] + "00",
        targets[1] + "&a=b", "/u/x/2?expires=1&signature=", "/u//99999999999999999999?expires=&signature=zz", "/u", "",
        "?",
        "/u/\(file.id)/2", "//u/\(file.id)/2?expires=1&signature=00",
      ]
      for target in hostile {
        #expect(await apiError { try await host.put([1, 2, 3, 4], to: target) } == "403 FORBIDDEN_ERROR", "\(target)")
      }
    }

    @Test func expiredReservationsGiveTheirSpaceBack() async throws {
      let host = try await TestHost()
      let app = host.app
      try await host.context.database.write {
        try $0.execute(sql: "UPDATE app SET byteLimit = 1000 WHERE id = ?", arguments: [app])
      }
      let version = try await host.version(), next = try await host.version()
      let file = try await host.uploads.reserve(
        .asset, fileName: "a", byteCount: 600, version: version.id, by: host.developer)
      let target = try #require(try await host.uploads.operations(of: file, origin: "").first?.url)
      _ = try await host.put([UInt8](repeating: 1, count: 600), to: target)
      func reserve() async throws -> UploadFileRecord {
        try await host.uploads.reserve(.asset, fileName: "a", byteCount: 600, version: next.id, by: host.developer)
      }
      #expect(await apiError { try await reserve() } == "409 STATE_ERROR.LIMIT_REACHED")
      host.time.advance(seconds: Assumptions.reservationLifetime)
      #expect(await apiError { try await host.put([UInt8](repeating: 1, count: 600), to: target) } == "410 GONE")
      try await host.uploads.expire()
      #expect(try await host.version(version.id).state == .failed)
      #expect(try await reserve().state == .awaitingUpload)
      #expect(
        !FileManager.default.fileExists(atPath: host.folder.appending("uploads").appending(file.id.rawValue).string))
    }

    @Test func manifestIsCheckedAtOnceAndMayComeLast() async throws {
      let host = try await TestHost()
      let version = try await host.version()
      _ = try await host.upload([1, 2, 3], to: version)
      let manifest = try await host.upload(Array(#"{"assetPackID": "City"}"#.utf8), as: .manifest, to: version)
      #expect(manifest.state == .complete)
      #expect(
        await apiError { try await host.upload([1], as: .manifest, to: version) } == "409 STATE_ERROR.ALREADY_EXISTS")
      #expect(await apiError { try await host.upload([1], to: version) } == "409 STATE_ERROR.ENTITY_STATE_INVALID")
    }

    @Test(arguments: [#"{"assetPackID": "Other"}"#, "{}", "[", "null", "\u{0}"])
    func wrongManifestFailsItsFileOnly(_ text: String) async throws {
      let host = try await TestHost()
      let version = try await host.version()
      let manifest = try await host.upload(Array(text.utf8), as: .manifest, to: version)
      #expect(manifest.state == .failed)
      #expect(manifest.errors.count == 1)
      #expect(try await host.version(version.id).state == .awaitingUpload)
    }

    @Test func manifestWithWrongChecksumFails() async throws {
      let host = try await TestHost()
      let bytes = Array(#"{"assetPackID": "City"}"#.utf8)
      let wrong = UploadChecksums(fileMD5: String(repeating: "0", count: 32))
      let manifest = try await host.upload(bytes, as: .manifest, to: try await host.version(), checksums: wrong)
      #expect(manifest.errors.map(\.code) == ["CHECKSUM_MISMATCH"])
      #expect(
        await apiError { try await host.uploads.commit(manifest.id, .init(fileMD5: "1"), by: host.developer) }
          == "409 ENTITY_ERROR.ATTRIBUTE.INVALID.INVALID_STATE")
      #expect(try await host.uploads.commit(manifest.id, wrong, by: host.developer).state == .failed)
    }

    @Test func objectsOfAnotherTeamAreUnknown() async throws {
      let host = try await TestHost()
      let version = try await host.version()
      let file = try await host.uploads.reserve(
        .asset, fileName: "a", byteCount: 4, version: version.id, by: host.developer)
      #expect(await apiError { try await host.uploads.commit(file.id, nil, by: host.stranger) } == "404 NOT_FOUND")
      let reservation = await apiError {
        try await host.uploads.reserve(.manifest, fileName: "a", byteCount: 4, version: version.id, by: host.stranger)
      }
      #expect(reservation == "409 ENTITY_ERROR.RELATIONSHIP.INVALID")
      #expect(
        await apiError { try await host.packs.createVersion(of: version.packID, by: host.stranger) }
          == "409 ENTITY_ERROR.RELATIONSHIP.INVALID")
    }

    @Test func compositeChecksumHasAllForms() {
      var digest = UploadDigest()
      digest.addPart(Array("Hello".utf8))
      let md5 = "8b1a9953c4611296a827abf8c47804d7"
      #expect(digest.fault(.init(fileMD5: md5, compositeMD5: md5, deprecatedMD5: md5)) == nil)
      #expect(digest.fault(.init(compositeMD5: String(repeating: "a", count: 32))) != nil)
      #expect(digest.fault(nil) == nil)
    }

    @Test func cleaningUpRemovesUnfinishedPuts() async throws {
      let host = try await TestHost()
      let version = try await host.version()
      let file = try await host.uploads.reserve(
        .asset, fileName: "a", byteCount: 4, version: version.id, by: host.developer)
      try await host.send([1, 2, 3, 4], to: file)
      let folder = host.folder.appending("uploads").appending(file.id.rawValue)
      try Data([1]).write(to: URL(filePath: folder.appending("1-dead").string))
      try FileManager.default.createDirectory(
        atPath: host.folder.appending("uploads").appending("unknown").string, withIntermediateDirectories: false)
      try await host.uploads.cleanUp()
      #expect(try FileManager.default.contentsOfDirectory(atPath: folder.string).count == 1)
      #expect(
        try FileManager.default.contentsOfDirectory(atPath: host.folder.appending("uploads").string) == [
          file.id.rawValue
        ])
      #expect(try await host.uploads.commit(file.id, nil, by: host.developer).state == .uploadComplete)
    }
  }
#endif
