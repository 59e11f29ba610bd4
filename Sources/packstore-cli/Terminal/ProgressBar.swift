/// Progress of long operations: a bar on a terminal, otherwise occasional lines.

import ArgumentParser
import PackDelivery
import PackStore
import Synchronization

#if canImport(Darwin)
  import Darwin
#elseif canImport(Musl)
  import Musl
#else
  import Glibc
#endif

/// The progress of an operation.
struct Progress {
  /// The name of the current step, such as "storing".
  var activity: String
  var bytesDone = 0
  /// 0 if the total is not known yet.
  var bytesTotal = 0
  /// The number of processed files, shown while the total is not known.
  var filesDone = 0
}

extension Progress {
  /// The progress of an installation; `activity` is the name of its longest phase.
  init(activity: String, _ progress: Store.InstallProgress) {
    switch progress.phase {
    case .scan: self.init(activity: "scanning", filesDone: progress.fileCount)
    case .store:
      self.init(
        activity: activity, bytesDone: progress.byteCount, bytesTotal: progress.totalByteCount,
        filesDone: progress.fileCount)
    case .commit: self.init(activity: "committing")
    }
  }
}

extension Progress {
  /// The progress of a pull.
  init(_ progress: Store.PullProgress) {
    let pack = progress.pack.map { " \($0)" } ?? ""
    switch progress.phase {
    case .connect: self.init(activity: "connecting")
    case .wait: self.init(activity: "waiting for another process")
    case .plan: self.init(activity: "comparing" + pack)
    case .fetch:
      self.init(activity: "fetching" + pack, bytesDone: progress.byteCount, bytesTotal: progress.totalByteCount)
    case .apply:
      self.init(activity: "applying" + pack, bytesDone: progress.byteCount, bytesTotal: progress.totalByteCount)
    case .commit: self.init(activity: "committing")
    }
  }
}

/// The format of progress reports.
enum ProgressForm: String, CaseIterable, ExpressibleByArgument {
  case text, json, none
}

/// Shows progress on standard error.
///
/// - On a terminal: one line as wide as the terminal. It is updated when an activity begins, then at most ten times a second.
///   ``finish()`` removes it.
/// - As text elsewhere: a line every five to ten seconds, so that a build system does not end the command as hung. Short operations
///   print nothing.
/// - As JSON: an object when an activity begins, then at most once a second, and at least every ten seconds.
final class ProgressBar: Sendable {
  private struct State {
    var last: Progress?
    var lastDrawn: ContinuousClock.Instant
    var visible = false
    var rate = Rate()
    var isFinished = false
  }

  private let form: ProgressForm
  private let isTerminal: Bool
  private let clock = ContinuousClock()
  private let state: Mutex<State>
  private let heartbeat = Mutex<Task<Void, Never>?>(nil)

  init(_ form: ProgressForm) {
    // With --verbose, the log prints each step at its end instead.
    let form = form == .text && (BuildLog.current?.isVerbose ?? false) ? .none : form
    self.form = form
    isTerminal = form == .text && isatty(STDERR_FILENO) == 1 && terminalIsSmart()
    state = Mutex(State(lastDrawn: clock.now))
    if form != .none, !isTerminal { beat() }
  }

  deinit { heartbeat.withLock { $0?.cancel() } }

  /// Repeats the last progress while an operation reports none, for example while it waits for a server or compresses a large
  /// block.
  private func beat() {
    heartbeat.withLock { task in
      task = Task.detached { [weak self, clock] in
        while (try? await clock.sleep(for: ProgressPace.lineInterval)) != nil {
          guard let self else { return }
          self.repeatProgress()
        }
      }
    }
  }

  private func repeatProgress() {
    state.withLock { state in
      guard let progress = state.last, !state.isFinished else { return }
      guard clock.now - state.lastDrawn >= ProgressPace.lineInterval else { return }
      draw(progress, &state)
    }
  }

  func update(_ progress: Progress) {
    BuildLog.current?.note(progress)
    guard form != .none else { return }
    let now = clock.now
    state.withLock { state in
      let isNew = state.last?.activity != progress.activity
      if isNew { state.rate = Rate() }
      state.last = progress
      state.isFinished = false
      state.rate.record(progress.bytesDone, at: now)
      let pace = ProgressPace(form: form, isTerminal: isTerminal)
      if pace.isDue(after: now - state.lastDrawn, isNewActivity: isNew) { draw(progress, &state) }
    }
  }

  private func draw(_ progress: Progress, _ state: inout State) {
    state.lastDrawn = clock.now
    let rate = state.rate.bytesPerSecond
    if form == .json {
      writeObject(ProgressReport(progress, rate: rate), type: "progress")
    } else if isTerminal {
      state.visible = true
      writeToStandardError("\r\(barText(progress, rate: rate, width: terminalWidth() - 1))\u{1b}[K")
    } else {
      writeToStandardError("\(lineText(progress, rate: rate))\n")
    }
  }

