#if Delivery
  import NIOHTTP1
  import PackStore
  import Synchronization

  /// The authorization that a source's requests carry now. Several requests may be refused at a time: one of them gets another
  /// authorization for all.
  final class SiteAuthenticator: Sendable {
    /// The fields of a request.
    struct Issue: Sendable {
      fileprivate let number: Int
      let fields: [SiteAuthorization.Field]
    }

    private struct State {
      var issue: Issue
      var refusalCount = 0
      var renewal: Task<Bool, any Error>?
    }

    /// How many authorizations in a row may be refused.
    static let refusalLimit = 3
    private let state: Mutex<State>
    private let provider: (@Sendable (SiteAuthorization.Challenge) async throws -> SiteAuthorization?)?

    init(_ authorization: SiteAuthorization?) {
      state = Mutex(State(issue: Issue(number: 0, fields: authorization?.fields ?? [])))
      provider = authorization?.provider
    }

    var issue: Issue { state.withLock { $0.issue } }

    /// A server accepted a request.
    func didSucceed(_ issue: Issue) {
      state.withLock { state in
        if state.issue.number == issue.number { state.refusalCount = 0 }
      }
    }

    /// Gets another authorization after a refusal.
    ///
    /// - Returns: whether the request may be repeated.
    /// - Throws: the provider's error.
    func renew(after refused: Issue, _ response: HTTPHeaders, at url: SiteURL) async throws -> Bool {
      guard let provider else { return false }
      let challenge = response["WWW-Authenticate"].joined(separator: ", ")
      enum Step { case retry, fail, wait(Task<Bool, any Error>) }
      let step: Step = state.withLock { state in
        // Another request has got one since then.
        guard state.issue.number == refused.number else { return .retry }
        if let renewal = state.renewal { return .wait(renewal) }
        let count = state.refusalCount
        guard count < Self.refusalLimit else { return .fail }
        let renewal = Task { [self] in
          let question = SiteAuthorization.Challenge(
            url: withoutSecrets(url.text), challenge: challenge, refusalCount: count)
          return try await self.renew(Result { try await provider(question) })
        }
        state.renewal = renewal
        return .wait(renewal)
      }
      let renewal: Task<Bool, any Error>
      switch step {
      case .retry: return true
      case .fail: return false
      case .wait(let task): renewal = task
      }
      return try await withTaskCancellationHandler {
        try await renewal.value
      } onCancel: {
        renewal.cancel()
      }
    }

    private func renew(_ answer: Result<SiteAuthorization?, any Error>) throws -> Bool {
      try state.withLock { state in
        state.renewal = nil
        guard let next = try answer.get() else { return false }
        state.issue = Issue(number: state.issue.number + 1, fields: next.fields)
        state.refusalCount += 1
        return true
      }
    }
  }

  extension Result where Failure == any Error {
    fileprivate init(_ body: () async throws -> Success) async {
      do { self = .success(try await body()) } catch { self = .failure(error) }
    }
  }
#endif
