import Synchronization

/// How far a download is, in bytes that come over the wire: any thread may read its counts, cancel, pause and resume it.
///
/// The completed count never falls, and neither does the fraction. Until the site has said what is new, the total is what a device
/// that has nothing would fetch.
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

  /// - Parameter control: what ``cancel()``, ``pause()`` and ``resume()`` do.
  init(estimate: Int, control: @escaping @Sendable (Command) -> Void) {
    counts = Mutex(Counts(total: Int64(max(estimate, 0))))
    self.control = control
    super.init(parent: nil, userInfo: nil)
    isCancellable = true
    isPausable = true
    kind = .file
    super.totalUnitCount = Self.scale
  }

  /// Foundation has no fraction but that of its own counts: there it is kept in these steps, apart from the bytes.
  private static let scale: Int64 = 1 << 30

  private func show(_ fraction: Double) { super.completedUnitCount = Int64(fraction * Double(Self.scale)) }

  /// Has this called whenever counts have changed, with no lock of this held. One at a time.
  func observe(_ tell: @escaping @Sendable () -> Void) { counts.withLock { $0.tell = tell } }

  /// From 0 to 1; what Foundation shows as ``fractionCompleted``.
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

  /// All that is needed is here.
  func finish() {
    let tell = counts.withLock { counts in
      // What was estimated and not needed does not count.
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
