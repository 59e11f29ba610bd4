#if Hosting
  import Foundation
  import GRDB
  import Logging
  import PackAuthoring
  import PackDelivery
  import PackStore
  import Synchronization

  @testable import PackHosting

  /// Checks archives in the process of the test.
  struct InProcessWorker: ArchiveWorker {
    func check(_ archive: ArchiveCheck) async throws -> WorkerVerdict { try await archive.run() }
  }

  /// Fails as a machine without space does.
  final class BrokenWorker: ArchiveWorker {
    let attempts = Mutex(0)

    func check(_ archive: ArchiveCheck) async throws -> WorkerVerdict {
      attempts.withLock { $0 += 1 }
      throw WorkerFault("no space")
    }
  }

  /// Receives webhooks.
  final class TestReceiver: WebhookTransport {
    struct Message: Sendable {
      let url, body, signature: String
    }

    let messages = Mutex<[Message]>([])
    let status: Mutex<Int>

    init(status: Int = 200) { self.status = Mutex(status) }

    func post(
      _ url: WebhookURL, body: String, headers: [(name: String, value: String)]
    ) async throws -> (Int, String) {
      let signature = headers.first { $0.name == "x-apple-signature" }?.value ?? ""
      messages.withLock { $0.append(Message(url: url.text, body: body, signature: signature)) }
      return (status.withLock { $0 }, "body")
    }
  }

  extension TestHost {
    var admin: Principal { principal("admin", kind: .person, role: .admin) }
    var submissions: SubmissionCommands { SubmissionCommands(context) }
    var reviews: ReviewCommands { ReviewCommands(context) }
    var siteFolder: FilePath { AppFolder(app, in: context.folder).site }

    /// Lets the app publish, by a root key that the host does not have.
    func delegate() async throws {
      let root = folder.appending("offline-root.key"), apps = AppCommands(context)
      try SiteKey().write(to: root)
      let request = try await apps.delegationRequest(of: app, by: admin)
      _ = try await apps.importDelegation(try SiteKey.answer(request, by: root), app: app, by: admin)
    }

    /// Does all work that is due.
    func work(_ worker: any ArchiveWorker = InProcessWorker(), receiver: TestReceiver = .init()) async {
      var logger = Logger(label: "test")
      logger.logLevel = .critical
      await WorkLoop(
        service, worker: worker, deliveries: DeliveryQueue(context, transport: receiver), logger: logger
      ).runOnce()
    }

    /// Returns the bytes of an archive with one version.
    func archive(
      of pack: PackID = "City", _ files: [String: String] = ["map.txt": "streets"], number: UInt64 = 1,
      attributes: Attributes? = nil, isApple: Bool = false
    ) async throws -> [UInt8] {
      let work = folder.appending("archive-\(UUID().uuidString)"), content = work.appending("content")
      for (path, text) in files {
        let url = URL(filePath: content.appending(path).string)
        try FileManager.default.createDirectory(at: url.deletingLastPathComponent(), withIntermediateDirectories: true)
        try Data(text.utf8).write(to: url)
      }
      let store = try Store(at: work.appending("store")), file = work.appending("archive")
      var options = Store.InstallOptions()
      options.version = number
      options.attributes = attributes
      try await store.install(folder: content, as: pack, options: options)
      if isApple {
        _ = try await store.exportAppleArchive(.init(pack), to: file)
      } else {
        _ = try await store.export(.init(pack), to: file, signedBy: SiteKey())
      }
      return [UInt8](try Data(contentsOf: URL(filePath: file.string)))
    }

    /// Uploads and processes a version with a text as its only file.
    func published(_ text: String, pack: PackID = "City") async throws -> VersionRecord {
      let version = try await version(of: pack.name)
      _ = try await upload(try await archive(of: pack, ["map.txt": text]), to: version)
      await work()
      return try await self.version(version.id)
    }

    func release(_ version: VersionRecord, _ releaseContext: ReleaseContext) async throws -> ReleaseRecord {
      let found = try await context.database.read { try ReleaseRecord.find(version.id, releaseContext, in: $0) }
      guard let found else { throw APIError.internalFault }
      return found
    }

    func state(_ version: VersionRecord, _ releaseContext: ReleaseContext) async throws -> ReleaseState {
      try await release(version, releaseContext).state
    }

    func submission(_ id: Identifier<SubmissionRecord>) async throws -> SubmissionRecord {
      try await context.database.read { try SubmissionRecord.find($0, key: ["id": id]) }
    }

    /// The versions of a pack that a channel offers on disk.
    func offered(_ releaseContext: ReleaseContext, pack: PackID = "City") async throws -> [UInt64] {
      let app = app
      let record = try await context.database.read { try AppRecord.find($0, key: ["id": app]) }
      let name = record.channelName(of: releaseContext)
      let channel = try Site(existingAt: siteFolder).channels().first { $0.channel.name == name }
      return channel?.packs.first { $0.pack == pack }?.offers.map(\.version) ?? []
    }

    func channel(_ releaseContext: ReleaseContext) async throws -> ChannelRecord {
      let app = app
      let found = try await context.database.read { try ChannelRecord.find(app, releaseContext, in: $0) }
      guard let found else { throw APIError.internalFault }
      return found
    }

    /// Submits versions to the store, and returns the submission.
    func submit(_ versions: [VersionRecord], by principal: Principal? = nil) async throws -> SubmissionRecord {
      let principal = principal ?? developer
      let draft = try await submissions.create(app: app, platform: nil, by: principal)
      for version in versions { _ = try await submissions.add(.version(version.id), to: draft.id, by: principal) }
      return try await submissions.submit(draft.id, by: principal)
    }

    /// The payloads of all events of a type, in order.
    func events(_ type: WebhookEventType) async throws -> [String] {
      try await context.database.read { database in
        try EventRecord.filter(Column("eventType") == type.rawValue).order(Column("rowid")).fetchAll(database).map(
          \.payload)
      }
    }

    func setApprovals(store: Int, external: Int = 0) async throws {
      let app = app
      try await context.database.write {
        try $0.execute(
          sql: "UPDATE app SET storeApprovals = ?, externalApprovals = ? WHERE id = ?",
          arguments: [store, external, app])
      }
    }
  }
#endif
