#if Hosting
  import GRDB

  /// Records events in the transaction that causes them. Deliveries follow from these records.
  struct Outbox {
    let context: HostContext

    init(_ context: HostContext) { self.context = context }

    /// Processing refused a version.
    func versionFailed(_ version: VersionRecord, from old: VersionStates.State, in database: Database) throws {
      try record(.versionState, app: version.appID, in: database) { event, now in
        .pack(
          "backgroundAssetVersionStateUpdated", event: event, at: now, of: "backgroundAssetVersions",
          version.id.rawValue,
          origin: context.origin, states: (old.rawValue, version.state.rawValue))
      }
      try mailFailed(version, in: database)
    }

    /// The release for internal testers exists.
    func internalReleaseCreated(_ release: ReleaseRecord, in database: Database) throws {
      try record(.internalRelease, app: release.appID, in: database) { event, now in
        .pack(
          "backgroundAssetVersionInternalBetaReleaseCreated", event: event, at: now,
          of: "backgroundAssetVersionInternalBetaReleases", release.id.rawValue, origin: context.origin)
      }
      try mailReady(release.versionID, isLive: release.state.isLive, in: database)
    }

    /// A release changed its state. Apple sends events for rejected and live releases only.
    func releaseChanged(_ release: ReleaseRecord, from old: ReleaseState, in database: Database) throws {
      guard release.state == .rejected || release.state.isLive else { return }
      let states = (old.rawValue, release.state.rawValue)
      switch release.context {
      case .internalBeta: break
      case .externalBeta:
        try record(.externalRelease, app: release.appID, in: database) { event, now in
          .pack(
            "backgroundAssetVersionExternalBetaReleaseStateUpdated", event: event, at: now,
            of: "backgroundAssetVersionExternalBetaReleases", release.id.rawValue, origin: context.origin,
            states: states)
        }
      case .store:
        try record(.storeRelease, app: release.appID, in: database) { event, now in
          .pack(
            "backgroundAssetVersionAppStoreReleaseStateUpdated", event: event, at: now,
            of: "backgroundAssetVersionAppStoreReleases", release.id.rawValue, origin: context.origin, states: states)
        }
      }
    }

    func appVersionChanged(
      _ version: AppVersionRecord, from old: AppVersionStates.State, in database: Database
    ) throws {
      try record(.appVersionState, app: version.appID, in: database) { event, now in
        .other(
          "appStoreVersionAppVersionStateUpdated", event: event, at: now, of: "appStoreVersions", version.id.rawValue,
          origin: context.origin, values: (old.rawValue, version.state.rawValue))
      }
    }

    /// Records a ping, which is delivered to its webhook only.
    func ping(_ webhook: WebhookRecord, in database: Database) throws -> EventRecord {
      let event = try insert(nil, app: webhook.appID, in: database) { event, now in
        .other(
          "webhookPingCreated", event: event, at: now, of: "webhooks", webhook.id.rawValue, origin: context.origin)
      }
      try deliver(event, to: webhook, in: database)
      return event
    }

    private func record(
      _ type: WebhookEventType, app: AppID, in database: Database, _ payload: (String, Timestamp) -> EventPayload
    ) throws {
      let event = try insert(type, app: app, in: database, payload)
      let webhooks = try WebhookRecord.filter(Column("appID") == app && Column("enabled") == true).fetchAll(database)
      for webhook in webhooks where webhook.eventTypes.contains(type) { try deliver(event, to: webhook, in: database) }
    }

    private func insert(
      _ type: WebhookEventType?, app: AppID, in database: Database, _ payload: (String, Timestamp) -> EventPayload
    ) throws -> EventRecord {
      let id = Identifier<EventRecord>(context.random), now = context.now
      let event = EventRecord(
        id: id, appID: app, eventType: type, payload: try payload(id.rawValue, now).text(), ping: type == nil,
        createdDate: now)
      try event.insert(database)
      return event
    }

    /// Schedules a delivery for now.
    @discardableResult
    func deliver(
      _ event: EventRecord, to webhook: WebhookRecord, isRedelivery: Bool = false, in database: Database
    ) throws -> DeliveryRecord {
      let delivery = DeliveryRecord(
        id: .init(context.random), webhookID: webhook.id, eventID: event.id, state: .pending, redelivery: isRedelivery,
        url: webhook.url, createdDate: context.now, sentDate: nil, attempts: 0, dueDate: context.now, statusCode: nil,
        responseBody: nil, errorMessage: nil)
      try delivery.insert(database)
      return delivery
    }
  }
#endif
