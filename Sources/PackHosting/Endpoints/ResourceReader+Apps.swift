#if Hosting
  import GRDB

  extension ResourceReader {
    func app(_ id: AppID) throws -> Resource? {
      guard let app = try principal.app(id, in: database) else { return nil }
      return Resource(
        kind: .app, id: app.id.rawValue,
        attributes: [
          ("name", .string(app.name)), ("bundleId", .string(app.bundleID)), ("sku", .string(app.sku)),
          ("primaryLocale", .string(app.primaryLocale)),
        ])
    }

    /// Returns an app as a resource of ours, with its relationships only.
    func hostedApp(_ id: AppID) throws -> Resource? {
      guard let app = try principal.app(id, in: database) else { return nil }
      return Resource(kind: .hostedApp, id: app.id.rawValue, attributes: [], linkages: ["app": .one(app.id.rawValue)])
    }

    func appVersion(_ id: Identifier<AppVersionRecord>) throws -> Resource? {
      guard let version = try principal.appVersion(id, in: database) else { return nil }
      var attributes: [(name: String, value: JSONOutput)] = [
        ("platform", .string(version.platform.rawValue)), ("versionString", .string(version.versionString)),
        ("appVersionState", .string(version.state.rawValue)), ("releaseType", .string(version.releaseType.rawValue)),
      ]
      if let date = version.earliestReleaseDate { attributes.append(("earliestReleaseDate", .date(date))) }
      attributes.append(("createdDate", .date(version.createdDate)))
      attributes.append(("downloadable", .boolean(version.state == .readyForDistribution)))
      let phased = try PhasedReleaseRecord.filter(Column("appVersionID") == id).fetchOne(database)
      return Resource(
        kind: .appStoreVersion, id: version.id.rawValue, attributes: attributes,
        linkages: [
          "app": .one(version.appID.rawValue), "appStoreVersionPhasedRelease": .one(phased?.id.rawValue),
        ])
    }

    func submission(_ id: Identifier<SubmissionRecord>) throws -> Resource? {
      guard let submission = try principal.submission(id, .store, in: database) else { return nil }
      var attributes: [(name: String, value: JSONOutput)] = []
      if let platform = submission.platform { attributes.append(("platform", .string(platform.rawValue))) }
      if let date = submission.submittedDate { attributes.append(("submittedDate", .date(date))) }
      attributes.append(("state", .string(submission.state.rawValue)))
      let appVersion = try String.fetchOne(
        database, sql: "SELECT appVersionID FROM submissionItem WHERE submissionID = ? AND appVersionID IS NOT NULL",
        arguments: [submission.id])
      return Resource(
        kind: .reviewSubmission, id: submission.id.rawValue, attributes: attributes,
        linkages: [
          "app": .one(submission.appID.rawValue), "appStoreVersionForReview": .one(appVersion),
          "submittedByActor": .one(try submission.submitter.flatMap(knownActor)),
          "lastUpdatedByActor": .one(try knownActor(submission.lastUpdater)),
        ])
    }

    func submissionItem(_ id: Identifier<SubmissionItemRecord>) throws -> Resource? {
      guard let (item, submission) = try principal.submissionItem(id, in: database), submission.context == .store else {
        return nil
      }
      return Resource(
        kind: .reviewSubmissionItem, id: item.id.rawValue, attributes: [("state", .string(item.state.rawValue))],
        linkages: [
          "appStoreVersion": .one(item.appVersionID?.rawValue),
          "backgroundAssetVersion": .one(item.versionID?.rawValue),
        ])
    }

    func betaSubmission(_ id: Identifier<SubmissionRecord>) throws -> Resource? {
      guard let submission = try principal.submission(id, .externalBeta, in: database) else { return nil }
      var attributes: [(name: String, value: JSONOutput)] = [
        ("betaReviewState", .string(BetaReviewState(submission.state).rawValue))
      ]
      if let date = submission.submittedDate { attributes.append(("submittedDate", .date(date))) }
      let version = try String.fetchOne(
        database, sql: "SELECT versionID FROM submissionItem WHERE submissionID = ? AND versionID IS NOT NULL",
        arguments: [submission.id])
      return Resource(
        kind: .betaReviewSubmission, id: submission.id.rawValue, attributes: attributes,
        linkages: ["backgroundAssetVersion": .one(version)])
    }

    // MARK: - Actors

    /// Returns a user, key or token of the principal's team.
    func actor(_ id: String) throws -> Resource? {
      if let user = try UserRecord.fetchOne(database, key: ["id": id]), user.teamID == principal.team {
        let names = user.name.split(separator: " ", maxSplits: 1).map(String.init)
        return Resource(
          kind: .actor, id: id,
          attributes: [
            ("actorType", "USER"), ("userFirstName", .string(names.first ?? "")),
            ("userLastName", .string(names.count > 1 ? names[1] : "")), ("userEmail", .string(user.email)),
          ])
      }
      let keyTeam = try KeyRecord.fetchOne(database, key: ["id": id])?.teamID
      let tokenTeam = try TokenRecord.fetchOne(database, key: ["id": id])?.teamID
      guard (keyTeam ?? tokenTeam) == principal.team else { return nil }
      return Resource(kind: .actor, id: id, attributes: [("actorType", "API_KEY"), ("apiKeyId", .string(id))])
    }

    /// Returns the id if the actor exists. The operator's command line has no actor.
    private func knownActor(_ id: String) throws -> String? { try actor(id)?.id }

    // MARK: - Webhooks

    func webhook(_ id: Identifier<WebhookRecord>) throws -> Resource? {
      guard let webhook = try principal.webhook(id, in: database) else { return nil }
      return Resource(
        kind: .webhook, id: webhook.id.rawValue,
        attributes: [
          ("enabled", .boolean(webhook.enabled)), ("eventTypes", .strings(webhook.eventTypes.map(\.rawValue))),
          ("name", .string(webhook.name)), ("url", .string(webhook.url)),
        ], linkages: ["app": .one(webhook.appID.rawValue)])
    }

    func delivery(_ id: Identifier<DeliveryRecord>) throws -> Resource? {
      guard let (delivery, _) = try principal.delivery(id, in: database) else { return nil }
      var attributes: [(name: String, value: JSONOutput)] = [
        ("createdDate", .date(delivery.createdDate)), ("deliveryState", .string(delivery.state.rawValue)),
      ]
      if let message = delivery.errorMessage { attributes.append(("errorMessage", .string(message))) }
      attributes.append(("redelivery", .boolean(delivery.redelivery)))
      if let date = delivery.sentDate { attributes.append(("sentDate", .date(date))) }
      attributes.append(("request", ["url": .string(delivery.url)]))
      if let status = delivery.statusCode {
        attributes.append(
          ("response", ["httpStatusCode": .integer(Int64(status)), "body": .string(delivery.responseBody ?? "")]))
      }
      return Resource(
        kind: .webhookDelivery, id: delivery.id.rawValue, attributes: attributes,
        linkages: ["event": .one(delivery.eventID.rawValue)])
    }

    /// A ping's event has no event type.
    func event(_ id: Identifier<EventRecord>) throws -> Resource? {
      guard let event = try EventRecord.fetchOne(database, key: ["id": id]),
        try principal.app(event.appID, in: database) != nil
      else { return nil }
      var attributes: [(name: String, value: JSONOutput)] = []
      if let type = event.eventType { attributes.append(("eventType", .string(type.rawValue))) }
      attributes += [
        ("payload", .string(event.payload)), ("ping", .boolean(event.ping)), ("createdDate", .date(event.createdDate)),
      ]
      return Resource(kind: .webhookEvent, id: event.id.rawValue, attributes: attributes)
    }
  }
#endif
