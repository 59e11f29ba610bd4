import CZstd
import Foundation

/// The machine and the libraries that figures were measured with. Holds no names of hosts or users, and no paths.
struct Environment: Codable {
  let processor: String
  let processorCount: Int
  let memoryByteCount: UInt64
  let system: String
  let zstdVersion: String
  let date: String
  /// Processes that wanted a processor, averaged over the last minute: above 0.3 or so when the run began, others were at work.
  let loadAtStart: Double

  init() {
    let process = ProcessInfo.processInfo
    processor = Self.field("model name", of: "/proc/cpuinfo", separator: ":") ?? "unknown processor"
    processorCount = process.activeProcessorCount
    memoryByteCount = process.physicalMemory
    system = Self.field("PRETTY_NAME", of: "/etc/os-release", separator: "=") ?? process.operatingSystemVersionString
    zstdVersion = String(cString: ZSTD_versionString())
    date = String(Date.now.ISO8601Format().prefix(10))
    var load = [0.0]
    loadAtStart = getloadavg(&load, 1) == 1 ? load[0] : .nan
  }

  /// One line of a report.
  var line: String {
    "Machine: \(processor), \(processorCount) processors, \(memoryByteCount / 1_000_000_000) GB, \(system); zstd \(zstdVersion); "
      + "\(date); load average at the start \(decimals(loadAtStart, 1))."
  }

  private static func field(_ name: String, of file: String, separator: Character) -> String? {
    guard let text = try? String(contentsOfFile: file, encoding: .utf8) else { return nil }
    for line in text.split(separator: "\n") where line.hasPrefix(name) {
      let value = line.drop { $0 != separator }.dropFirst()
      return value.trimmingCharacters(in: CharacterSet(charactersIn: " \""))
    }
    return nil
  }
}