  /// Removes the bar, so that the next output begins on an empty line.
  func finish() {
    BuildLog.current?.endStep()
    state.withLock { state in
      if state.visible { writeToStandardError("\r\u{1b}[K") }
      state.visible = false
      state.isFinished = true
    }
  }
}

/// The intervals between progress reports.
struct ProgressPace {
  /// The minimum time between two lines. The maximum time is twice as long.
  static let lineInterval = Duration.seconds(5)

  let form: ProgressForm
  let isTerminal: Bool

  /// Whether to show progress now.
  ///
  /// - Parameter time: the time since progress was last shown.
  func isDue(after time: Duration, isNewActivity: Bool) -> Bool {
    switch form {
    case .none: false
    case .json: isNewActivity || time >= .seconds(1)
    case .text: isTerminal ? isNewActivity || time >= .milliseconds(100) : time >= Self.lineInterval
    }
  }
}

/// Progress as `--progress json` prints it.
struct ProgressReport: Encodable {
  let activity: String
  let bytes: Int
  /// `nil` while unknown.
  let totalBytes, files, bytesPerSecond: Int?

  init(_ progress: Progress, rate: Double?) {
    activity = progress.activity
    bytes = progress.bytesDone
    totalBytes = progress.bytesTotal > 0 ? progress.bytesTotal : nil
    files = progress.filesDone > 0 ? progress.filesDone : nil
    bytesPerSecond = rate.map { Int(min(max($0, 0), 1e18)) }
  }
}

// MARK: - Rate

/// The rate of about the last three seconds, smoothed, so that the remaining time changes gradually.
private struct Rate {
  private var start: (time: ContinuousClock.Instant, bytes: Int)?
  private var smoothed: Double?

  var bytesPerSecond: Double? { smoothed }

  mutating func record(_ bytes: Int, at time: ContinuousClock.Instant) {
    guard let start else {
      self.start = (time, bytes)
      return
    }
    let seconds = (time - start.time) / .seconds(1)
    guard seconds >= 0.25, bytes >= start.bytes else { return }
    let current = Double(bytes - start.bytes) / seconds
    let weight = min(seconds / 3, 1)  // averages about three seconds
    smoothed = smoothed.map { $0 + (current - $0) * weight } ?? current
    self.start = (time, bytes)
  }
}

// MARK: - Text

/// Returns `storing [=====>     ]  42 %  1.2 GB of 3.0 GB  310.0 MB/s  6 s left`, shortened to fit: first without the bar, then
/// without the last facts.
private func barText(_ progress: Progress, rate: Double?, width: Int) -> String {
  let facts = progressFacts(progress, rate: rate)
  var parts = facts
  func text(_ bar: String) -> String { ([progress.activity + bar] + parts).joined(separator: "  ") }
  while text("").count > width, !parts.isEmpty { parts.removeLast() }
  guard progress.bytesTotal > 0, parts.count == facts.count else { return String(text("").prefix(max(width, 0))) }

  let room = min(width - text("").count - 3, 40)
  guard room >= 10 else { return text("") }
  let filled = Int(Double(room) * fraction(progress))
  let bar = String(repeating: "=", count: filled) + (filled < room ? ">" : "")
  return text(" [" + bar + String(repeating: " ", count: room - bar.count) + "]")
}

/// Returns the progress as a line of text without a bar.
private func lineText(_ progress: Progress, rate: Double?) -> String {
  "packstore: \(progress.activity): \(progressFacts(progress, rate: rate).joined(separator: ", "))"
}

private func progressFacts(_ progress: Progress, rate: Double?) -> [String] {
  guard progress.bytesTotal > 0 else {
    return progress.filesDone > 0 ? [formatCount(progress.filesDone, "file")] : []
  }
  var facts = [
    "\(Int(fraction(progress) * 100)) %",
    "\(formatBytes(progress.bytesDone)) of \(formatBytes(progress.bytesTotal))",
  ]
  if let rate, rate >= 1, progress.bytesDone <= progress.bytesTotal {
    facts.append(formatRate(rate))
    let left = (Double(progress.bytesTotal - progress.bytesDone) / rate).rounded(.up)
    facts.append(left < 10 ? "\(Int(left)) s left" : "\(formatDuration(.seconds(left))) left")
  }
  return facts
}

private func fraction(_ progress: Progress) -> Double {
  min(Double(progress.bytesDone) / Double(max(progress.bytesTotal, 1)), 1)
}

// MARK: - Terminal

/// Returns the number of columns of the terminal at standard error; 80 if it is unknown.
private func terminalWidth() -> Int {
  var size = winsize()
  guard ioctl(STDERR_FILENO, UInt(TIOCGWINSZ), &size) == 0, size.ws_col > 0 else { return 80 }
  return Int(size.ws_col)
}

/// Whether the terminal can clear a line.
private func terminalIsSmart() -> Bool {
  guard let term = getenv("TERM") else { return false }
  return strcmp(term, "dumb") != 0
}
