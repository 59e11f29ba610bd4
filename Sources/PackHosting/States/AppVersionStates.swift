#if Hosting
  /// The states of an app version (`appVersionState`) that this host uses.
  enum AppVersionStates: StateMachine {
    enum State: String, CaseIterable, Codable, Sendable {
      case prepareForSubmission = "PREPARE_FOR_SUBMISSION"
      case readyForReview = "READY_FOR_REVIEW"
      case waitingForReview = "WAITING_FOR_REVIEW"
      case inReview = "IN_REVIEW"
      case rejected = "REJECTED"
      case pendingDeveloperRelease = "PENDING_DEVELOPER_RELEASE"
      case readyForDistribution = "READY_FOR_DISTRIBUTION"
      case replaced = "REPLACED_WITH_NEW_VERSION"
    }

    enum Event: CaseIterable {
      case add
      case submit
      case beginReview
      case reject
      case approve
      case release
      case remove
      case replace
    }

    static let initial = State.prepareForSubmission
    static let transitions: [(from: State, event: Event, to: State)] = [
      (.prepareForSubmission, .add, .readyForReview),
      (.readyForReview, .submit, .waitingForReview),
      (.readyForReview, .remove, .prepareForSubmission),
      (.waitingForReview, .beginReview, .inReview),
      (.waitingForReview, .remove, .prepareForSubmission),
      (.inReview, .reject, .rejected),
      (.inReview, .approve, .pendingDeveloperRelease),
      (.inReview, .remove, .prepareForSubmission),
      (.rejected, .submit, .waitingForReview),
      (.rejected, .remove, .prepareForSubmission),
      (.pendingDeveloperRelease, .release, .readyForDistribution),
      (.readyForDistribution, .replace, .replaced),
    ]
  }
#endif
