#if Hosting
  import Foundation
  import GRDB
  import PackAuthoring
  import PackStore

  /// Processes committed archives: checks each in a worker, publishes it, and creates its releases.
  ///
  /// Each step may be repeated after a crash. The state, the releases and their events change in one transaction.
  struct VersionProcessor: Sendable {
    let context: HostContext
    let worker: any ArchiveWorker

    init(_ context: HostContext, worker: any ArchiveWorker) {
      self.context = context
      self.worker = worker
    }

    /// Attempts before a job waits for an operator.
    static let faultLimit = 3

    /// The records of a job.
    private struct Work: Sendable {
      let job: JobRecord
      let version: VersionRecord
      let pack: PackRecord
      let file: UploadFileRecord
      let parts: [UploadPartRecord]
    }

    /// Runs the waiting jobs of an app in order. One caller at a time works on an app.
    func run(_ publisher: SitePublisher) async throws {
      let app = publisher.app.id
      let jobs = try await context.database.read { database in
        try JobRecord.fetchAll(
          database,
          sql: """
            SELECT j.* FROM job j JOIN packVersion v ON v.id = j.versionID WHERE v.appID = ? AND j.state = ?
            ORDER BY j.createdDate, v.number
            """, arguments: [app, JobRecord.State.waiting])
      }
      for job in jobs { try await run(job, publisher) }
    }

    private func run(_ job: JobRecord, _ publisher: SitePublisher) async throws {
      let work = try await context.database.read { try Self.load(job, in: $0) }
      guard let work else { return try await dismiss(job) }
      let folder = context.folder.appending("work").appending("\(job.id)-\(context.random.hex(8))")
      defer { removeTree(folder) }
      do {
        _ = try makeFolder(folder, isSecret: true)
        try await process(work, in: folder, publisher)
      } catch is CancellationError {
        throw CancellationError()
      } catch {
        try await noteFault(job, "\(error)")
      }
    }

    private static func load(_ job: JobRecord, in database: Database) throws -> Work? {
      guard let version = try VersionRecord.fetchOne(database, key: ["id": job.versionID]),
        version.state == .processing,
        let pack = try PackRecord.fetchOne(database, key: ["id": version.packID]),
        let file = try UploadFileRecord.fetchOne(
          database, key: ["versionID": version.id, "assetType": AssetType.asset])
      else { return nil }
      return Work(
        job: job, version: version, pack: pack, file: file, parts: try UploadCommands.parts(of: file.id, in: database))
    }

    private func process(_ work: Work, in folder: FilePath, _ publisher: SitePublisher) async throws {
      let archive = folder.appending("archive"), uploads = UploadFolder(work.file.id, in: context.folder)
      guard !work.pack.archived else { return try await reject(work, Self.archived) }
      let site = AppFolder(work.version.appID, in: context.folder).site
      let digest: UploadDigest
      do {
        digest = try await BlockingExecutor.run {
          try AssembledArchive.write(work.parts, from: uploads, site, to: archive)
        }
      } catch is ContentLost { return try await reject(work, Self.contentLost) }
      if let fault = digest.fault(work.file.checksums) { return try await reject(work, WorkerVerdict(errors: [fault])) }
      let output = folder.appending("output")
      _ = try makeFolder(output, isSecret: true)
      let check = ArchiveCheck(
        archive: archive, output: output, pack: try PackID(validating: work.pack.identifier),
        number: UInt64(clamping: work.version.number))
      let verdict = try await worker.check(check)
      guard verdict.errors.isEmpty else { return try await reject(work, verdict) }
      let store = try Store(at: output.appending(ArchiveCheck.storeName))
      guard let attributes = try Self.examine(store, check) else {
        throw WorkerFault("worker: its output is not the version that was requested")
      }
      let version: PackVersion
      do { version = try await publisher.publish(check.pack, check.number, from: store) } catch let error
        as PackStoreError
        where !error.isMachineFault && error.code == .exists
      {
        return try await reject(work, .rejected("VERSION_EXISTS", "The site has this number with other content."))
      }
      guard try await accept(work, version, attributes, verdict) else { return try await reject(work, Self.archived) }
      uploads.remove()
    }

    /// Checks the worker's output: exactly the version, and nothing else.
    private static func examine(_ store: Store, _ check: ArchiveCheck) throws -> Attributes? {
      let snapshot = try store.makeSnapshot()
      guard snapshot.packs.map(\.id) == [check.pack], snapshot.versions(of: check.pack).map(\.number) == [check.number],
        let version = snapshot.version(check.number, of: check.pack)
      else { return nil }
      return try snapshot.attributes(of: version)
    }

    // MARK: - Outcomes

    private static let contentLost = WorkerVerdict.rejected(
      "CONTENT_LOST", "The host does not have a range that the upload's table describes; upload the whole archive.")
    private static let archived = WorkerVerdict.rejected(
      "PACK_ARCHIVED", "The pack was archived before processing ended.")

    /// - Returns: whether the pack still accepts versions.
    private func accept(
      _ work: Work, _ published: PackVersion, _ attributes: Attributes, _ verdict: WorkerVerdict
    ) async throws -> Bool {
      try await context.database.write { [context] database in
        guard var version = try VersionRecord.fetchOne(database, key: ["id": work.version.id]),
          let next = VersionStates.next(version.state, .accept)
        else { return true }
        guard try PackRecord.fetchOne(database, key: ["id": version.packID])?.archived == false else { return false }
        version.state = next
        version.catalog = Data(published.catalog.bytes)
        version.allPlatforms = attributes.platforms.map(\.rawValue).sorted()
        version.platforms = ApplePlatform.allCases.filter { platform in
          attributes.platforms.contains { $0.rawValue == platform.manifestName }
        }
        version.locale = attributes.language?.description
        version.details.warnings = verdict.warnings
        try version.update(database)
        try Self.close(work, .accept, verdict, in: database)
        try ReleaseCreation(context).createAll(for: version, in: database)
        return true
      }
    }

    private func reject(_ work: Work, _ verdict: WorkerVerdict) async throws {
      try await context.database.write { [context] database in
        guard var version = try VersionRecord.fetchOne(database, key: ["id": work.version.id]),
          let next = VersionStates.next(version.state, .reject)
        else { return }
        let old = version.state
        version.state = next
        (version.details.errors, version.details.warnings) = (verdict.errors, verdict.warnings)
        try version.update(database)
        try Self.close(work, .reject, verdict, in: database)
        try Outbox(context).versionFailed(version, from: old, in: database)
      }
      UploadFolder(work.file.id, in: context.folder).remove()
    }

    private static func close(
      _ work: Work, _ event: UploadStates.Event, _ verdict: WorkerVerdict, in database: Database
    ) throws {
      var file = work.file, job = work.job
      file.state = UploadStates.next(file.state, event) ?? file.state
      (file.errors, file.warnings) = (verdict.errors, verdict.warnings)
      try file.update(database)
      try UploadCommands.deleteFrames(of: file.id, in: database)
      job.state = .done
      job.cause = nil
      try job.update(database)
    }

    /// Ends a job whose version is not in processing any more.
    private func dismiss(_ job: JobRecord) async throws {
      var job = job
      job.state = .done
      let ended = job
      try await context.database.write { try ended.update($0) }
    }

    private func noteFault(_ job: JobRecord, _ cause: String) async throws {
      try await context.database.write { database in
        guard var job = try JobRecord.fetchOne(database, key: ["id": job.id]) else { return }
        job.faults += 1
        job.cause = String(cause.prefix(1000))
        if job.faults >= Self.faultLimit { job.state = .stuck }
        try job.update(database)
      }
    }
  }

  extension ApplePlatform {
    /// The name in manifests.
    var manifestName: String {
      switch self {
      case .iOS: "iOS"
      case .macOS: "macOS"
      case .tvOS: "tvOS"
      case .visionOS: "visionOS"
      }
    }
  }
#endif
