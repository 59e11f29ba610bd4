#if Hosting
  /// The states of a review submission.
  enum SubmissionStates: StateMachine {
    enum State: String, CaseIterable, Codable, Sendable {
      case readyForReview = "READY_FOR_REVIEW"
      case waitingForReview = "WAITING_FOR_REVIEW"
      case inReview = "IN_REVIEW"
      case unresolvedIssues = "UNRESOLVED_ISSUES"
      case canceling = "CANCELING"
      case completing = "COMPLETING"
      case complete = "COMPLETE"

      /// Whether the submission still binds its items: an item of an open submission cannot join another one.
      var isOpen: Bool { self != .complete }
    }

    enum Event: CaseIterable {
      case submit
      case beginReview
      case reject
      case approve
      case cancel
      /// The items of a cancelled submission are free, or all versions of an approved one are published.
      case finish
    }

    static let initial = State.readyForReview
    static let transitions: [(from: State, event: Event, to: State)] = [
      (.readyForReview, .submit, .waitingForReview),
      (.waitingForReview, .beginReview, .inReview),
      (.waitingForReview, .cancel, .canceling),
      (.inReview, .reject, .unresolvedIssues),
      (.inReview, .approve, .completing),
      (.inReview, .cancel, .canceling),
      (.unresolvedIssues, .submit, .waitingForReview),
      (.unresolvedIssues, .cancel, .canceling),
      (.canceling, .finish, .complete),
      (.completing, .finish, .complete),
    ]
  }
#endif
