import CPackHash
import CXXHash
import CZstd
import Foundation

/// The machine and the libraries of the run. Contains no host names, user names or paths.
struct Environment: Codable {
  /// The model, and whether it has instructions for SHA-256, which decide about a third of the time of storing.
  let processor: String
  let processorCount: Int
  let memoryByteCount: UInt64
  let system: String
  let zstdVersion: String
  let date: String
  /// The load average of the last minute, at the start of the run. A value above about 0.3 means that other processes were busy.
  let loadAtStart: Double
  let kernel: String?
  let xxhashVersion: String?
  let swiftVersion: String?
  let packStoreVersion: String?

  init() {
    let process = ProcessInfo.processInfo
    let model = Self.field("model name", of: "/proc/cpuinfo", separator: ":") ?? "unknown processor"
    processor = model + (pkh_processor_has_sha256() ? " with" : " without") + " SHA instructions"
    processorCount = process.activeProcessorCount
    memoryByteCount = process.physicalMemory
    system = Self.field("PRETTY_NAME", of: "/etc/os-release", separator: "=") ?? process.operatingSystemVersionString
    zstdVersion = String(cString: ZSTD_versionString())
    date = String(Date.now.ISO8601Format().prefix(10))
    var load = [0.0]
    loadAtStart = getloadavg(&load, 1) == 1 ? load[0] : .nan
    let release = (try? String(contentsOfFile: "/proc/sys/kernel/osrelease", encoding: .utf8)) ?? ""
    // The text after the numbers may name the builder.
    kernel = String(release.prefix { $0.isNumber || $0 == "." })
    let xxhash = XXH_versionNumber()
    xxhashVersion = "\(xxhash / 10_000).\(xxhash / 100 % 100).\(xxhash % 100)"
    swiftVersion = Self.compiler
    packStoreVersion = Self.commit()
  }

  /// The environment as one line of a report.
  var line: String {
    "Machine: \(processor), \(processorCount) processors, \(memoryByteCount / 1_000_000_000) GB, \(system); zstd \(zstdVersion); "
      + "\(date); load average at the start \(decimals(loadAtStart, 1))."
  }

  /// The compiler's version, determined by conditions because the compiler does not provide it as a value.
  private static var compiler: String {
    #if compiler(>=6.4)
      "6.4 or later"
    #elseif compiler(>=6.3)
      "6.3"
    #else
      "6.2"
    #endif
  }

  /// The commit of the checkout in which this program was built, if the checkout still exists.
  private static func commit() -> String? {
    // Outside a build folder, git would describe another repository.
    guard let program = Bundle.main.executableURL?.resolvingSymlinksInPath(),
      program.pathComponents.contains(".build")
    else { return nil }
    let git = Process()
    git.executableURL = URL(fileURLWithPath: "/usr/bin/env")
    git.arguments = ["git", "describe", "--always", "--dirty"]
    git.currentDirectoryURL = program.deletingLastPathComponent()
    let output = Pipe()
    git.standardOutput = output
    git.standardError = FileHandle.nullDevice
    guard (try? git.run()) != nil else { return nil }
    let text = String(decoding: output.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
    git.waitUntilExit()
    return git.terminationStatus == 0 ? text.trimmingCharacters(in: .whitespacesAndNewlines) : nil
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
