#if Hosting
  /// The outcome of checking an archive. The host reads everything else from the checked store itself.
  struct WorkerVerdict: Hashable, Codable, Sendable {
    /// Faults of the input; empty for an accepted archive.
    var errors: [StateDetail] = []
    var warnings: [StateDetail] = []

    static let fileName = "verdict.json"

    static func rejected(_ code: String, _ description: String) -> WorkerVerdict {
      WorkerVerdict(errors: [StateDetail(code: code, description: description)])
    }
  }
#endif
