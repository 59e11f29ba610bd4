#if Hosting
  /// A state machine as a table: all transitions that exist, and nothing else.
  protocol StateMachine {
    associatedtype State: Hashable & CaseIterable & Sendable
    associatedtype Event: Hashable & CaseIterable & Sendable

    /// Each pair of state and event at most once.
    static var transitions: [(from: State, event: Event, to: State)] { get }

    static var initial: State { get }
  }

  extension StateMachine {
    /// Returns the state after an event; `nil` if the event is not permitted in this state.
    static func next(_ state: State, _ event: Event) -> State? {
      transitions.first { $0.from == state && $0.event == event }?.to
    }
  }
#endif
