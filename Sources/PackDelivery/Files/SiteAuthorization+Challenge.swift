import PackStore
import Synchronization

#if Delivery
  import NIOHTTP1
#endif

extension SiteAuthorization {
  /// An authorization by an extension's answers to servers that request a name and a password. Other challenges are not answered.
  ///
  /// Each contact with a site begins without a name, and an extension's run time is limited: an answer is repeated until its server
  /// refuses it. The name and password go to the server of the site alone, as all authorizations do.
  ///
  /// - Parameter answer: `cancel` ends the transfer.
  package init(answeringBy answer: @escaping @Sendable (FileChallenge) async -> FileChallengeReply) {
    let known = ChallengeAnswers()
    self.init { challenge in
      guard let question = FileChallenge(challenge) else { return nil }
      let reply = if let last = known.answer(to: question) { last } else { await answer(question) }
      switch reply {
      case .credential(let user, let password):
        known.note(user, password, for: question)
        // No request can carry such a name.
        return try? SiteAuthorization(user: user, password: password)
      case .cancel: throw CancellationError()
      case .none: return nil
      }
    }
  }
}

/// The last answer to each server, in memory alone.
private final class ChallengeAnswers: Sendable {
  private let replies = Mutex<[FileChallenge: FileChallengeReply]>([:])

  /// The last answer; `nil` after a refusal.
  func answer(to challenge: FileChallenge) -> FileChallengeReply? {
    guard challenge.failureCount == 0 else { return nil }
    return replies.withLock { $0[challenge] }
  }

  func note(_ user: String, _ password: String, for challenge: FileChallenge) {
    var place = challenge
    place.failureCount = 0
    let key = place
    replies.withLock { $0[key] = .credential(user: user, password: password) }
  }
}

extension FileChallenge {
  /// `nil` for a challenge that a name and a password do not answer.
  fileprivate init?(_ challenge: SiteAuthorization.Challenge) {
    #if Delivery
      guard let url = try? SiteURL(challenge.url),
        let realm = HTTPHeaders([("WWW-Authenticate", challenge.challenge)]).basicRealm
      else { return nil }
      self.init(
        scheme: url.scheme, host: url.plainHost, port: url.port ?? (url.scheme == "https" ? 443 : 80), realm: realm,
        failureCount: challenge.refusalCount)
    #else
      return nil
    #endif
  }
}
