import Foundation

/// Watches this process's private memory while something runs.
///
/// Sampled every few milliseconds: a peak that lasts less is missed.
final class MemoryWatch: @unchecked Sendable {
  private let lock = NSLock()
  private let before: Int
  private var peak: Int
  private var isStopped = false

  /// nil where the system does not tell.
  init?() {
    // Memory that earlier work freed and glibc kept would hide the memory of this work.
    _ = DynamicSymbol.function("malloc_trim", as: (@convention(c) (Int) -> CInt).self)?(0)
    guard let now = Self.anonymousByteCount() else { return nil }
    before = now
    peak = now
    Thread.detachNewThread { [self] in
      while sample() { usleep(4_000) }
    }
  }

  /// Peak of private memory, in bytes above its value at the start.
  func stop() -> Int {
    _ = sample()
    return lock.withLock {
      isStopped = true
      return peak - before
    }
  }

  private func sample() -> Bool {
    let now = Self.anonymousByteCount() ?? 0
    return lock.withLock {
      peak = isStopped ? peak : max(peak, now)
      return !isStopped
    }
  }

  /// - Parameter process: its number, or `self`.
  static func anonymousByteCount(of process: String = "self") -> Int? {
    guard let status = try? String(contentsOfFile: "/proc/\(process)/status", encoding: .utf8),
      let line = status.split(separator: "\n").first(where: { $0.hasPrefix("RssAnon:") }),
      let kilobytes = line.split(whereSeparator: { $0 == " " || $0 == "\t" }).dropFirst().first.flatMap({ Int($0) })
    else { return nil }
    return kilobytes * 1024
  }
}
