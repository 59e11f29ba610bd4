import Foundation

/// Memory of this process.
enum ProcessMemory {
  /// Private pages that no file backs, exactly; nil where the system does not tell.
  static func anonymousByteCount() -> Int? {
    // What earlier work freed and glibc kept would hide what later work takes.
    _ = DynamicSymbol.function("malloc_trim", as: (@convention(c) (Int) -> CInt).self)?(0)
    guard let text = try? String(contentsOfFile: "/proc/self/smaps_rollup", encoding: .utf8),
      let line = text.split(separator: "\n").first(where: { $0.hasPrefix("Anonymous:") }),
      let kilobytes = line.split(separator: " ").dropFirst().first.flatMap({ Int($0) })
    else { return nil }
    return kilobytes * 1024
  }
}
