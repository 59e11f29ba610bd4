#if Hosting
  /// The release for all users.
  enum StoreReleaseStates: StateMachine {
    typealias State = ReleaseState
    typealias Event = ReleaseEvent

    static let initial = State.prepareForSubmission
    static let transitions: [(from: State, event: Event, to: State)] = [
      (.prepareForSubmission, .add, .readyForReview),
      (.readyForReview, .submit, .waitingForReview),
      (.readyForReview, .remove, .prepareForSubmission),
      (.waitingForReview, .beginReview, .inReview),
      (.waitingForReview, .remove, .prepareForSubmission),
      (.inReview, .reject, .rejected),
      (.inReview, .approve, .accepted),
      (.inReview, .remove, .prepareForSubmission),
      (.rejected, .submit, .waitingForReview),
      (.rejected, .remove, .prepareForSubmission),
      (.accepted, .release, .processingForDistribution),
      (.accepted, .remove, .prepareForSubmission),
      (.processingForDistribution, .publish, .readyForDistribution),
      (.processingForDistribution, .supersede, .superseded),
      (.readyForDistribution, .supersede, .superseded),
      (.superseded, .restore, .readyForDistribution),
    ]
  }
#endif
