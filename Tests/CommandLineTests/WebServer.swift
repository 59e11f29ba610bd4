/// Real web servers on this machine, each for one test.

import Foundation
import Testing

#if canImport(Darwin)
  import Darwin
#elseif canImport(Musl)
  import Musl
#else
  import Glibc
#endif

/// A web server that serves a folder of a playground.
final class WebServer {
  /// A line of its log.
  struct Request {
    /// With the slash at the beginning.
    let path: String
    let range: ClosedRange<Int>?
    let status: Int
    /// The number of sent bytes of the body.
    let byteCount: Int
  }

  let port: Int
  private var process: Process
  let log: String

  private init(_ process: Process, port: Int, log: String) {
    self.process = process
    self.port = port
    self.log = log
  }

  deinit {
    // It may have been started with blocked signals.
    kill(process.processIdentifier, SIGKILL)
    process.waitUntilExit()
  }

  var url: String { "http://127.0.0.1:\(port)" }

  /// Kills it during its transfers, and starts it again at the same port.
  func crash() throws {
    guard let program = process.executableURL, let arguments = process.arguments else { return }
    let folder = URL(fileURLWithPath: log).deletingLastPathComponent().path
    kill(process.processIdentifier, SIGKILL)
    process.waitUntilExit()
    for _ in 0..<20 {
      let next = Process()
      next.executableURL = program
      next.arguments = arguments
      next.standardInput = FileHandle.nullDevice
      next.standardOutput = FileHandle.nullDevice
      next.standardError = FileHandle.nullDevice
      try next.run()
      process = next
      if Self.waitForPort(port, of: next, changing: folder) { return }
    }
    throw ServerError("the server does not start again")
  }

  // MARK: - nginx

  /// nginx: ranges, strong tags, connections that stay open.
  ///
  /// - Parameter directives: more of its configuration, for the server.
  static func nginx(
    _ playground: Playground, serving folder: String, _ directives: String = "", hasTLS: Bool = false
  ) throws -> WebServer {
    let program = try find("nginx", package: "nginx-light")
    let work = "\(playground.path)/nginx-\(UUID().uuidString)"
    try FileManager.default.createDirectory(atPath: work, withIntermediateDirectories: true)
    // Another process may take a free port before nginx does.
    for _ in 0..<20 {
      let port = try freePort()
      let configuration = """
        daemon off; master_process off; pid \(work)/pid; error_log \(work)/errors;
        events { worker_connections 64; }
        http {
          log_format ranges '$uri|$http_range|$status|$body_bytes_sent';
          access_log \(work)/log ranges;
          client_body_temp_path \(work)/body; proxy_temp_path \(work)/proxy; fastcgi_temp_path \(work)/fastcgi;
          uwsgi_temp_path \(work)/uwsgi; scgi_temp_path \(work)/scgi;
          server { listen 127.0.0.1:\(port)\(hasTLS ? " ssl" : ""); root \(playground.path)/\(folder); \(directives) }
        }
        """
      try Data(configuration.utf8).write(to: URL(fileURLWithPath: "\(work)/configuration"))
      let process = try start(
        program, ["-p", work, "-e", "\(work)/errors", "-c", "\(work)/configuration"], in: playground)
      if waitForPort(port, of: process, changing: work) {
        return WebServer(process, port: port, log: "\(work)/log")
      }
    }
    throw ServerError("nginx does not start")
  }

  /// What nginx was asked for and sent. It writes a line when a request ended.
  ///
  /// Only new lines of the log are read, because tests read it repeatedly.
  var requests: [Request] {
    guard let file = FileHandle(forReadingAtPath: log) else { return known }
    try? file.seek(toOffset: position)
    let new = (try? file.readToEnd()) ?? Data()
    let lines = new[..<(new.lastIndex(of: UInt8(ascii: "\n")).map { $0 + 1 } ?? new.startIndex)]
    position += UInt64(lines.count)
    known += String(decoding: lines, as: UTF8.self).split(separator: "\n").compactMap(Self.request)
    return known
  }

  private var known: [Request] = []
  private var position: UInt64 = 0

  private static func request(_ line: Substring) -> Request? {
    let fields = line.split(separator: "|", omittingEmptySubsequences: false)
    guard fields.count == 4, let status = Int(fields[2]), let byteCount = Int(fields[3]) else { return nil }
    let range = fields[1].wholeMatch(of: /bytes=([0-9]+)-([0-9]+)/).map { Int($0.output.1)!...Int($0.output.2)! }
    return Request(path: String(fields[0]), range: range, status: status, byteCount: byteCount)
  }

  // MARK: - Python

