#if Hosting
  /// A code and a sentence that explain a state. The codes are ours: Apple publishes none.
  struct StateDetail: Hashable, Codable, Sendable {
    let code: String
    let description: String
  }

  /// Details of a version's state, by severity.
  struct StateDetails: Hashable, Codable, Sendable {
    var errors: [StateDetail] = []
    var warnings: [StateDetail] = []
    var infos: [StateDetail] = []
  }
#endif
