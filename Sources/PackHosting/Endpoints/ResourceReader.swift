#if Hosting
  import GRDB

  /// Reads resources in one transaction, as one principal sees them.
  struct ResourceReader {
    let database: Database
    let principal: Principal
    let signer: PartURLSigner

    /// Scheme and host of links and upload URLs.
    let base: String
    let now: Timestamp

    /// Returns a resource of any type; `nil` for an unknown id, and for a resource that the principal may not see.
    func resource(_ type: String, _ id: String) throws -> Resource? {
      switch type {
      case ResourceKind.app.type: try app(AppID(rawValue: id))
      case ResourceKind.appStoreVersion.type: try appVersion(.init(rawValue: id))
      case ResourceKind.backgroundAsset.type: try pack(.init(rawValue: id))
      case ResourceKind.backgroundAssetVersion.type: try version(.init(rawValue: id))
      case ResourceKind.backgroundAssetUploadFile.type: try uploadFile(.init(rawValue: id))
      case ResourceKind.reviewSubmission.type: try submission(.init(rawValue: id))
      case ResourceKind.reviewSubmissionItem.type: try submissionItem(.init(rawValue: id))
      case ResourceKind.betaReviewSubmission.type: try betaSubmission(.init(rawValue: id))
      case ResourceKind.actor.type: try actor(id)
      case ResourceKind.webhook.type: try webhook(.init(rawValue: id))
      case ResourceKind.webhookDelivery.type: try delivery(.init(rawValue: id))
      case ResourceKind.webhookEvent.type: try event(.init(rawValue: id))
      case ResourceKind.appStoreVersionPhasedRelease.type: try phasedRelease(.init(rawValue: id))
      case ResourceKind.upload.type: try upload(.init(rawValue: id))
      case ResourceKind.rollout.type: try rollout(.init(rawValue: id))
      case ResourceKind.hostedApp.type: try hostedApp(AppID(rawValue: id))
      default: try release(type, id)
      }
    }

    private func release(_ type: String, _ id: String) throws -> Resource? {
      let context = ReleaseContext.allCases.first { ResourceKind.release($0).type == type }
      return try context.flatMap { try release(.init(rawValue: id), $0) }
    }

    /// Returns a resource, or throws `NOT_FOUND`.
    func required(_ kind: ResourceKind, _ id: String) throws -> Resource {
      guard let resource = try resource(kind.type, id) else { throw APIError.notFound(kind.type, id) }
      return resource
    }

    // MARK: - Included resources

    /// Follows the requested relationships of resources. Relationships that this host does not have include nothing.
    ///
    /// - Returns: the resources, with linkages of included lists, and each included resource once.
    func include(_ query: Query, into primary: [Resource]) throws -> (primary: [Resource], included: [Resource]) {
      var primary = primary, included: [Resource] = []
      var seen: Set<[String]> = []
      for index in primary.indices {
        for name in query.includes {
          guard let relationship = primary[index].kind.relationship(name) else { continue }
          let limit = query.limits[name] ?? Assumptions.largestIncludedSize
          for id in try linkedIDs(&primary[index], relationship, limit: limit)
          where seen.insert([relationship.type, id]).inserted {
            if let resource = try resource(relationship.type, id) { included.append(resource) }
          }
        }
      }
      return (primary, included)
    }

    /// Returns the ids of a relationship, and adds the linkage of a list to the resource.
    private func linkedIDs(
      _ resource: inout Resource, _ relationship: ResourceKind.Relationship, limit: Int
    ) throws -> [String] {
      switch resource.linkages[relationship.name] {
      case .one(let id): return id.map { [$0] } ?? []
      case .many(let ids, _, _): return ids
      case nil: break
      }
      guard relationship.isMany, let list = Self.relatedList(resource.kind.type, resource.id, relationship.name) else {
        return []
      }
      let rows = try list.rows(after: nil, limit: limit, in: database)
      let ids = rows.prefix(limit).map(\.id)
      resource.linkages[relationship.name] = .many(ids, total: try list.count(in: database), limit: limit)
      return ids
    }

    /// The list behind a relationship to many.
    static func relatedList(_ type: String, _ id: String, _ name: String) -> ResourceList? {
      switch (type, name) {
      case ("apps", "backgroundAssets"): .init("pack", [.init("appID = ?", id)])
      case ("apps", "appStoreVersions"): .init("appVersion", [.init("appID = ?", id)])
      case ("apps", "reviewSubmissions"): .submissions(ofApp: id)
      case ("apps", "webhooks"): .init("webhook", [.init("appID = ?", id)])
      case ("backgroundAssets", "versions"): .init("packVersion", [.init("packID = ?", id)], sort: "number")
      case ("backgroundAssetVersions", "backgroundAssetUploadFiles"):
        .init("uploadFile", [.init("versionID = ?", id)])
      case ("reviewSubmissions", "items"): .init("submissionItem", [.init("submissionID = ?", id)], sort: "id")
      case ("webhooks", "deliveries"): .init("delivery", [.init("webhookID = ?", id)])
      default: nil
      }
    }

    // MARK: - Pages

    /// Reads a page of a list.
    func page(_ list: ResourceList, of kind: ResourceKind, _ query: Query) throws -> Page {
      let rows = try list.rows(after: query.cursor, limit: query.limit, in: database)
      let resources = try rows.prefix(query.limit).compactMap { try resource(kind.type, $0.id) }
      let next = rows.count > query.limit ? rows[query.limit - 1] : nil
      return Page(resources: resources, total: try list.count(in: database), next: next)
    }
  }
#endif
