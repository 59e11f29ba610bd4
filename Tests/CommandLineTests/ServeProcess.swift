#if Serving
  import Foundation
  import Testing

  #if canImport(Darwin)
    import Darwin
  #elseif canImport(Musl)
    import Musl
  #else
    import Glibc
  #endif

  /// `packstore serve` at a free port, for one test.
  final class ServeProcess {
    private let process: Process
    private let log: String
    let errors: String

    /// What it said first.
    let ready: NSDictionary

    init(_ playground: Playground, _ arguments: [String], environment: [String: String] = [:]) throws {
      let name = "\(playground.path)/serve-\(UUID().uuidString)"
      (log, errors) = ("\(name).log", "\(name).errors")
      for file in [log, errors] { try Data().write(to: URL(fileURLWithPath: file)) }
      process = try playground.start(
        ["serve"] + arguments + ["--port", "0", "--json"],
        output: try #require(FileHandle(forWritingAtPath: log)),
        errors: try #require(FileHandle(forWritingAtPath: errors)),
        environment: ["XDG_DATA_HOME": "\(playground.path)/data"].merging(environment) { $1 })
      var first: NSDictionary?
      while first == nil {
        first = try Self.lines(log).first
        guard first != nil || process.isRunning else {
          Issue.record("serve: \((try? String(contentsOfFile: errors, encoding: .utf8)) ?? "")")
          throw CancellationError()
        }
        sched_yield()
      }
      ready = first ?? [:]
    }

    deinit {
      kill(process.processIdentifier, SIGKILL)
      process.waitUntilExit()
    }

    private static func lines(_ file: String) throws -> [NSDictionary] {
      let text = try String(contentsOfFile: file, encoding: .utf8)
      return try text.split(separator: "\n", omittingEmptySubsequences: false).dropLast().map {
        try #require(JSONSerialization.jsonObject(with: Data($0.utf8)) as? NSDictionary)
      }
    }

    /// The requests that were answered.
    var requests: [NSDictionary] { get throws { try Self.lines(log).filter { $0["event"] as? String == "request" } } }

    /// All that it printed.
    var lines: [String] {
      get throws { try String(contentsOfFile: log, encoding: .utf8).split(separator: "\n").map(String.init) }
    }

    var warnings: String { (try? String(contentsOfFile: errors, encoding: .utf8)) ?? "" }

    var url: String { ready["url"] as? String ?? "" }
    var port: String { url.split(separator: ":").last.map(String.init) ?? "" }
    var authority: String { ready["authority"] as? String ?? "" }
    var key: String { ready["key"] as? String ?? "" }
    var isRunning: Bool { process.isRunning }

    /// Memory that no file is behind, in bytes: what it has now, as the system counts it.
    var privateMemory: Int? {
      let text = try? String(contentsOfFile: "/proc/\(process.processIdentifier)/status", encoding: .utf8)
      return text?.firstMatch(of: /RssAnon:\s+(\d+) kB/).flatMap { Int($0.output.1) }.map { $0 * 1024 }
    }

    var pid: Int32 { process.processIdentifier }

    func interrupt() { kill(process.processIdentifier, SIGTERM) }

    /// Waits for the end, and returns its status.
    func end() -> Int32 {
      process.waitUntilExit()
      return process.terminationReason == .exit ? process.terminationStatus : -process.terminationStatus
    }
  }
#endif
