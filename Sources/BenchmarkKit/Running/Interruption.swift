import Foundation
import Synchronization

/// Whether the benchmark was told to end. Then one thread removes what is temporary and ends the process, and the others
/// must not go on: they would fill, or mount, what is being removed.
enum Interruption {
  private static let isUnderWay = Atomic(false)

  static func begin() {
    isUnderWay.store(true, ordering: .sequentiallyConsistent)
    Program.endAll()
  }

  /// Called before anything new is begun. Does not return when the benchmark was told to end.
  static func waitForTheEnd() {
    while isUnderWay.load(ordering: .sequentiallyConsistent) { sleep(1) }
  }
}
