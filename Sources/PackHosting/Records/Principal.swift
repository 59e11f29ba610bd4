#if Hosting
  /// The caller of a command, after its key or token was checked.
  struct Principal: Hashable, Sendable {
    enum Kind: String, Codable, Sendable {
      /// A signed-in user or an individual key: a person.
      case person = "PERSON"
      case teamKey = "TEAM_KEY"
      case ciToken = "CI_TOKEN"
    }

    let kind: Kind

    /// The user's id for a person, the key's id for a team key, the token's id for a CI token.
    let id: String
    let team: Identifier<TeamRecord>
    let rights: Set<Right>

    /// The only app that the principal may use; `nil` for all apps of the team.
    var app: AppID?

    var isPerson: Bool { kind == .person }

    /// Whether the principal may see an app of its team.
    func mayUse(_ app: AppID) -> Bool { self.app.map { $0 == app } ?? true }

    func has(_ right: Right) -> Bool { rights.contains(right) }
  }
#endif
