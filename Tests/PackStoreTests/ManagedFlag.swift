import Synchronization

/// A flag that any thread may raise.
final class ManagedFlag: Sendable {
  private let value = Atomic(false)

  func raise() { value.store(true, ordering: .relaxed) }

  var isRaised: Bool { value.load(ordering: .relaxed) }
}
