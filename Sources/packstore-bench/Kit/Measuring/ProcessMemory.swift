import Foundation

/// Memory of this process.
enum ProcessMemory {
  /// The exact number of private pages without a file, in bytes; `nil` if the system does not report it.
  static func anonymousByteCount() -> Int? {
    // Memory that earlier work freed and glibc kept would hide the memory of later work.
    _ = DynamicSymbol.function("malloc_trim", as: (@convention(c) (Int) -> CInt).self)?(0)
    guard let text = try? String(contentsOfFile: "/proc/self/smaps_rollup", encoding: .utf8),
      let line = text.split(separator: "\n").first(where: { $0.hasPrefix("Anonymous:") }),
      let kilobytes = line.split(separator: " ").dropFirst().first.flatMap({ Int($0) })
    else { return nil }
    return kilobytes * 1024
  }
}
