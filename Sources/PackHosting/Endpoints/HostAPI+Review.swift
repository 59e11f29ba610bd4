#if Hosting
  import GRDB

  extension HostAPI {
    private static var submissionParameters: [ParameterSchema] {
      [
        .fields(.reviewSubmission), .fields(.app), .fields(.reviewSubmissionItem), .fields(.appStoreVersion),
        .fields(.actor),
        .include(["app", "items", "appStoreVersionForReview", "submittedByActor", "lastUpdatedByActor"]),
        .limit("items"),
      ]
    }

    private static let submissionIncludes: [ResourceKind] = [.app, .reviewSubmissionItem, .appStoreVersion, .actor]

    private static var submissionFilters: [ParameterSchema] {
      [
        .filter("platform", .names(ApplePlatform.allCases.map(\.rawValue))),
        .filter("state", .names(SubmissionStates.State.allCases.map(\.rawValue))), .limit,
      ]
    }

    private static let platform = BodySchema.Attribute(name: "platform", schema: .values(of: ApplePlatform.self))

    var submissionRoutes: [Route] {
      [
        Route(
          method: .get, path: "/v1/reviewSubmissions", summary: "List the review submissions of apps",
          parameters: [.filter("app", .texts, isRequired: true)] + Self.submissionFilters + Self.submissionParameters,
          included: Self.submissionIncludes, result: .many(.reviewSubmission),
          handle: many(.reviewSubmission) { Self.submissions($0, ofApps: $0.query.filters["app"] ?? []) }),
        Route(
          method: .get, path: "/v1/apps/{id}/reviewSubmissions", summary: "List the review submissions of an app",
          parameters: Self.submissionFilters + Self.submissionParameters, included: Self.submissionIncludes,
          result: .many(.reviewSubmission),
          handle: many(.reviewSubmission, of: .app) { Self.submissions($0, ofApps: [$0.id]) }),
        Route(
          method: .post, path: "/v1/reviewSubmissions", summary: "Create a draft of a review submission",
          right: .managePacks,
          body: BodySchema(
            type: "reviewSubmissions", name: "ReviewSubmissionCreateRequest", attributes: [Self.platform],
            relationships: [.init(name: "app", type: "apps", isRequired: true)]), result: .one(.reviewSubmission)
        ) { call in
          let body = try call.requireBody()
          let submission = try await SubmissionCommands(context).create(
            app: AppID(rawValue: try body.required(body.related("app"))), platform: body.value("platform"),
            by: call.principal)
          return try await one(.reviewSubmission, submission.id.rawValue, call, isCreated: true)
        },
        Route(
          method: .get, path: "/v1/reviewSubmissions/{id}", summary: "Read a review submission",
          parameters: Self.submissionParameters, included: Self.submissionIncludes, result: .one(.reviewSubmission),
          handle: one(.reviewSubmission)),
        Route(
          method: .patch, path: "/v1/reviewSubmissions/{id}", summary: "Submit or cancel a review submission",
          right: .managePacks,
          body: BodySchema(
            type: "reviewSubmissions", name: "ReviewSubmissionUpdateRequest", hasID: true,
            attributes: [
              Self.platform, .init(name: "submitted", schema: .boolean), .init(name: "canceled", schema: .boolean),
            ]), result: .one(.reviewSubmission), handle: updateSubmission),
      ] + itemRoutes + betaRoutes
    }

    /// The submissions of apps that the caller may see: the reader skips others, so they must not be counted either.
    private static func submissions(_ call: Call, ofApps apps: [String]) -> ResourceList {
      var conditions: [ResourceList.Condition] = [
        .init("context = ?", ReleaseContext.store.rawValue), .init("appID", in: apps),
        .init("appID IN (SELECT id FROM app WHERE teamID = ?)", call.principal.team.rawValue),
      ]
      if let app = call.principal.app { conditions.append(.init("appID = ?", app.rawValue)) }
      conditions += [call.condition("platform", "platform"), call.condition("state", "state")].compactMap { $0 }
      return ResourceList("submission", conditions)
    }

    private func updateSubmission(_ call: Call) async throws -> Answer {
      let body = try call.requireBody(), commands = SubmissionCommands(context)
      let id = Identifier<SubmissionRecord>(rawValue: call.id)
      if body.flag("submitted") == true, body.flag("canceled") == true {
        throw APIError.attributeInvalid("canceled", "cannot be true together with 'submitted'; send one of them")
      }
      try await requireUnchanged(body, id, call)
      if let platform: ApplePlatform = body.value("platform") {
        _ = try await commands.setPlatform(platform, of: id, by: call.principal)
      }
      if body.flag("submitted") == true { _ = try await commands.submit(id, by: call.principal) }
      if body.flag("canceled") == true { _ = try await commands.cancel(id, by: call.principal) }
      return try await one(.reviewSubmission, call.id, call)
    }

    /// Some clients send all attributes: `false` is valid while it is the present value.
    private func requireUnchanged(_ body: Body, _ id: Identifier<SubmissionRecord>, _ call: Call) async throws {
      guard body.flag("submitted") == false || body.flag("canceled") == false else { return }
      let found = try await context.database.read { try call.principal.submission(id, .store, in: $0) }
      guard let found else { throw APIError.notFound("reviewSubmissions", id.rawValue) }
      if body.flag("submitted") == false, body.flag("canceled") != true, found.submittedDate != nil {
        throw APIError.invalidState("submitted", "cannot become false; send 'canceled' as true to take it back")
      }
      if body.flag("canceled") == false, found.state == .canceling {
        throw APIError.invalidState("canceled", "cannot become false; create another submission")
      }
    }

    // MARK: - Items

    private var itemRoutes: [Route] {
      let others = ResourceKind.otherItems
      return [
        Route(
          method: .get, path: "/v1/reviewSubmissions/{id}/items", summary: "List the items of a review submission",
          parameters: [
            .fields(.reviewSubmissionItem), .fields(.appStoreVersion), .fields(.backgroundAssetVersion), .limit,
            .include(["appStoreVersion", "backgroundAssetVersion"] + others.map(\.name)),
          ] + Set(others.map(\.type)).sorted().map { .fields(other: $0) },
          included: [.appStoreVersion, .backgroundAssetVersion], result: .many(.reviewSubmissionItem),
          handle: many(.reviewSubmissionItem, of: .reviewSubmission) { Self.items($0) }),
        Route(
          method: .get, path: "/v1/reviewSubmissions/{id}/relationships/items",
          summary: "List the ids of a review submission's items", parameters: [.limit],
          result: .linkages(.reviewSubmissionItem),
          handle: linkages(.reviewSubmissionItem, of: .reviewSubmission) { Self.items($0) }),
        Route(
          method: .post, path: "/v1/reviewSubmissionItems", summary: "Add an item to a draft", right: .managePacks,
          body: BodySchema(
            type: "reviewSubmissionItems", name: "ReviewSubmissionItemCreateRequest",
            relationships: [
              .init(name: "reviewSubmission", type: "reviewSubmissions", isRequired: true),
              .init(name: "backgroundAssetVersion", type: "backgroundAssetVersions"),
              .init(name: "appStoreVersion", type: "appStoreVersions"),
            ] + others.map { .init(name: $0.name, type: $0.type) }), result: .one(.reviewSubmissionItem),
          handle: createItem),
        Route(
          method: .patch, path: "/v1/reviewSubmissionItems/{id}", summary: "Resolve or remove an item",
          right: .managePacks,
          body: BodySchema(
            type: "reviewSubmissionItems", name: "ReviewSubmissionItemUpdateRequest", hasID: true,
            attributes: [.init(name: "resolved", schema: .boolean), .init(name: "removed", schema: .boolean)]),
          result: .one(.reviewSubmissionItem)
        ) { call in
          let body = try call.requireBody()
          _ = try await SubmissionCommands(context).update(
            .init(rawValue: call.id), resolved: body.flag("resolved"), removed: body.flag("removed"), by: call.principal
          )
          return try await one(.reviewSubmissionItem, call.id, call)
        },
        Route(
          method: .delete, path: "/v1/reviewSubmissionItems/{id}", summary: "Delete an item of a draft",
          right: .managePacks, result: .nothing
        ) { call in
          try await SubmissionCommands(context).remove(.init(rawValue: call.id), by: call.principal)
          return Answer(204)
        },
      ]
    }

    private static func items(_ call: Call) -> ResourceList {
      .init("submissionItem", [.init("submissionID = ?", call.id)], sort: "id")
    }

    private func createItem(_ call: Call) async throws -> Answer {
      let body = try call.requireBody()
      let subjects = body.relatedNames.subtracting(["reviewSubmission"]).sorted()
      if let other = subjects.first(where: { name in ResourceKind.otherItems.contains { $0.name == name } }) {
        throw APIError.relationshipNotOffered(other)
      }
      guard subjects.count == 1 else { throw APIError.relationshipRequired("backgroundAssetVersion") }
      let subject: SubmissionSubject =
        if let version = body.related("backgroundAssetVersion") { .version(.init(rawValue: version)) } else {
          .appVersion(.init(rawValue: try body.required(body.related("appStoreVersion"))))
        }
      let item = try await SubmissionCommands(context).add(
        subject, to: .init(rawValue: try body.required(body.related("reviewSubmission"))), by: call.principal)
      return try await one(.reviewSubmissionItem, item.id.rawValue, call, isCreated: true)
    }

    // MARK: - Beta review

    private var betaRoutes: [Route] {
      let kind = ResourceKind.betaReviewSubmission
      return [
        Route(
          method: .post, path: kind.path, summary: "Submit a version for external testers", right: .managePacks,
          body: BodySchema(
            type: kind.type, name: "BetaBackgroundAssetReviewSubmissionCreateRequest",
            relationships: [
              .init(name: "backgroundAssetVersion", type: "backgroundAssetVersions", isRequired: true)
            ]), result: .one(kind)
        ) { call in
          let body = try call.requireBody()
          let submission = try await SubmissionCommands(context).submitBeta(
            .init(rawValue: try body.required(body.related("backgroundAssetVersion"))), by: call.principal)
          return try await one(kind, submission.id.rawValue, call, isCreated: true)
        },
        Route(
          method: .get, path: kind.path + "/{id}", summary: "Read a beta review submission",
          parameters: [.fields(kind), .fields(.backgroundAssetVersion), .include(["backgroundAssetVersion"])],
          included: [.backgroundAssetVersion], result: .one(kind), handle: one(kind)),
      ]
    }
  }
#endif
