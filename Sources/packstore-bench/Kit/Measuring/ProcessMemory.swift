import Foundation

/// Memory of this process.
enum ProcessMemory {
  /// Returns the exact size of all anonymous pages, in bytes; `nil` if the system does not report it.
  static func anonymousByteCount() -> Int? {
    // Memory that glibc keeps after earlier work would hide the memory of later work.
    _ = DynamicSymbol.function("malloc_trim", as: (@convention(c) (Int) -> CInt).self)?(0)
    guard let text = try? String(contentsOfFile: "/proc/self/smaps_rollup", encoding: .utf8),
      let line = text.split(separator: "\n").first(where: { $0.hasPrefix("Anonymous:") }),
      let kilobytes = line.split(separator: " ").dropFirst().first.flatMap({ Int($0) })
    else { return nil }
    return kilobytes * 1024
  }
}
