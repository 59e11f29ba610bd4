import PackDelivery
import PackStore

extension FileLock {
  /// The pause between two attempts.
  private static let interval = Duration.milliseconds(250)

  /// Waits for a lock without a thread, so that its owner may need any number of threads.
  ///
  /// - Throws: `CancellationError`; errors of the file system.
  static func acquire(_ place: FilePlace, by clock: TransferClock) async throws -> FileLock {
    while true {
      do {
        return try FileLock(place, waits: false, reason: "another process has the lock")
      } catch let error as PackStoreError where error.code == .busy {
        LockWait.note()
        try await clock.sleep(interval)
      }
    }
  }
}
