#if Hosting
  import Crypto
  import Foundation
  import GRDB
  import PackAuthoring
  import PackFormats
  import PackStore

  /// Exchanges roots with the machine that signs the store channel of an app.
  struct RootCommands: Sendable {
    let context: HostContext

    init(_ context: HostContext) { self.context = context }

    /// Returns the request for the newest root.
    ///
    /// - Throws: `APIError` 403, 404; 409 if no root waits for a signature.
    func request(of id: AppID, by principal: Principal) async throws -> RootRequest {
      try principal.require(.manageApps)
      let (app, record) = try await context.database.read { database in
        guard let app = try principal.app(id, in: database) else { throw APIError.notFound("apps", id.rawValue) }
        guard
          let record = try RootRequestRecord.fetchOne(database, key: ["appID": id, "context": ReleaseContext.store])
        else { throw Self.nothingWaits(app) }
        return (app, record)
      }
      let site = try Site(existingAt: AppFolder(id, in: context.folder).site)
      let published = try site.rootBytes(of: .live)
      guard published.map({ Data(SHA256.hash(data: $0)) }) == record.predecessor else { throw Self.nothingWaits(app) }
      let root = try SignedSiteRoot(decoding: [UInt8](record.root), file: "root").root
      let before = try published.map { try SignedSiteRoot(decoding: $0, file: "root").root }
      return RootRequest(
        bundleID: app.bundleID, revision: record.revision, predecessor: published.map { Data($0) }, root: record.root,
        difference: RootDifference.lines(from: before, to: root))
    }

    /// Accepts a signed root: exactly the newest request's root, signed for the app's root key. The host then writes it.
    ///
    /// - Throws: `APIError` 403, 404; 409 for another root, another revision or another key; `corrupt`, `untrusted` for bytes that
    ///   are not a signed root.
    func importRoot(_ text: String, app id: AppID, by principal: Principal) async throws {
      try principal.require(.manageApps)
      let answer = try RootAnswer(text: text), bytes = [UInt8](answer.root)
      let signed = try SignedSiteRoot(decoding: bytes, file: "answer")
      try await context.database.write { database in
        guard let app = try principal.app(id, in: database) else { throw APIError.notFound("apps", id.rawValue) }
        guard
          let record = try RootRequestRecord.fetchOne(database, key: ["appID": id, "context": ReleaseContext.store]),
          var channel = try ChannelRecord.find(id, .store, in: database), channel.intendedRoot == nil,
          channel.alarm == nil, record.predecessor == channel.writtenDigest
        else { throw Self.nothingWaits(app) }
        guard answer.revision == record.revision, record.revision == channel.wantedRevision else {
          throw Self.fault(
            "is of revision \(answer.revision), and the newest is \(channel.wantedRevision); sign the newest request")
        }
        let wanted = try SignedSiteRoot(decoding: [UInt8](record.root), file: "root").root
        guard signed.root == wanted else { throw Self.fault("is not the requested one; sign the newest request") }
        let key = try DelegationRecord.fetchOne(database, key: ["appID": id])?.rootKey
        guard let authority = signed.authority, authority.rootKeys.contains(where: { $0.description == key }) else {
          throw Self.fault("is signed by another key than the app's; use its root key")
        }
        channel.intendedRoot = Data(bytes)
        channel.intendedRevision = record.revision
        try channel.update(database)
        try record.delete(database)
      }
    }

    private static func nothingWaits(_ app: AppRecord) -> APIError {
      .entityState("app '\(app.bundleID)': no root waits for a signature")
    }

    private static func fault(_ detail: String) -> APIError { .attributeInvalid("root", detail) }
  }
#endif
