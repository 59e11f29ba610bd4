#if Hosting
  import GRDB
  import Logging
  import PackStore

  /// Does the work that no request waits for: processing, publishing, progress of reviews, expiry, deliveries.
  ///
  /// Apps are worked on concurrently, each by one task. A fault of one app stops no other app.
  struct WorkLoop: Sendable {
    let service: HostService
    let processor: VersionProcessor
    let deliveries: DeliveryQueue

    /// `nil` without a mail server.
    let mails: MailQueue?
    let makesDeltas: Bool
    let logger: Logger

    init(
      _ service: HostService, worker: any ArchiveWorker, deliveries: DeliveryQueue, mails: MailQueue? = nil,
      makesDeltas: Bool = false, logger: Logger
    ) {
      self.service = service
      self.processor = VersionProcessor(service.context, worker: worker)
      self.deliveries = deliveries
      self.mails = mails
      self.makesDeltas = makesDeltas
      self.logger = logger
    }

    /// How often records are searched for work, while nothing signals it.
    static let interval = Duration.seconds(1)

    private var context: HostContext { service.context }

    /// Cleans up after the previous process, and compares all published roots with the records.
    func start() async throws {
      removeTree(context.folder.appending("work"))
      _ = try makeFolder(context.folder.appending("work"), isSecret: true)
      try await UploadCommands(context, signer: service.signer).cleanUp()
      let apps = try await context.database.read { try AppID.fetchAll($0, sql: "SELECT id FROM app") }
      for app in apps {
        await attempt("compare roots of app '\(app)'") { try await service.publisher(of: app)?.recover() }
      }
    }

    /// Works until the task is cancelled.
    func run() async throws {
      try await withThrowingTaskGroup(of: Void.self) { group in
        group.addTask { try await repeated { await runOnce() } }
        group.addTask { try await repeated { await attempt("deliver events") { try await deliveries.run() } } }
        group.addTask { try await repeated { await sendMails() } }
        try await group.waitForAll()
      }
    }

    /// A mail server that cannot be reached must not delay webhooks.
    private func sendMails() async {
      await attempt("send mails") {
        if let mails { try await mails.run() } else { try await MailQueue.expire(context) }
      }
    }

    private func repeated(_ body: () async -> Void) async throws {
      while !Task.isCancelled {
        await body()
        try await Task.sleep(for: Self.interval)
      }
    }

    /// Does all work that is due, except deliveries.
    func runOnce() async {
      await attempt("expire uploads") { try await UploadCommands(context, signer: service.signer).expire() }
      await attempt("advance reviews") { try await ReviewProgress(context).run() }
      let apps = await appsWithWork()
      await withTaskGroup(of: Void.self) { group in
        for app in apps {
          group.addTask { await attempt("publish app '\(app)'") { try await work(on: app) } }
        }
      }
      await attempt("advance reviews") { try await ReviewProgress(context).run() }
    }

    private func work(on app: AppID) async throws {
      guard let publisher = try await service.publisher(of: app) else { return }
      try await processor.run(publisher)
      try await publisher.reconcile()
      if makesDeltas { try await DeltaJobs(context).run(publisher) }
    }

    private func appsWithWork() async -> Set<AppID> {
      let apps = try? await context.database.read { database in
        Set(try Self.appsWithWork(in: database)).union(makesDeltas ? try DeltaJobs.apps(in: database) : [])
      }
      return apps ?? []
    }

    private static func appsWithWork(in database: Database) throws -> [AppID] {
      try AppID.fetchAll(
        database,
        sql: """
          SELECT v.appID FROM job j JOIN packVersion v ON v.id = j.versionID WHERE j.state = 'WAITING'
          UNION SELECT appID FROM channel
          WHERE alarm IS NULL AND (wantedRevision <> writtenRevision OR intendedRoot IS NOT NULL)
            AND NOT (intendedRoot IS NULL AND EXISTS (
              SELECT 1 FROM rootRequest q WHERE q.appID = channel.appID AND q.context = channel.context
                AND q.revision = channel.wantedRevision AND q.predecessor IS channel.writtenDigest))
          """)
    }

    private func attempt<Result>(_ name: String, _ body: () async throws -> Result) async {
      do { _ = try await body() } catch is CancellationError {} catch {
        logger.error("\(name): failed", metadata: ["error": "\(error)"])
      }
    }
  }
#endif
