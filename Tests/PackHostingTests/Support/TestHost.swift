#if Hosting
  import Foundation
  import GRDB
  import Synchronization
  import SystemPackage

  @testable import PackHosting

  /// A clock that tests set.
  final class TestTime: TimeSource {
    private let value = Mutex(Timestamp(rawValue: 1_795_000_000_000))

    var now: Timestamp { value.withLock { $0 } }

    func advance(seconds: Int64) { value.withLock { $0 = $0.adding(seconds: seconds) } }
  }

  /// The same bytes in each run.
  final class TestRandom: RandomSource {
    private let counter = Mutex(UInt64(0))

    func bytes(_ count: Int) -> [UInt8] {
      counter.withLock { state in
        (0..<count).map { _ in
          state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
          return UInt8(truncatingIfNeeded: state >> 33)
        }
      }
    }
  }

  /// A host in a temporary folder with two teams and an app of each.
  final class TestHost: Sendable {
    let folder: FilePath
    let time = TestTime()
    let random = TestRandom()
    let service: HostService
    let team, otherTeam: Identifier<TeamRecord>
    let app, otherApp: AppID
    var context: HostContext { service.context }
    var signer: PartURLSigner { service.signer }

    init() async throws {
      let url = FileManager.default.temporaryDirectory.appending(path: "packstore-host-\(UUID().uuidString)")
      folder = FilePath(url.path(percentEncoded: false))
      service = try HostService(at: folder, origin: "https://packs.example.com", clock: time, random: random)
      let accounts = AccountCommands(service.context), apps = AppCommands(service.context)
      team = try await accounts.team("Team").id
      otherTeam = try await accounts.team("Others").id
      app = try await apps.create(
        .init(name: "City", bundleID: "com.example.city", sku: "CITY"), by: AccountCommands.operatorOf(team)
      ).id
      otherApp = try await apps.create(
        .init(name: "Other", bundleID: "com.example.other", sku: "OTHER"), by: AccountCommands.operatorOf(otherTeam)
      ).id
    }

    deinit { try? FileManager.default.removeItem(atPath: folder.string) }

    func principal(
      _ id: String = "ci", kind: Principal.Kind = .ciToken, role: Role = .developer,
      of team: Identifier<TeamRecord>? = nil
    ) -> Principal {
      Principal(kind: kind, id: id, team: team ?? self.team, rights: role.rights)
    }

    var developer: Principal { principal() }
    var stranger: Principal { principal(of: otherTeam) }

    var packs: PackCommands { PackCommands(context) }
    var uploads: UploadCommands { UploadCommands(context, signer: signer) }

    func version(of pack: String = "City") async throws -> VersionRecord {
      let app = app
      let found = try await context.database.read { database in
        try PackRecord.fetchOne(database, key: ["appID": app, "identifier": pack])
      }
      let record: PackRecord
      if let found { record = found } else { record = try await packs.create(pack, app: app, by: developer) }
      return try await packs.createVersion(of: record.id, by: developer)
    }

    /// Sends all parts of a file.
    func send(_ bytes: [UInt8], to file: UploadFileRecord) async throws {
      for operation in try await uploads.operations(of: file, origin: "") {
        let range = Int(operation.offset)..<Int(operation.offset + operation.length)
        _ = try await put(Array(bytes[range]), to: operation.url)
      }
    }

    func put(_ bytes: [UInt8], to target: String, method: String = "PUT") async throws -> String {
      let writer = try await uploads.receivePart(method: method, target: target, contentLength: nil)
      try bytes.withUnsafeBytes { try writer.write($0) }
      return try await writer.finish()
    }

    func upload(
      _ bytes: [UInt8], as type: AssetType = .asset, to version: VersionRecord, checksums: UploadChecksums? = nil
    ) async throws -> UploadFileRecord {
      let file = try await uploads.reserve(
        type, fileName: "city.pack", byteCount: Int64(bytes.count), version: version.id, by: developer)
      try await send(bytes, to: file)
      return try await uploads.commit(file.id, checksums, by: developer)
    }

    func version(_ id: Identifier<VersionRecord>) async throws -> VersionRecord {
      try await context.database.read { try VersionRecord.find($0, key: ["id": id]) }
    }
  }

  /// Runs a body that must throw an `APIError`, and returns its status and code.
  func apiError(_ body: () async throws -> some Any) async -> String {
    do {
      _ = try await body()
      return "no error"
    } catch let error as APIError {
      return "\(error.status) \(error.code)"
    } catch { return "\(error)" }
  }
#endif
