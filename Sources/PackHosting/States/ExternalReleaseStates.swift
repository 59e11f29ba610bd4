#if Hosting
  /// The release for external testers.
  enum ExternalReleaseStates: StateMachine {
    typealias State = ReleaseState
    typealias Event = ReleaseEvent

    static let initial = State.readyForBetaSubmission
    static let transitions: [(from: State, event: Event, to: State)] = [
      (.readyForBetaSubmission, .submit, .waitingForReview),
      (.waitingForReview, .beginReview, .inReview),
      (.waitingForReview, .remove, .readyForBetaSubmission),
      (.inReview, .reject, .rejected),
      (.inReview, .approve, .processingForTesting),
      (.inReview, .remove, .readyForBetaSubmission),
      (.rejected, .submit, .waitingForReview),
      (.processingForTesting, .publish, .readyForTesting),
      (.processingForTesting, .supersede, .superseded),
      (.readyForTesting, .supersede, .superseded),
      (.superseded, .restore, .readyForTesting),
    ]
  }
#endif
