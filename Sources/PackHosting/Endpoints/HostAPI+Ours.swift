#if Hosting
  import GRDB
  import PackAuthoring

  // Operations for which Apple has no word. They have paths and types of their own.

  extension ResourceKind {
    /// An app with the attributes for which Apple has no word.
    static let hostedApp = ResourceKind(
      type: "hostedApps", name: "HostedApp", path: "/packstore/v1/apps",
      attributes: ["name", "bundleId", "sku", "primaryLocale"].map { .init(name: $0, schema: .text) } + [
        .init(name: "storeApprovals", schema: .integer(least: 0)),
        .init(name: "externalApprovals", schema: .integer(least: 0)),
        .init(name: "usedBytes", schema: .integer(least: 0)), .init(name: "byteLimit", schema: .integer(least: 0)),
        .init(name: "internalChannel", schema: .text), .init(name: "externalChannel", schema: .text),
        // The request that `packstore delegate` answers.
        .init(name: "delegationReleaseKey", schema: .text), .init(name: "delegationProduct", schema: .text),
        .init(name: "rootKey", schema: .text), .init(name: "delegationEndDate", schema: .date),
      ], relationships: [.init(name: "app", type: "apps")])

    static let review = ResourceKind(
      type: "reviews", name: "Review", path: "/packstore/v1/reviews",
      attributes: [.init(name: "submissionState", schema: .values(of: SubmissionStates.State.self))], relationships: [])

    static let stepBack = ResourceKind(
      type: "stepsBack", name: "StepBack", path: "/packstore/v1/stepsBack",
      attributes: [.init(name: "state", schema: .values(of: ReleaseState.self))], relationships: [])
  }

  extension HostAPI {
    var ownRoutes: [Route] {
      [
        Route(
          method: .post, path: "/packstore/v1/apps", summary: "Create an app", right: .manageApps,
          body: BodySchema(
            type: "hostedApps", name: "HostedAppCreateRequest",
            attributes: ["name", "bundleId", "sku"].map { .init(name: $0, schema: .text, isRequired: true) } + [
              .init(name: "primaryLocale", schema: .text), .init(name: "storeApprovals", schema: .integer(least: 0)),
              .init(name: "externalApprovals", schema: .integer(least: 0)),
            ]), result: .one(.hostedApp), handle: createApp),
        Route(
          method: .get, path: "/packstore/v1/apps/{id}", summary: "Read the channels, limits and delegation of an app",
          right: .manageApps, result: .one(.hostedApp)
        ) { call in .one(try await hostedApp(AppID(rawValue: call.id), call), call) },
        Route(
          method: .patch, path: "/packstore/v1/apps/{id}", summary: "Import the answer to an app's delegation request",
          right: .manageApps,
          body: BodySchema(
            type: "hostedApps", name: "HostedAppUpdateRequest", hasID: true,
            attributes: [.init(name: "delegation", schema: .text, isRequired: true)]), result: .one(.hostedApp)
        ) { call in
          let body = try call.requireBody(), id = AppID(rawValue: call.id)
          _ = try await AppCommands(context).importDelegation(
            try body.required(body.text("delegation")), app: id, by: call.principal)
          return .one(try await hostedApp(id, call), call)
        },
        Route(
          method: .post, path: "/packstore/v1/reviews", summary: "Approve or reject a submission", right: .release,
          body: BodySchema(
            type: "reviews", name: "ReviewCreateRequest",
            attributes: [.init(name: "decision", schema: .enumeration(["APPROVE", "REJECT"]), isRequired: true)],
            relationships: [
              .init(name: "reviewSubmission", type: "reviewSubmissions"),
              .init(name: "betaReviewSubmission", type: ResourceKind.betaReviewSubmission.type),
              .init(name: "items", type: "reviewSubmissionItems", isMany: true),
            ]), result: .one(.review), handle: review),
        Route(
          method: .post, path: "/packstore/v1/stepsBack", summary: "Make a superseded version live again",
          right: .release,
          body: BodySchema(
            type: "stepsBack", name: "StepBackCreateRequest",
            attributes: [.init(name: "context", schema: .values(of: ReleaseContext.self), isRequired: true)],
            relationships: [
              .init(name: "backgroundAssetVersion", type: "backgroundAssetVersions", isRequired: true)
            ]), result: .one(.stepBack), handle: stepBack),
      ]
    }

    // MARK: - Apps

    private func createApp(_ call: Call) async throws -> Answer {
      let body = try call.requireBody()
      var input = AppInput(
        name: try body.required(body.text("name")), bundleID: try body.required(body.text("bundleId")),
        sku: try body.required(body.text("sku")))
      input.primaryLocale = body.text("primaryLocale") ?? input.primaryLocale
      input.storeApprovals = body.integer("storeApprovals").map { Int(clamping: $0) } ?? input.storeApprovals
      input.externalApprovals = body.integer("externalApprovals").map { Int(clamping: $0) } ?? input.externalApprovals
      let app = try await AppCommands(context).create(input, by: call.principal)
      return .one(try await hostedApp(app.id, call), call, isCreated: true)
    }

    private func hostedApp(_ id: AppID, _ call: Call) async throws -> Resource {
      let request = try await AppCommands(context).delegationRequest(of: id, by: call.principal)
      return try await read(call) { reader in
        guard let app = try call.principal.app(id, in: reader.database) else {
          throw APIError.notFound("hostedApps", id.rawValue)
        }
        let delegation = try DelegationRecord.fetchOne(reader.database, key: ["appID": id])
        let used = try PackUsage.reservedByteCount(of: id, in: reader.database)
        return Self.resource(app, request, delegation, used)
      }
    }

    private static func resource(
      _ app: AppRecord, _ request: SiteKey.DelegationRequest, _ delegation: DelegationRecord?, _ used: Int64
    ) -> Resource {
      var attributes: [(name: String, value: JSONOutput)] = [
        ("name", .string(app.name)), ("bundleId", .string(app.bundleID)), ("sku", .string(app.sku)),
        ("primaryLocale", .string(app.primaryLocale)), ("storeApprovals", .integer(Int64(app.storeApprovals))),
        ("externalApprovals", .integer(Int64(app.externalApprovals))), ("usedBytes", .integer(used)),
        ("byteLimit", .integer(app.byteLimit)), ("internalChannel", .string(app.internalChannel)),
        ("externalChannel", .string(app.externalChannel)),
        ("delegationReleaseKey", .string(request.releaseKey.description)),
        ("delegationProduct", .string("\(request.product)")),
      ]
      if let key = delegation?.rootKey { attributes.append(("rootKey", .string(key))) }
      if let date = delegation?.endDate { attributes.append(("delegationEndDate", .date(date))) }
      return Resource(
        kind: .hostedApp, id: app.id.rawValue, attributes: attributes, linkages: ["app": .one(app.id.rawValue)])
    }

    // MARK: - Review

    private func review(_ call: Call) async throws -> Answer {
      let body = try call.requireBody(), commands = ReviewCommands(context)
      let ids = [body.related("reviewSubmission"), body.related("betaReviewSubmission")].compactMap { $0 }
      guard let id = ids.first, ids.count == 1 else { throw APIError.relationshipRequired("reviewSubmission") }
      let submission: SubmissionRecord
      if body.text("decision") == "APPROVE" {
        submission = try await commands.approve(.init(rawValue: id), by: call.principal)
      } else {
        let items = Set(body.allRelated("items").map { Identifier<SubmissionItemRecord>(rawValue: $0) })
        submission = try await commands.reject(.init(rawValue: id), items: items, by: call.principal)
      }
      let resource = Resource(
        kind: .review, id: submission.id.rawValue, attributes: [("submissionState", .string(submission.state.rawValue))]
      )
      return .one(resource, call, isCreated: true)
    }

    private func stepBack(_ call: Call) async throws -> Answer {
      let body = try call.requireBody()
      let releaseContext: ReleaseContext = try body.required(body.value("context"))
      let version = try body.required(body.related("backgroundAssetVersion"))
      let found = try await context.database.read { database -> ReleaseRecord? in
        guard let version = try call.principal.version(.init(rawValue: version), in: database) else { return nil }
        return try ReleaseRecord.find(version.id, releaseContext, in: database)
      }
      guard let found else { throw APIError.relationshipInvalid("backgroundAssetVersion", version) }
      let release = try await ReleaseCommands(context).stepBack(to: found.id, by: call.principal)
      return .one(
        Resource(kind: .stepBack, id: release.id.rawValue, attributes: [("state", .string(release.state.rawValue))]),
        call, isCreated: true)
    }
  }
#endif
