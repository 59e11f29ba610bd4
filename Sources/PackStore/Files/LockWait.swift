/// Notifies the caller of code that waits for another process, each time before it checks again.
///
/// The system does not report the holder of a lock, so waiting code cannot distinguish a working process from a stopped one. A
/// caller that has the process id can.
package enum LockWait {
  /// The observer. It is not a bare function: for the type of a function in a task local, Swift 6.3.1 with optimization finds no
  /// metadata, and the program crashes.
  package struct Observer: Sendable {
    let waits: @Sendable () -> Void

    package init(_ waits: @escaping @Sendable () -> Void) { self.waits = waits }
  }

  /// Called on the waiting thread, at least every 2 seconds. Applies to the task that sets it, and to its child tasks.
  @TaskLocal package static var observer: Observer?

  /// Reports that code waits for another process.
  package static func note() { observer?.waits() }

  /// Whether to check again; false if the surrounding task was cancelled.
  static func goesOn() -> Bool {
    note()
    return !Task.isCancelled
  }
}
