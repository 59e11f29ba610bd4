/// What code that waits for another process tells its caller: that it waits, each time before it looks again.
///
/// The system does not say who has a lock, so what waits cannot tell a process that works from one that was stopped. A caller who
/// knows which process may have it can.
package enum LockWait {
  /// Called on the thread that waits, every 2 seconds or more often. Holds for the task that sets it, and for those below it.
  @TaskLocal package static var observer: (@Sendable () -> Void)?

  /// Something waits for another process.
  package static func note() { observer?() }

  /// Whether to look again; false: the surrounding task was cancelled.
  static func goesOn() -> Bool {
    note()
    return !Task.isCancelled
  }
}
