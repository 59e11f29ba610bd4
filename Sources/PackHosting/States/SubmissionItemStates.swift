#if Hosting
  /// The states of an item of a review submission.
  enum SubmissionItemStates: StateMachine {
    enum State: String, CaseIterable, Codable, Sendable {
      case readyForReview = "READY_FOR_REVIEW"
      case accepted = "ACCEPTED"
      case approved = "APPROVED"
      case rejected = "REJECTED"
      case removed = "REMOVED"
    }

    enum Event: CaseIterable {
      /// The item passed, while another item of the submission did not.
      case accept
      case approve
      case reject
      /// The submitter resolved the issue.
      case resolve
      case remove
    }

    static let initial = State.readyForReview
    static let transitions: [(from: State, event: Event, to: State)] = [
      (.readyForReview, .accept, .accepted),
      (.readyForReview, .approve, .approved),
      (.readyForReview, .reject, .rejected),
      (.readyForReview, .remove, .removed),
      (.accepted, .approve, .approved),
      (.accepted, .reject, .rejected),
      (.accepted, .remove, .removed),
      (.rejected, .resolve, .readyForReview),
      (.rejected, .remove, .removed),
    ]
  }
#endif
