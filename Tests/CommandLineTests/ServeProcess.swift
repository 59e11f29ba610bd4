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

  /// `packstore serve` at a free port, for one test. It ends with its owner.
  final class ServeProcess {
    private let process: Process
    private let printed: PrintedLines
    private let errors: String

    /// Its first line.
    let ready: NSDictionary

    /// The longest wait, in seconds. Only a process that hangs takes that long.
    private static let patience: Double = 900

    init(_ playground: Playground, _ arguments: [String], environment: [String: String] = [:]) throws {
      errors = "\(playground.path)/serve-\(UUID().uuidString).errors"
      try Data().write(to: URL(fileURLWithPath: errors))
      let pipe = Pipe()
      process = try playground.start(
        ["serve"] + arguments + ["--port", "0", "--json"], output: pipe.fileHandleForWriting,
        errors: try #require(FileHandle(forWritingAtPath: errors)),
        environment: ["XDG_DATA_HOME": "\(playground.path)/data"].merging(environment) { $1 })
      try pipe.fileHandleForWriting.close()
      printed = PrintedLines(pipe.fileHandleForReading)
      guard printed.wait(Self.patience, until: { !$0.isEmpty }), let line = printed.all.first else {
        kill(process.processIdentifier, SIGKILL)
        process.waitUntilExit()
        Issue.record("serve: \((try? String(contentsOfFile: errors, encoding: .utf8)) ?? "")")
        throw CancellationError()
      }
      ready = try #require(Self.object(line))
    }

    deinit {
      kill(process.processIdentifier, SIGKILL)
      process.waitUntilExit()
    }

    private static func object(_ line: String) -> NSDictionary? {
      try? JSONSerialization.jsonObject(with: Data(line.utf8)) as? NSDictionary
    }

    /// Whether it prints a matching line, now or soon: the line of a request can come after its client has the answer.
    func prints(_ condition: (NSDictionary) -> Bool) -> Bool {
      printed.wait(Self.patience) { $0.contains { Self.object($0).map(condition) ?? false } }
    }

    /// All that it printed.
    var lines: [String] { printed.all }

    var warnings: String { (try? String(contentsOfFile: errors, encoding: .utf8)) ?? "" }

    var url: String { ready["url"] as? String ?? "" }
    var port: String { url.split(separator: ":").last.map(String.init) ?? "" }
    var authority: String { ready["authority"] as? String ?? "" }
    var key: String { ready["key"] as? String ?? "" }
    var isRunning: Bool { process.isRunning }
    var pid: Int32 { process.processIdentifier }

    func interrupt() { kill(process.processIdentifier, SIGTERM) }

    /// Waits for the end, and returns its status; nil: it does not end, and was killed.
    func end() -> Int32? {
      guard printed.waitForEnd(Self.patience) else {
        kill(process.processIdentifier, SIGKILL)
        process.waitUntilExit()
        return nil
      }
      process.waitUntilExit()
      return process.terminationReason == .exit ? process.terminationStatus : -process.terminationStatus
    }
  }

  /// The output of a process, read while it runs, so that the process never waits for its reader.
  private final class PrintedLines: @unchecked Sendable {
    /// Guards the rest.
    private let condition = NSCondition()
    private var lines: [String] = []
    private var isAtEnd = false

    init(_ handle: FileHandle) {
      Thread.detachNewThread { [self] in
        var rest = Data()
        while true {
          let more = handle.availableData
          rest += more
          let end = rest.lastIndex(of: UInt8(ascii: "\n")).map { $0 + 1 } ?? rest.startIndex
          let new = String(decoding: rest[..<end], as: UTF8.self).split(separator: "\n").map(String.init)
          rest = Data(rest[end...])
          condition.withLock {
            lines += new
            isAtEnd = more.isEmpty
            condition.broadcast()
          }
          if more.isEmpty { return }
        }
      }
    }

    var all: [String] { condition.withLock { lines } }

    /// - Parameter seconds: how long to wait at most.
    func wait(_ seconds: Double, until isEnough: ([String]) -> Bool) -> Bool {
      let deadline = Date(timeIntervalSinceNow: seconds)
      return condition.withLock {
        while !isEnough(lines) { if isAtEnd || !condition.wait(until: deadline) { return isEnough(lines) } }
        return true
      }
    }

    func waitForEnd(_ seconds: Double) -> Bool {
      let deadline = Date(timeIntervalSinceNow: seconds)
      return condition.withLock {
        while !isAtEnd { if !condition.wait(until: deadline) { return isAtEnd } }
        return true
      }
    }
  }

  extension Playground {
    /// Runs a script that has to end by itself: after `seconds` it is killed, with all that it has started.
    func boundedShell(_ script: String, seconds: Int = 900) throws -> Run {
      let file = "script-\(UUID().uuidString)"
      try write(script, to: file)
      // Not by SIGTERM, which those may have blocked that were started from a thread that has.
      return try shell("exec timeout -s KILL \(seconds) sh \(file)")
    }
  }
#endif
