#if Hosting
  /// The state of a release in any context. Each context's machine uses a part of the values, so that one table of the database
  /// has all releases and one index keeps a pack from having two live versions in a context.
  enum ReleaseState: String, CaseIterable, Codable, Sendable {
    case readyForBetaSubmission = "READY_FOR_BETA_SUBMISSION"
    case prepareForSubmission = "PREPARE_FOR_SUBMISSION"
    case readyForReview = "READY_FOR_REVIEW"
    case waitingForReview = "WAITING_FOR_REVIEW"
    case inReview = "IN_REVIEW"
    case rejected = "REJECTED"
    case accepted = "ACCEPTED"
    case processingForTesting = "PROCESSING_FOR_TESTING"
    case processingForDistribution = "PROCESSING_FOR_DISTRIBUTION"
    case readyForTesting = "READY_FOR_TESTING"
    case readyForDistribution = "READY_FOR_DISTRIBUTION"
    case superseded = "SUPERSEDED"

    /// Whether the version is the live one of its pack in its context.
    var isLive: Bool { self == .readyForTesting || self == .readyForDistribution }
  }

  /// A context in which a version of a pack can be live. Each has a channel of the app's site.
  enum ReleaseContext: String, CaseIterable, Codable, Sendable {
    case internalBeta = "INTERNAL"
    case externalBeta = "EXTERNAL"
    case store = "STORE"
  }

  enum ReleaseEvent: CaseIterable, Sendable {
    /// The version was added to a draft submission.
    case add
    case submit
    case beginReview
    case reject
    case approve
    /// The approved version is about to be published.
    case release
    /// The root with the version was read back.
    case publish
    /// The version left its submission before it was approved.
    case remove
    /// Another version of the pack took its place, or it was withdrawn.
    case supersede
    /// A step back made it live again.
    case restore
  }

  extension ReleaseContext {
    /// Returns the state after an event; `nil` if the event is not permitted.
    func next(_ state: ReleaseState, _ event: ReleaseEvent) -> ReleaseState? {
      switch self {
      case .internalBeta: InternalReleaseStates.next(state, event)
      case .externalBeta: ExternalReleaseStates.next(state, event)
      case .store: StoreReleaseStates.next(state, event)
      }
    }

    var initialState: ReleaseState {
      switch self {
      case .internalBeta: InternalReleaseStates.initial
      case .externalBeta: ExternalReleaseStates.initial
      case .store: StoreReleaseStates.initial
      }
    }

    var liveState: ReleaseState { self == .store ? .readyForDistribution : .readyForTesting }
  }
#endif
