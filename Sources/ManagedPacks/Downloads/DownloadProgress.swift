import Synchronization

/// The progress of a download, in bytes received over the network. Any thread may read its counts, cancel, pause and resume it.
///
/// The completed count and the fraction never decrease. Until the site has reported the size of the new data, the total is the
/// download size for an empty store.
final class DownloadProgress: Progress, @unchecked Sendable {
  private struct Counts {
    var completed: Int64 = 0
    var total: Int64
    var fraction = 0.0
    var isFinished = false
    var isCancelled = false
    var isPaused = false
    var tell: (@Sendable () -> Void)?
  }

  private let counts: Mutex<Counts>
  private let control: @Sendable (Command) -> Void

  enum Command: Sendable { case cancel, pause, resume }

  /// - Parameter control: performs ``cancel()``, ``pause()`` and ``resume()``.
  init(estimate: Int, control: @escaping @Sendable (Command) -> Void) {
    counts = Mutex(Counts(total: Int64(max(estimate, 0))))
    self.control = control
    super.init(parent: nil, userInfo: nil)
    isCancellable = true
    isPausable = true
    kind = .file
    super.totalUnitCount = Self.scale
  }

  /// Foundation computes the fraction from its own unit counts. They hold the fraction in this many steps, independent of the
  /// bytes.
  private static let scale: Int64 = 1 << 30

  private func show(_ fraction: Double) { super.completedUnitCount = Int64(fraction * Double(Self.scale)) }

  /// Sets a function to call after each change of the counts. Calls hold none of this object's locks, and one runs at a time.
  func observe(_ tell: @escaping @Sendable () -> Void) { counts.withLock { $0.tell = tell } }

  /// The fraction from 0 to 1, which Foundation shows as ``fractionCompleted``.
  var fraction: Double { counts.withLock { $0.fraction } }

  func record(completed: Int, total: Int) {
    let tell: (@Sendable () -> Void)? = counts.withLock { counts in
      guard !counts.isFinished else { return nil }
      counts.total = max(Int64(clamping: total), counts.completed)
      counts.completed = max(counts.completed, min(Int64(clamping: completed), counts.total))
      if counts.total > 0 {
        counts.fraction = max(counts.fraction, Double(counts.completed) / Double(counts.total))
        show(counts.fraction)
      }
      return counts.tell
    }
    tell?()
  }

  /// Marks the download as complete.
  func finish() {
    let tell = counts.withLock { counts in
      // Estimated bytes that were not needed do not count.
      counts.total = counts.completed
      counts.fraction = 1
      counts.isFinished = true
      show(1)
      return counts.tell
    }
    tell?()
  }

  func set(isPaused: Bool) { counts.withLock { $0.isPaused = isPaused } }
  func setCancelled() { counts.withLock { $0.isCancelled = true } }

  override var completedUnitCount: Int64 {
    get { counts.withLock { $0.completed } }
    set {}
  }

  override var totalUnitCount: Int64 {
    get { counts.withLock { $0.total } }
    set {}
  }

  override var isFinished: Bool { counts.withLock { $0.isFinished } }

  override var isCancelled: Bool {
    get { counts.withLock { $0.isCancelled } }
    set {}
  }

  override var isPaused: Bool {
    get { counts.withLock { $0.isPaused } }
    set {}
  }

  override func cancel() { control(.cancel) }
  override func pause() { control(.pause) }
  override func resume() { control(.resume) }
}
