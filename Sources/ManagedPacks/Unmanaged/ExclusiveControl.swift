import Synchronization

/// Gives exclusive control to one process of an app and its extension: the process that holds `control.lock`. The system releases
/// the lock however the process ends.
final class ExclusiveControl: Sendable {
  private static let shortestDelay = Duration.milliseconds(1)
  private static let longestDelay = Duration.milliseconds(50)

  private let folder: DownloadFolder
  private let clock: TransferClock
  private let wallClock: @Sendable () -> Double
  private let state = Mutex((count: 0, waiters: [CheckedContinuation<Void, Never>]()))

  init(in folder: DownloadFolder, clock: TransferClock, wallClock: @escaping @Sendable () -> Double) {
    self.folder = folder
    self.clock = clock
    self.wallClock = wallClock
  }

  /// - Parameter date: `nil` to wait without a limit.
  func perform<Value: Sendable>(before date: Date?, _ body: @Sendable () async throws -> Value) async throws -> Value {
    let stay = begin()
    defer { withExtendedLifetime(stay) {} }
    let lock = try await lock(before: date)
    defer { withExtendedLifetime(lock) {} }
    return try await body()
  }

  private func lock(before date: Date?) async throws -> FileLock {
    var delay = Self.shortestDelay
    while true {
      do {
        return try FileLock(
          folder.controlLock, waits: false, reason: "the app or its extension has exclusive control at the moment")
      } catch let error as PackStoreError where error.code == .busy {
        if let date, wallClock() >= date.timeIntervalSince1970 { throw error }
        try await clock.sleep(delay)
        try Task.checkCancellation()
        delay = min(delay * 2, Self.longestDelay)
      } catch {
        throw BAError(.callerConnectionInvalid, "exclusive control is not available: \(error)", underlyingError: error)
      }
    }
  }

  // MARK: - Keeping an extension running

  /// Keeps an extension running while it exists.
  final class KeepAlive: Sendable {
    private let end: @Sendable () -> Void
    init(_ end: @escaping @Sendable () -> Void) { self.end = end }
    deinit { end() }
  }

  func begin() -> KeepAlive {
    state.withLock { $0.count += 1 }
    return KeepAlive { self.end() }
  }

  private func end() {
    let waiters = state.withLock { state in
      state.count -= 1
      defer { if state.count == 0 { state.waiters = [] } }
      return state.count == 0 ? state.waiters : []
    }
    for waiter in waiters { waiter.resume() }
  }

  /// Returns when no ``KeepAlive`` exists.
  func waitUntilFree() async {
    await withCheckedContinuation { continuation in
      state.withLock { state in
        guard state.count > 0 else { return continuation.resume() }
        state.waiters.append(continuation)
      }
    }
  }
}
