import PackStore

/// The time at which a client selects offers. It is computed for each selection and never stored, so that a wrong clock has no
/// effect once it is corrected.
package struct SelectionTime: Hashable, Sendable {
  /// Nanoseconds since 1970.
  package let nanoseconds: Int64

  /// - Parameters:
  ///   - acceptedAt: the date of the newest root that the client accepted at the place. A slow clock cannot return to a time before
  ///     it.
  ///   - clock: the client's clock.
  ///   - answeredAt: the `Date` of the HTTP response that delivered or confirmed the root; `nil` if it had none. A fast clock cannot
  ///     exceed it.
  package init(acceptedAt: Int64, clock: Int64, answeredAt: Int64?) {
    nanoseconds = max(acceptedAt, min(clock, answeredAt ?? clock))
  }
}
