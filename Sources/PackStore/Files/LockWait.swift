/// What code that waits for another process tells its caller: that it waits, each time before it looks again.
///
/// The system does not say who has a lock, so what waits cannot tell a process that works from one that was stopped. A caller who
/// knows which process may have it can.
package enum LockWait {
  /// Who is told. It is no bare function: Swift 6.3.1 with optimization finds no metadata of the type of a function that a task keeps,
  /// and the program ends by a signal.
  package struct Observer: Sendable {
    let waits: @Sendable () -> Void

    package init(_ waits: @escaping @Sendable () -> Void) { self.waits = waits }
  }

  /// Called on the thread that waits, every 2 seconds or more often. Holds for the task that sets it, and for those below it.
  @TaskLocal package static var observer: Observer?

  /// Something waits for another process.
  package static func note() { observer?.waits() }

  /// Whether to look again; false: the surrounding task was cancelled.
  static func goesOn() -> Bool {
    note()
    return !Task.isCancelled
  }
}