  /// Python's `http.server`: no ranges, no tags, a connection for each request. It logs nothing of the sizes.
  static func python(_ playground: Playground, serving folder: String) throws -> WebServer {
    let program = try find("python3", package: "python3")
    for _ in 0..<20 {
      let port = try freePort()
      let log = "\(playground.path)/python-\(port)"
      let process = try start(
        program,
        ["-u", "-m", "http.server", "\(port)", "--bind", "127.0.0.1", "--directory", "\(playground.path)/\(folder)"],
        in: playground, errors: log)
      if waitForPort(port, of: process, changing: "\(playground.path)") {
        return WebServer(process, port: port, log: log)
      }
    }
    throw ServerError("python3 -m http.server does not start")
  }

  /// Paths that Python was asked for.
  var pythonPaths: [String] {
    let text = (try? String(contentsOfFile: log, encoding: .utf8)) ?? ""
    return text.matches(of: /"GET (\S+) HTTP/).map { String($0.output.1) }
  }

  // MARK: - Gated

  /// Starts a server that sends `byteCount` bytes of segments, and no more until ``openGate()``. A transfer cannot end before that, so a test
  /// does not depend on its speed. The server serves ranges, and writes the log that ``requests`` reads.
  static func gated(_ playground: Playground, serving folder: String, byteCount: Int) throws -> WebServer {
    let script = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
      .appendingPathComponent("../Serving/gated-site").standardizedFileURL.path
    let log = "\(playground.path)/gated-\(UUID().uuidString)", input = Pipe(), output = Pipe(), process = Process()
    try Data().write(to: URL(fileURLWithPath: log))
    process.executableURL = try find("python3", package: "python3")
    process.arguments = [script, "\(playground.path)/\(folder)", "\(byteCount)", log]
    process.standardInput = input
    process.standardOutput = output
    try process.run()
    var line = Data()
    while let byte = try output.fileHandleForReading.read(upToCount: 1), byte != Data("\n".utf8) { line += byte }
    guard let port = Int(String(decoding: line, as: UTF8.self)) else { throw ServerError("gated-site does not start") }
    let server = WebServer(process, port: port, log: log)
    server.gate = input.fileHandleForWriting
    return server
  }

  /// The input of a gated server.
  private var gate: FileHandle?

  /// Waits until the server has sent all bytes that it may send before the gate opens.
  func waitUntilHeld(while condition: () -> Bool = { true }) {
    waitForChange(of: log) { requests.contains { $0.path == "/held" } || !condition() }
  }

  func openGate() throws { try gate?.write(contentsOf: Data("open\n".utf8)) }

  // MARK: - Starting

  private struct ServerError: Error, CustomStringConvertible {
    let description: String
    init(_ description: String) { self.description = description }
  }

  private static func find(_ program: String, package: String) throws -> URL {
    let folders = (ProcessInfo.processInfo.environment["PATH"] ?? "").split(separator: ":").map(String.init)
    for folder in folders + ["/usr/sbin", "/usr/local/sbin", "/usr/bin"] {
      if access("\(folder)/\(program)", X_OK) == 0 { return URL(fileURLWithPath: "\(folder)/\(program)") }
    }
    throw ServerError("this test needs '\(program)': install the package \(package) (make setup does)")
  }

  private static func start(
    _ program: URL, _ arguments: [String], in playground: Playground, errors: String? = nil
  ) throws -> Process {
    let process = Process()
    process.executableURL = program
    process.arguments = arguments
    process.standardInput = FileHandle.nullDevice
    process.standardOutput = FileHandle.nullDevice
    process.standardError = FileHandle.nullDevice
    if let errors {
      try Data().write(to: URL(fileURLWithPath: errors))
      process.standardError = FileHandle(forWritingAtPath: errors)
    }
    try process.run()
    return process
  }

  static func freePort() throws -> Int {
    let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
    defer { close(descriptor) }
    var address = loopback(0)
    var length = socklen_t(MemoryLayout<sockaddr_in>.size)
    let status = withUnsafeMutablePointer(to: &address) { pointer in
      pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        bind(descriptor, $0, length) == 0 ? getsockname(descriptor, $0, &length) : -1
      }
    }
    guard status == 0 else { throw ServerError("there is no free port") }
    return Int(UInt16(bigEndian: address.sin_port))
  }

  private static func loopback(_ port: Int) -> sockaddr_in {
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_port = UInt16(port).bigEndian
    address.sin_addr.s_addr = UInt32(0x7f00_0001).bigEndian
    return address
  }

  /// Waits until the process listens. Returns false if it ends.
  ///
  /// - Parameter folder: a folder in which the process creates a file when it is ready, as nginx does.
  private static func waitForPort(_ port: Int, of process: Process, changing folder: String) -> Bool {
    var isListening = false
    waitForChange(of: folder) {
      guard process.isRunning else { return true }
      let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
      defer { close(descriptor) }
      var address = loopback(port)
      let status = withUnsafePointer(to: &address) { pointer in
        pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
          connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
        }
      }
      isListening = status == 0
      return isListening
    }
    return isListening
  }
}
