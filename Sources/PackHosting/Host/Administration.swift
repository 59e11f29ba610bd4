#if Hosting
  import Foundation
  import GRDB
  import PackAuthoring
  import PackStore

  /// The commands of `packstore-host` on the host's machine, for its operator.
  package struct Administration: Sendable {
    private let service: HostService

    /// - Throws: errors of the folder and the database.
    package init(folder: String) throws {
      // Links are made by the server only.
      service = try HostService(at: FilePath(folder), origin: "")
    }

    private var context: HostContext { service.context }

    // MARK: - Apps

    package struct App: Encodable, Sendable {
      package let id, bundleID, name, team: String
      package let internalChannel, externalChannel, site: String
      package let publishes: Bool

      /// Channels that the host does not write, with the reasons.
      package let alarms: [String]
    }

    package func createApp(
      name: String, bundleID: String, sku: String?, team: String, storeApprovals: Int, externalApprovals: Int,
      signsOffline: Bool = false
    ) async throws -> App {
      let team = try await AccountCommands(context).team(team)
      var input = AppInput(
        name: name, bundleID: bundleID, sku: sku ?? bundleID, storeApprovals: storeApprovals,
        externalApprovals: externalApprovals)
      input.signsOffline = signsOffline
      let app = try await AppCommands(context).create(input, by: AccountCommands.operatorOf(team.id))
      return try await context.database.read { try summary(of: app, in: $0) }
    }

    package func apps() async throws -> [App] {
      try await context.database.read { database in
        try AppRecord.order(Column("createdDate")).fetchAll(database).map { try summary(of: $0, in: database) }
      }
    }

    /// Replaces the name of the internal or the external channel.
    package func replaceChannel(app: String, isInternal: Bool) async throws -> App {
      let (record, principal) = try await find(app)
      let next = try await AppCommands(context).replaceChannel(
        isInternal ? .internalBeta : .externalBeta, of: record.id, by: principal)
      return try await context.database.read { try summary(of: next, in: $0) }
    }

    /// Sets how many different people must approve, for the store and for external testers; `nil` leaves a number unchanged.
    package func setApprovals(app: String, store: Int?, external: Int?) async throws {
      let (record, _) = try await find(app)
      guard (0...2).contains(store ?? 0), (0...1).contains(external ?? 0) else {
        throw APIError.attributeInvalid("approvals", "not 0 to 2 for the store and 0 or 1 for external testers")
      }
      try await context.database.write { database in
        var app = try AppRecord.find(database, key: ["id": record.id])
        app.storeApprovals = store ?? app.storeApprovals
        app.externalApprovals = external ?? app.externalApprovals
        try app.update(database)
      }
    }

    /// Sets the share of devices that get a version of the store or of external testers.
    ///
    /// - Parameter share: a percentage such as `5%`.
    package func setShare(
      app: String, pack: String, version: Int64, isExternal: Bool, share: String
    ) async throws {
      let (record, principal) = try await find(app)
      let share = try DeviceShare(share)
      let release = try await context.database.read { database in
        try ReleaseRecord.fetchOne(
          database,
          sql: """
            SELECT r.* FROM release r JOIN packVersion v ON v.id = r.versionID JOIN pack p ON p.id = r.packID
            WHERE r.appID = ? AND p.identifier = ? AND v.number = ? AND r.context = ?
            """,
          arguments: [record.id, pack, version, isExternal ? ReleaseContext.externalBeta : ReleaseContext.store])
      }
      guard let release else { throw APIError.notFound("backgroundAssetVersions", "\(pack)@\(version)") }
      _ = try await ReleaseCommands(context).setShare(Int(share.tenThousandths), of: release.id, by: principal)
    }

    private func summary(of app: AppRecord, in database: Database) throws -> App {
      let delegation = try DelegationRecord.fetchOne(database, key: ["appID": app.id])
      let team = try TeamRecord.fetchOne(database, key: ["id": app.teamID])
      return App(
        id: app.id.rawValue, bundleID: app.bundleID, name: app.name, team: team?.name ?? "",
        internalChannel: app.internalChannel, externalChannel: app.externalChannel,
        site: AppFolder(app.id, in: context.folder).site.string, publishes: delegation?.rootKey != nil,
        alarms: try String.fetchAll(
          database, sql: "SELECT name || ': ' || alarm FROM channel WHERE appID = ? AND alarm IS NOT NULL",
          arguments: [app.id]))
    }

    // MARK: - Delegations

    /// Returns the request for the delegation of an app's release key, as JSON.
    package func delegationRequest(app: String) async throws -> String {
      let (record, principal) = try await find(app)
      let request = try await AppCommands(context).delegationRequest(of: record.id, by: principal)
      let encoder = JSONEncoder()
      encoder.outputFormatting = [.prettyPrinted, .sortedKeys]
      return String(decoding: try encoder.encode(request), as: UTF8.self) + "\n"
    }

    /// Accepts the answer to an app's request.
    ///
    /// - Returns: the root key that devices trust, as text.
    package func importDelegation(app: String, answer: String) async throws -> String {
      let (record, principal) = try await find(app)
      return try await AppCommands(context).importDelegation(answer, app: record.id, by: principal).rootKey ?? ""
    }

    /// Answers a request with a root key. It runs where the root key is, and needs no host.
    package static func answer(request: String, rootKey: String, days: Int?) throws -> String {
      let decoded: SiteKey.DelegationRequest
      do { decoded = try JSONDecoder().decode(SiteKey.DelegationRequest.self, from: Data(request.utf8)) } catch {
        throw PackStoreError(.corrupt, "not a delegation request; create one with 'packstore-host delegation request'")
      }
      return try SiteKey.answer(decoded, by: FilePath(rootKey), validity: days.map { .seconds(Int64($0) * 86_400) })
    }

    /// Finds an app by id or bundle id.
    private func find(_ app: String) async throws -> (AppRecord, Principal) {
      let found = try await context.database.read { database in
        try AppRecord.fetchOne(database, sql: "SELECT * FROM app WHERE id = ? OR bundleID = ?", arguments: [app, app])
      }
      guard let found else { throw APIError.notFound("apps", app) }
      return (found, AccountCommands.operatorOf(found.teamID))
    }

    // MARK: - Roots that are signed offline

    /// Returns the request for the newest root of an app's store channel, as JSON.
    package func rootRequest(app: String) async throws -> String {
      let (record, principal) = try await find(app)
      return try await RootCommands(context).request(of: record.id, by: principal).text
    }

    /// Accepts a signed root, which the service then writes.
    package func importRoot(app: String, answer: String) async throws {
      let (record, principal) = try await find(app)
      try await RootCommands(context).importRoot(answer, app: record.id, by: principal)
    }

    /// Returns the change of a request in words. It runs where the key is, and needs no host.
    package static func difference(ofRootRequest request: String) throws -> [String] {
      try OfflineRootSigner(request).difference
    }

    /// Signs the root of a request.
    ///
    /// - Parameters:
    ///   - key: the key's file.
    ///   - note: the file that records the signed roots.
    /// - Returns: the text of the answer.
    package static func signRoot(request: String, key: String, note: String) throws -> String {
      try OfflineRootSigner(request).sign(key: FilePath(key), note: FilePath(note))
    }

    // MARK: - Mail

    /// Adds and removes recipients of the mails about an app.
    ///
    /// - Returns: the recipients.
    package func changeMailRecipients(app: String, adding: [String], removing: [String]) async throws -> [String] {
      let (record, principal) = try await find(app), commands = MailCommands(context)
      for address in removing {
        let isPresent = try await commands.remove(address, from: record.id, by: principal)
        guard isPresent else { throw APIError.notFound("recipients", address) }
      }
      for address in adding { try await commands.add(address, to: record.id, by: principal) }
      return try await commands.recipients(of: record.id, by: principal).map(\.rawValue)
    }

    // MARK: - Keys and tokens

    package struct Key: Encodable, Sendable {
      package let id, issuer, file: String
    }

    /// Creates a key, and writes its private half to a new file that only its owner can read.
    ///
    /// - Parameter email: the owner of an individual key; `nil` for a team key.
    package func createKey(
      name: String, roles: [String], email: String?, team: String, file: String
    ) async throws -> Key {
      let roles = try Self.roles(roles), team = try await AccountCommands(context).team(team)
      guard !pathExists(FilePath(file)) else {
        throw PackStoreError(.exists, "exists already", about: .file(file), detail: .fileExists)
      }
      let key = try await AccountCommands(context).createKey(name, roles: roles, email: email, team: team.id)
      let output = try NewFile(FilePlace(FilePath(file)), isSecret: true)
      try output.write(Array(key.privateKey.utf8))
      try output.sync()
      return Key(id: key.id, issuer: key.issuer, file: file)
    }

    package struct Token: Encodable, Sendable {
      package let id, token: String
    }

    /// Creates a token for build jobs. Its text is returned once.
    ///
    /// - Parameter days: `nil` for no end.
    package func createToken(
      name: String, roles: [String], app: String?, team: String, days: Int?
    ) async throws -> Token {
      let roles = try Self.roles(roles)
      let record = if let app { try await find(app).0 } else { nil as AppRecord? }
      let owner = if let record { record.teamID } else { try await AccountCommands(context).team(team).id }
      let text = BuildToken.generate(context.random)
      guard let hash = BuildToken.hash(text) else { throw APIError.internalFault }
      let token = TokenRecord(
        id: .init(context.random), teamID: owner, name: name, hash: hash, roles: roles, appID: record?.id,
        createdDate: context.now, expirationDate: days.map { context.now.adding(seconds: Int64($0) * 86_400) },
        revokedDate: nil)
      try await context.database.write { try token.insert($0) }
      return Token(id: token.id.rawValue, token: text)
    }

    /// Revokes a key or a token.
    ///
    /// - Returns: whether a valid one had this id.
    package func revoke(_ id: String) async throws -> Bool { try await AccountCommands(context).revoke(id) }

    private static func roles(_ names: [String]) throws -> [Role] {
      try names.map { name in
        guard let role = Role(rawValue: name.uppercased().replacing("-", with: "_")) else {
          throw APIError.attributeType("roles", valid: Role.allCases.map(\.rawValue))
        }
        return role
      }
    }

    // MARK: - Roots

    package enum Decision: Sendable { case adopt, overrule }

    /// Ends the alarms of an app's channels. The service must not run.
    package func reconcile(app: String, _ decision: Decision?) async throws -> App {
      let lock = try service.folder.lock()
      defer { withExtendedLifetime(lock) {} }
      let (record, _) = try await find(app)
      guard let publisher = try await service.publisher(of: record.id) else {
        throw APIError.entityState("app '\(app)': has no delegation; import one first")
      }
      switch decision {
      case .adopt: try await publisher.adopt()
      case .overrule: try await publisher.overrule()
      case nil: try await publisher.reconcile()
      }
      return try await context.database.read { try summary(of: record, in: $0) }
    }

    // MARK: - State

    package struct Finding: Encodable, Sendable {
      package let name, state: String

      /// Whether the operator must act.
      package let isFault: Bool
    }

    /// Reports the state of the host: alarms, stuck jobs, and the protection of workers on this machine.
    package func findings() async throws -> [Finding] {
      let limit = context.now.adding(seconds: Self.delegationWarning)
      return try await context.database.read { database in
        let waiting = try Int.fetchOne(
          database, sql: "SELECT count(*) FROM job WHERE state = ?", arguments: [JobRecord.State.waiting])
        return [
          Finding(name: "worker namespaces", state: Self.namespaces, isFault: false),
          Finding(name: "worker files", state: WorkerSandbox.files, isFault: false),
          Finding(name: "worker system calls", state: WorkerSandbox.calls, isFault: false),
          Finding(name: "worker limits", state: "processor time, memory, file size, open files", isFault: false),
          Finding(name: "waiting jobs", state: "\(waiting ?? 0)", isFault: false),
        ]
          + (try Self.faults(
            "stuck job", "SELECT versionID || ': ' || coalesce(cause, '') FROM job WHERE state = ?",
            [JobRecord.State.stuck], in: database))
          + (try Self.faults(
            "root", "SELECT appID || ' ' || name || ': ' || alarm FROM channel WHERE alarm IS NOT NULL", [],
            in: database))
          + (try String.fetchAll(
            database, sql: "SELECT appID || ': revision ' || revision || ' waits for a signature' FROM rootRequest"
          ).map { Finding(name: "root request", state: $0, isFault: false) })
          + (try Self.faults(
            "delta",
            "SELECT toVersionID || ': ' || coalesce(cause, '') FROM deltaJob WHERE state = ?", [JobRecord.State.stuck],
            in: database))
          + (try Self.faults(
            "mail",
            "SELECT appID || ' to ' || recipient || ': ' || max(errorMessage) FROM mail WHERE state = ? AND createdDate > ? GROUP BY appID, recipient",
            [DeliveryState.failed, context.now.adding(seconds: -Self.mailWarning)], in: database))
          + (try Self.faults(
            "delegation", "SELECT appID || ': missing; answer its request' FROM delegation WHERE rootKey IS NULL", [],
            in: database))
          + (try Self.faults(
            "delegation", "SELECT appID || ': ends soon; answer its request again' FROM delegation WHERE endDate < ?",
            [limit], in: database))
      }
    }

    /// How long before its end a delegation is a fault, in seconds.
    private static let delegationWarning: Int64 = 30 * 86_400

    /// How long a mail that failed is a fault, in seconds.
    private static let mailWarning: Int64 = 2 * 86_400

    private static var namespaces: String {
      let isAvailable = !ProcessWorker.findSandbox().isEmpty
      return isAvailable ? "user, network, ipc, uts" : "not available: use a kernel that permits user namespaces"
    }

    private static func faults(
      _ name: String, _ query: String, _ arguments: StatementArguments, in database: Database
    ) throws -> [Finding] {
      try String.fetchAll(database, sql: query, arguments: arguments).map {
        Finding(name: name, state: $0, isFault: true)
      }
    }

    /// Follows the restore of the data folder or the database from a backup: revocations and decisions after the backup are lost, so all
    /// tokens, upload URLs, open reservations and pending approvals end. The service must not run.
    ///
    /// - Returns: the number of revoked tokens.
    package func noteRestore() async throws -> Int {
      let lock = try service.folder.lock()
      defer { withExtendedLifetime(lock) {} }
      let count = try await context.database.write { [context] database in
        try database.execute(
          sql: "UPDATE token SET revokedDate = ? WHERE revokedDate IS NULL", arguments: [context.now])
        let count = database.changesCount
        try database.execute(
          sql: "UPDATE uploadFile SET expirationDate = ? WHERE state = 'AWAITING_UPLOAD'", arguments: [context.now])
        try database.execute(
          sql: """
            UPDATE approval SET voidedDate = ? WHERE voidedDate IS NULL AND submissionID IN
              (SELECT id FROM submission WHERE state NOT IN ('COMPLETING', 'COMPLETE'))
            """, arguments: [context.now])
        // The service computes the requests again, from the records and the published roots.
        try database.execute(sql: "DELETE FROM rootRequest")
        return count
      }
      try await UploadCommands(context, signer: service.signer).expire()
      try service.folder.removeSecret()
      return count
    }

    /// Lets stuck jobs run again.
    ///
    /// - Returns: their number.
    package func retryJobs() async throws -> Int {
      try await context.database.write { database in
        try database.execute(
          sql: "UPDATE job SET state = ?, faults = 0 WHERE state = ?",
          arguments: [JobRecord.State.waiting, JobRecord.State.stuck])
        let count = database.changesCount
        try database.execute(
          sql: "UPDATE deltaJob SET state = ?, faults = 0 WHERE state = ?",
          arguments: [JobRecord.State.waiting, JobRecord.State.stuck])
        return count + database.changesCount
      }
    }
  }
#endif
