#if Hosting
  /// The release for internal testers. The host makes it when processing succeeds.
  enum InternalReleaseStates: StateMachine {
    typealias State = ReleaseState
    typealias Event = ReleaseEvent

    static let initial = State.readyForTesting
    static let transitions: [(from: State, event: Event, to: State)] = [
      (.readyForTesting, .supersede, .superseded),
      (.superseded, .restore, .readyForTesting),
    ]
  }
#endif
