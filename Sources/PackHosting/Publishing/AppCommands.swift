#if Hosting
  import GRDB
  import PackAuthoring
  import PackFormats
  import PackStore

  /// The attributes of a new app.
  struct AppInput: Sendable {
    let name: String
    let bundleID: String
    let sku: String
    var primaryLocale = "en-US"
    var storeApprovals = 0
    var externalApprovals = 0

    /// Whether the roots of the store are signed by a key that the host does not have.
    var signsOffline = false
  }

  /// Creates apps and accepts their delegations.
  struct AppCommands: Sendable {
    let context: HostContext

    init(_ context: HostContext) { self.context = context }

    /// Creates an app with a key pair of its own. It publishes nothing until ``importDelegation(_:app:by:)``.
    ///
    /// - Throws: `APIError` 403; 409 for an invalid attribute or a used bundle id.
    func create(_ input: AppInput, by principal: Principal) async throws -> AppRecord {
      try principal.require(.manageApps)
      try Self.check(input)
      let id = AppID(context.random), key = SiteKey()
      try key.write(to: AppFolder(id, in: context.folder).pendingKey)
      return try await context.database.write { [context] database in
        let isUsed = try Bool.fetchOne(
          database, sql: "SELECT EXISTS (SELECT 1 FROM app WHERE lower(bundleID) = lower(?))",
          arguments: [input.bundleID])
        guard isUsed != true else { throw APIError.duplicate("bundleId", input.bundleID) }
        let app = AppRecord(
          id: id, teamID: principal.team, name: input.name, bundleID: input.bundleID, sku: input.sku,
          primaryLocale: input.primaryLocale, internalChannel: ChannelName.generate("internal", context.random),
          externalChannel: ChannelName.generate("external", context.random), storeApprovals: input.storeApprovals,
          externalApprovals: input.externalApprovals, byteLimit: Assumptions.bytesPerApp,
          packLimit: Assumptions.packsPerApp, createdDate: context.now)
        try app.insert(database)
        try DelegationRecord(appID: id, releaseKey: key.publicKey.description, rootKey: nil, endDate: nil).insert(
          database)
        if input.signsOffline {
          let draft = ChannelName.generate("draft", context.random)
          try OfflineSigningRecord(appID: id, draftChannel: draft).insert(database)
        }
        for context in ReleaseContext.allCases {
          try ChannelRecord(
            appID: id, name: app.channelName(of: context), context: context, wantedRevision: 0, writtenRevision: 0,
            writtenDigest: nil, intendedRoot: nil, intendedRevision: nil, alarm: nil
          ).insert(database)
        }
        return app
      }
    }

    private static func check(_ input: AppInput) throws {
      guard (1...255).contains(input.name.utf8.count) else {
        throw APIError.attributeInvalid("name", "not 1 to 255 bytes; choose another name")
      }
      guard (1...255).contains(input.sku.utf8.count) else {
        throw APIError.attributeInvalid("sku", "not 1 to 255 bytes; choose another value")
      }
      guard (try? Store.Product(input.bundleID.lowercased())) != nil else {
        throw APIError.attributeInvalid(
          "bundleId", "not 1 to 64 letters, digits and the characters '-', '_' and '.'; use another id")
      }
      guard (0...2).contains(input.storeApprovals), (0...1).contains(input.externalApprovals) else {
        throw APIError.attributeInvalid("approvals", "not 0 to 2 for the store and 0 or 1 for external testers")
      }
    }

    /// Returns the request that the owner of the root key answers: ``PackAuthoring/SiteKey/answer(_:by:validity:)``. If the roots of the
    /// store are signed offline, the host's key is for the testers' channels only, so that devices refuse its roots for the store.
    ///
    /// - Throws: `APIError` 403, 404.
    func delegationRequest(of id: AppID, by principal: Principal) async throws -> SiteKey.DelegationRequest {
      try principal.require(.manageApps)
      let (app, offline) = try await context.database.read {
        (try principal.app(id, in: $0), try OfflineSigningRecord.fetchOne($0, key: ["appID": id]))
      }
      guard let app else { throw APIError.notFound("apps", id.rawValue) }
      let channels = try offline.map {
        try [app.internalChannel, app.externalChannel, $0.draftChannel].map { try SiteChannel($0) }
      }
      return .init(releaseKey: try pendingKey(of: app).publicKey, product: try app.product, channels: channels ?? [])
    }

    /// Accepts the answer to the app's delegation request. Later answers extend the validity.
    ///
    /// - Throws: `APIError` 403, 404; 409 for an answer to another request.
    func importDelegation(_ answer: String, app id: AppID, by principal: Principal) async throws -> DelegationRecord {
      try principal.require(.manageApps)
      let app = try await context.database.read { try principal.app(id, in: $0) }
      guard let app else { throw APIError.notFound("apps", id.rawValue) }
      let key: SiteKey
      do { key = try pendingKey(of: app).delegated(byAnswer: answer, for: app.product) } catch let error
        as PackStoreError
      {
        throw APIError.attributeInvalid("delegation", "\(error.description)")
      }
      try key.replace(AppFolder(id, in: context.folder).releaseKey)
      let record = DelegationRecord(
        appID: id, releaseKey: key.publicKey.description, rootKey: key.rootKey.description,
        endDate: key.endsAt.map { Timestamp(rawValue: Int64($0.timeIntervalSince1970 * 1000)) })
      try await context.database.write { try record.upsert($0) }
      return record
    }

    /// Replaces the name of a testers' channel: only people who receive the new name get later versions.
    ///
    /// - Throws: `APIError` 403, 404; 409 for the store, whose name is fixed.
    func replaceChannel(
      _ releaseContext: ReleaseContext, of id: AppID, by principal: Principal
    ) async throws -> AppRecord {
      try principal.require(.manageApps)
      return try await context.database.write { [context] database in
        guard var app = try principal.app(id, in: database) else { throw APIError.notFound("apps", id.rawValue) }
        switch releaseContext {
        case .internalBeta: app.internalChannel = ChannelName.generate("internal", context.random)
        case .externalBeta: app.externalChannel = ChannelName.generate("external", context.random)
        case .store: throw APIError.entityState("channel 'live': has a fixed name; replace the names of other channels")
        }
        try app.update(database)
        try database.execute(
          sql: """
            UPDATE channel SET name = ?, wantedRevision = wantedRevision + 1, writtenDigest = NULL, intendedRoot = NULL,
            intendedRevision = NULL, alarm = NULL WHERE appID = ? AND context = ?
            """, arguments: [app.channelName(of: releaseContext), id, releaseContext])
        return app
      }
    }

    private func pendingKey(of app: AppRecord) throws -> SiteKey {
      try SiteKey(contentsOf: AppFolder(app.id, in: context.folder).pendingKey)
    }
  }

  extension AppRecord {
    /// The product of the app's site.
    var product: Store.Product { get throws { try Store.Product(bundleID.lowercased()) } }

    func channelName(of context: ReleaseContext) -> String {
      switch context {
      case .internalBeta: internalChannel
      case .externalBeta: externalChannel
      case .store: SiteChannel.live.name
      }
    }
  }
#endif
