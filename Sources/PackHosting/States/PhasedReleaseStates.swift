#if Hosting
  /// The states of the phased release of an app version.
  enum PhasedReleaseStates: StateMachine {
    enum State: String, CaseIterable, Codable, Sendable {
      case inactive = "INACTIVE"
      case active = "ACTIVE"
      case paused = "PAUSED"
      case complete = "COMPLETE"
    }

    enum Event: CaseIterable {
      /// The app version is released.
      case start
      case pause
      case resume
      /// The last day ended, or a person released the app version to all users.
      case complete
    }

    static let initial = State.inactive
    static let transitions: [(from: State, event: Event, to: State)] = [
      (.inactive, .start, .active),
      (.active, .pause, .paused),
      (.paused, .resume, .active),
      (.active, .complete, .complete),
      (.paused, .complete, .complete),
    ]
  }
#endif
