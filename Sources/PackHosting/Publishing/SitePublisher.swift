#if Hosting
  import Crypto
  import Foundation
  import GRDB
  import PackAuthoring
  import PackFormats
  import PackStore
  import Synchronization

  /// Writes the site of one app: versions, and roots that follow the records. One caller at a time works on an app.
  ///
  /// A root is stored in the database before its first write (``intend(_:_:)``). After it was read back, it is recorded as written, and
  /// the releases that it contains become live (``confirm(_:_:)``).
  struct SitePublisher: Sendable {
    let context: HostContext
    let app: AppRecord
    private let site: Site
    private let key: SiteKey

    /// The revision that the change in progress gives to a channel; roots of other channels keep their revision.
    private final class Revisions: Sendable { let values = Mutex<[String: Int64]>([:]) }

    private let revisions: Revisions

    /// - Returns: `nil` if the app has no delegation yet.
    /// - Throws: errors of opening a site and reading a key.
    init?(_ context: HostContext, _ app: AppRecord) throws {
      let folder = AppFolder(app.id, in: context.folder)
      guard pathExists(folder.releaseKey) else { return nil }
      self.context = context
      self.app = app
      key = try SiteKey(contentsOf: folder.releaseKey)
      let revisions = Revisions()
      self.revisions = revisions
      let id = app.id
      site = try Site(at: folder.site) { channel, bytes in
        try Self.intend(context, id, channel, bytes, revision: revisions.values.withLock { $0[channel.name] })
      }
    }

    private var options: Site.PublishOptions {
      get throws {
        var options = Site.PublishOptions(
          keptVersionCount: Self.keptVersionCount, deltaCount: 0, product: try app.product, channel: nil)
        options.takesBack = true
        return options
      }
    }

    /// The records decide which versions stay, not their count.
    private static let keptVersionCount = 1_000_000

    // MARK: - Versions

    /// Adds a version to the site, without offering it. Nothing changes if the site has it.
    ///
    /// - Parameter source: a store with exactly this version of this pack.
    /// - Throws: errors of publishing; `exists` if the site has other content under the number.
    func publish(_ pack: PackID, _ number: UInt64, from source: Store) async throws -> PackVersion {
      try await recover()
      let present = try site.store.makeSnapshot().version(number, of: pack)
      let copied = try source.makeSnapshot().version(number, of: pack)
      if let present, present.catalog == copied?.catalog { return present }
      var options = try options
      options.avoidedSegments = try secretSegments()
      try await site.publish([.init(pack, version: number)], from: source, signedBy: key, options: options)
      try await recover()
      guard let version = try site.store.makeSnapshot().version(number, of: pack) else {
        throw PackStoreError(.notFound, "the site lost the version that was published", about: .version(pack, number))
      }
      return version
    }

    /// Builds a delta and proves it. The roots with offers of its target then list it.
    ///
    /// - Returns: the fault of the delta, which is then not listed; `nil` if it is listed, or if the site lacks a version.
    /// - Throws: faults of the machine; errors of publishing.
    func makeDelta(of pack: PackID, from: UInt64, to: UInt64) async throws -> String? {
      try await recover()
      let snapshot = try site.store.makeSnapshot(), options = try options
      guard let old = snapshot.version(from, of: pack), let new = snapshot.version(to, of: pack) else { return nil }
      let folder = context.folder.appending("work").appending("delta-\(context.random.hex(8))")
      defer { removeTree(folder) }
      _ = try makeFolder(folder, isSecret: true)
      let proof = DeltaProof(snapshot: snapshot, from: old, to: new, level: options.deltaOptions.level)
      if let fault = try await proof.fault(in: folder) { return fault }
      _ = try await site.makeDeltas([(old, new)], signedBy: key, options: options)
      try await recover()
      return nil
    }

    /// Returns the segments that the store's offers do not need. Anyone who has the name of a segment can fetch all of it, so a
    /// version that may be offered later has no data in them: its segments have its own data, and data of versions that were offered
    /// before.
    private func secretSegments() throws -> Set<SegmentID> {
      let snapshot = try site.store.makeSnapshot()
      let root = try site.rootBytes(of: .live).map {
        try SignedSiteRoot(decoding: $0, file: SiteChannel.live.name).root
      }
      var all: Set<SegmentID> = []
      for name in try namesInFolder(site.path.appending("segments")) {
        if case .segment(let id) = SitePath("segments/\(name)") { all.insert(id) }
      }
      for pack in root?.packs ?? [] {
        for version in pack.offers.compactMap({ snapshot.version($0.number, of: pack.id) }) {
          all.subtract(try snapshot.segments(of: version).map(\.id))
        }
      }
      return all
    }

    // MARK: - Roots

    /// Brings the roots of all channels to the wanted offers. A channel with an alarm stays as it is.
    func reconcile() async throws {
      try await recover()
      for channel in try await channels()
      where channel.alarm == nil && channel.wantedRevision != channel.writtenRevision {
        try await write(channel)
      }
      try await closeOthers()
    }

    /// Closes channels whose names were replaced. Their devices keep the versions that they have.
    private func closeOthers() async throws {
      var names = Set(try await channels().map(\.name))
      if let draft = try await draftChannel() { names.insert(draft) }
      for channel in try site.channels() where !channel.isClosed && !names.contains(channel.channel.name) {
        try await site.close(channel.channel, signedBy: key, options: try options)
      }
    }

    private func channels() async throws -> [ChannelRecord] {
      try await context.database.read { [app] database in
        try ChannelRecord.filter(Column("appID") == app.id).order(Column("context")).fetchAll(database)
      }
    }

    private func write(_ record: ChannelRecord) async throws {
      let found = try await context.database.read { [app] database -> (Int64, [PackID: [Site.PlannedOffer]])? in
        guard let channel = try ChannelRecord.find(app.id, record.context, in: database) else { return nil }
        return (channel.wantedRevision, try channel.wantedOffers(in: database))
      }
      guard let (revision, offers) = found else { return }
      if record.context == .store, let draft = try await draftChannel() {
        return try await requestRoot(SiteChannel(draft), revision, offers)
      }
      revisions.values.withLock { $0 = [record.name: revision] }
      defer { revisions.values.withLock { $0 = [:] } }
      let channel = try SiteChannel(record.name)
      try await site.edit([.init(channel, .replace(offers))], signedBy: key, options: try options)
      try await recover()
      // The root already had these offers, so nothing was written.
      let root = try site.rootBytes(of: channel)
      try await context.database.write { [context, app] database in
        guard var channel = try ChannelRecord.find(app.id, record.context, in: database), channel.alarm == nil,
          channel.writtenRevision < revision, channel.intendedRoot == nil
        else { return }
        channel.writtenRevision = revision
        try channel.update(database)
        if let root { try Self.settle(context, channel, root, in: database) }
      }
    }

    /// Returns the name of the draft channel; `nil` if the host signs the roots of the store.
    private func draftChannel() async throws -> String? {
      try await context.database.read { [app] in
        try OfflineSigningRecord.fetchOne($0, key: ["appID": app.id])?.draftChannel
      }
    }

    /// Stores the next root of the store for its signer. The draft channel keeps the files that it needs.
    private func requestRoot(
      _ draft: SiteChannel, _ revision: Int64, _ offers: [PackID: [Site.PlannedOffer]]
    ) async throws {
      try await site.edit([.init(draft, .replace(offers))], signedBy: key, options: try options)
      guard let model = try site.rootBytes(of: draft) else { return }
      let published = try site.rootBytes(of: .live)
      let root = try site.rootDraft(
        of: .live, after: try published.map { try SignedSiteRoot(decoding: $0, file: "root").root },
        offering: try SignedSiteRoot(decoding: model, file: draft.name).root)
      let request = RootRequestRecord(
        appID: app.id, context: .store, revision: revision, root: Data(try root.encode(signedBy: nil)),
        predecessor: Self.digest(published), createdDate: context.now)
      try await context.database.write { try request.upsert($0) }
    }

    /// Completes roots that were intended when the host stopped, and compares the others with the records.
    func recover() async throws {
      for record in try await channels() where record.alarm == nil {
        let channel = try SiteChannel(record.name)
        let published = try site.rootBytes(of: channel)
        if let intended = record.intendedRoot.map({ [UInt8]($0) }) {
          if published != intended {
            guard Self.digest(published) == record.writtenDigest else {
              try await raise(record)
              continue
            }
            try site.writeAnnouncedRoot(intended, of: channel)
          }
          guard try site.rootBytes(of: channel) == intended else {
            try await raise(record)
            continue
          }
          try await confirm(record.context, intended)
        } else if Self.digest(published) != record.writtenDigest {
          try await raise(record)
        }
      }
    }

    private static func digest(_ root: [UInt8]?) -> Data? { root.map { Data(SHA256.hash(data: $0)) } }

    private func raise(_ record: ChannelRecord) async throws {
      try await context.database.write { database in
        try database.execute(
          sql: "UPDATE channel SET alarm = ? WHERE appID = ? AND context = ?",
          arguments: [
            "published root: not the recorded one, by a restored database or another publisher; run 'packstore-host reconcile'",
            record.appID, record.context,
          ])
      }
    }

    /// Records a root before it is written.
    private static func intend(
      _ context: HostContext, _ app: AppID, _ channel: SiteChannel, _ bytes: [UInt8], revision: Int64?
    ) throws {
      try context.database.write { database in
        let found = try ChannelRecord.fetchOne(
          database, sql: "SELECT * FROM channel WHERE appID = ? AND name = ?", arguments: [app, channel.name])
        // A channel whose name was replaced has no record, and its last root is the same after a crash.
        guard var record = found else { return }
        guard record.alarm == nil else {
          throw PackStoreError(.refused, "the host does not write this channel", about: .channel(channel))
        }
        record.intendedRoot = Data(bytes)
        record.intendedRevision = revision ?? record.writtenRevision
        try record.update(database)
      }
    }

    /// Records that a root was read back, and makes its releases live.
    private func confirm(_ releaseContext: ReleaseContext, _ root: [UInt8]) async throws {
      try await context.database.write { [context, app] database in
        guard var record = try ChannelRecord.find(app.id, releaseContext, in: database),
          record.intendedRoot == Data(root)
        else {
          return
        }
        record.writtenDigest = Self.digest(root)
        record.writtenRevision = record.intendedRevision ?? record.writtenRevision
        (record.intendedRoot, record.intendedRevision) = (nil, nil)
        try record.update(database)
        try Self.settle(context, record, root, in: database)
      }
    }

    /// Makes releases live that waited for a root that contains them.
    private static func settle(
      _ context: HostContext, _ channel: ChannelRecord, _ root: [UInt8], in database: Database
    ) throws {
      let outbox = Outbox(context)
      for offered in try offered(in: root, of: channel, in: database)
      where [.processingForTesting, .processingForDistribution].contains(offered.release.state) {
        var release = offered.release
        try release.makeLive(by: .publish, outbox, in: database)
      }
    }

    /// A pack's first offer in a root, and the release behind it for devices outside of its share.
    private struct Offered {
      var release: ReleaseRecord
      let share: Int
      let fallback: Identifier<ReleaseRecord>?
    }

    private static func offered(in root: [UInt8], of channel: ChannelRecord, in database: Database) throws -> [Offered]
    {
      let signed = try SignedSiteRoot(decoding: root, file: channel.name)
      return try signed.root.packs.compactMap { pack in
        let releases = try pack.offers.compactMap { offer in
          try release(of: pack.id, offer.number, on: channel, in: database)
        }
        guard let first = releases.first, let offer = pack.offers.first else { return nil }
        return Offered(release: first, share: Int(clamping: offer.share), fallback: releases.dropFirst().first?.id)
      }
    }

    private static func release(
      of pack: PackID, _ number: UInt64, on channel: ChannelRecord, in database: Database
    ) throws -> ReleaseRecord? {
      try ReleaseRecord.fetchOne(
        database,
        sql: """
          SELECT r.* FROM release r JOIN packVersion v ON v.id = r.versionID JOIN pack p ON p.id = r.packID
          WHERE r.appID = ? AND r.context = ? AND p.identifier = ? AND v.number = ?
          """, arguments: [channel.appID, channel.context, pack.name, Int64(clamping: number)])
    }

    // MARK: - Decisions of an operator

    /// Ends the alarms of all channels by taking the published roots as the recorded ones: versions that a root offers become live, and
    /// others are superseded.
    func adopt() async throws {
      try await decide { context, record, root, database in
        let offered = try root.map { try Self.offered(in: $0, of: record, in: database) } ?? []
        let outbox = Outbox(context)
        let live = try ReleaseRecord.filter(
          Column("appID") == record.appID && Column("context") == record.context
            && Column("state") == record.context.liveState
        ).fetchAll(database)
        for var release in live where !offered.contains(where: { $0.release.id == release.id }) {
          try release.apply(.supersede, outbox, in: database)
        }
        for offer in offered {
          var release = offer.release
          let event: ReleaseEvent = release.state == .superseded ? .restore : .publish
          guard release.state.isLive || record.context.next(release.state, event) != nil else { continue }
          try release.makeLive(by: event, outbox, in: database)
          (release.share, release.fallbackID) = (offer.share, offer.fallback)
          try release.update(database)
        }
      }
    }

    /// Ends the alarms of all channels by writing the recorded offers over the published roots. Offers get epochs above the published
    /// ones, so that devices follow.
    func overrule() async throws {
      try await decide { _, _, _, _ in }
      try await reconcile()
    }

    private func decide(
      _ change: @escaping @Sendable (HostContext, ChannelRecord, [UInt8]?, Database) throws -> Void
    ) async throws {
      for record in try await channels() where record.alarm != nil {
        let root = try site.rootBytes(of: SiteChannel(record.name))
        try await context.database.write { [context, app] database in
          guard var record = try ChannelRecord.find(app.id, record.context, in: database) else { return }
          record.alarm = nil
          record.writtenDigest = Self.digest(root)
          (record.intendedRoot, record.intendedRevision) = (nil, nil)
          record.wantedRevision += 1
          try record.update(database)
          try change(context, record, root, database)
        }
      }
    }
  }
#endif
