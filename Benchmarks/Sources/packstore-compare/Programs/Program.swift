import Foundation
import Synchronization

/// A program, found next to this one or in PATH, and run as a child process.
///
/// Programs run without input, in the C locale, and end when the benchmark is interrupted.
struct Program: Sendable {
  let name: String

  /// Its path, or `nil` if it does not exist.
  let path: String?

  init(_ name: String) {
    self.name = name
    let own = Bundle.main.executableURL.map { [$0.resolvingSymlinksInPath().deletingLastPathComponent().path] } ?? []
    let onPath = (ProcessInfo.processInfo.environment["PATH"] ?? "").split(separator: ":").map(String.init)
    // Where the PATH of a user other than root may not lead.
    let folders = own + onPath + ["/usr/sbin", "/sbin"]
    path = folders.map { "\($0)/\(name)" }.first { access($0, X_OK) == 0 }
  }

  /// Why it cannot be used, or nil.
  var unavailability: String? { path == nil ? "\(name) is not installed" : nil }

  /// Returns the first text like a version in its output when called with `arguments`.
  func version(_ arguments: String...) -> String {
    var output = ""
    // Some say it on the standard error, some return a failure with it.
    _ = try? launch(arguments, in: nil, [:], errors: .output) { output = Self.text(of: $0) }
    let version = output.firstMatch(of: /\d+(\.\d+)+/)?.0 ?? output.firstMatch(of: /\d+/)?.0
    return version.map { "\(name) \($0)" } ?? name
  }

  /// Runs it to its end. Its output is discarded.
  ///
  /// - Throws: ``ProgramFailure`` with the last line of its standard error.
  func run(_ arguments: [String], in folder: String? = nil, environment: [String: String] = [:]) throws {
    let null = Glibc.open("/dev/null", O_WRONLY | O_CLOEXEC)
    defer { close(null) }
    try launch(arguments, in: folder, environment, output: null) { _ in }
  }

  /// Runs it to its end and reads its output to the beginning of `memory`.
  ///
  /// - Returns: the length of the output. Throws ``ProgramFailure`` if the output does not fit.
  func run(_ arguments: [String], into memory: UnsafeMutableRawBufferPointer) throws -> Int {
    var length = 0
    try launch(arguments, in: nil, [:]) { pipe in
      while length < memory.count {
        let count = read(pipe, memory.baseAddress! + length, memory.count - length)
        if count <= 0 { return }
        length += count
      }
    }
    return length
  }

  /// Kills running programs and prevents new ones, so that none writes to folders that are about to be removed, or
  /// mounts file systems again.
  static func endAll() {
    running.withLock { running in
      for process in running.processes { kill(process, SIGKILL) }
      running.isOver = true
    }
  }
}

/// A program returned a failure, or was ended.
struct ProgramFailure: Error, CustomStringConvertible {
  let description: String
}

// MARK: - Processes

extension Program {
  private static let running = Mutex(Running())
  private static let endsWithTheBenchmark: Void = Interruption.whenItBegins(endAll)

  private struct Running {
    var processes: Set<pid_t> = []
    var isOver = false
  }

  private enum Errors { case kept, output }

  /// - Parameters:
  /// - output: the target of its standard output; `nil` for a pipe whose end is passed to `body`.
  private func launch(
    _ arguments: [String], in folder: String?, _ environment: [String: String], output: CInt? = nil,
    errors: Errors = .kept, _ body: (CInt) throws -> Void
  ) throws {
    guard let path else { throw Unavailable("\(name) is not installed") }
    _ = Self.endsWithTheBenchmark
    // Not every system can begin a process in another folder.
    let command =
      folder.map { ["/bin/sh", "-c", "cd -- \"$0\" && exec \"$@\"", $0, path] + arguments } ?? [path] + arguments
    let complaints = tmpfile()
    defer { fclose(complaints) }
    var ends: [CInt] = [-1, -1]
    guard pipe(&ends) == 0 else { throw SystemError("pipe", name) }
    for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
    defer { for end in ends where end >= 0 { close(end) } }

    var actions = posix_spawn_file_actions_t()
    posix_spawn_file_actions_init(&actions)
    defer { posix_spawn_file_actions_destroy(&actions) }
    posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0)
    posix_spawn_file_actions_adddup2(&actions, output ?? ends[1], 1)
    posix_spawn_file_actions_adddup2(&actions, errors == .output ? 1 : fileno(complaints), 2)

    var attributes = posix_spawnattr_t()
    posix_spawnattr_init(&attributes)
    defer { posix_spawnattr_destroy(&attributes) }
    // The benchmark ignores these and handles them otherwise; a program would inherit that.
    var signals = sigset_t()
    sigemptyset(&signals)
    for signal in Interruption.signals { sigaddset(&signals, signal) }
    posix_spawnattr_setsigdefault(&attributes, &signals)
    posix_spawnattr_setflags(&attributes, Int16(POSIX_SPAWN_SETSIGDEF))

    let variables = ProcessInfo.processInfo.environment.merging(["LC_ALL": "C"]) { $1 }.merging(environment) { $1 }
    let process = try Self.running.withLock { running in
      guard !running.isOver else { throw Unavailable("the benchmark was interrupted") }
      var process: pid_t = 0
      let status = withCStrings(command) { arguments in
        withCStrings(variables.map { "\($0)=\($1)" }) {
          posix_spawn(&process, command[0], &actions, &attributes, arguments, $0)
        }
      }
      guard status == 0 else { throw ProgramFailure(description: "\(name): \(String(cString: strerror(status)))") }
      running.processes.insert(process)
      return process
    }
    close(ends[1])
    ends[1] = -1
    let result = Result { try body(ends[0]) }
    // Else a program that has more to say would wait for a reader.
    close(ends[0])
    ends[0] = -1
    let status = Self.wait(for: process)
    try result.get()
    guard status == 0 else {
      let complaint = Self.lastLine(
        of: complaints.map {
          rewind($0); return Self.text(of: fileno($0))
        } ?? "", status)
      throw ProgramFailure(description: "\(name): \(complaint)")
    }
  }

  private static func wait(for process: pid_t) -> CInt {
    // The number is the process's own until it has been waited for: only then may it leave the list, and until then no signal goes to another process.
    var info = siginfo_t()
    while waitid(P_PID, id_t(process), &info, WEXITED | WNOWAIT) != 0, errno == EINTR {}
    return running.withLock { running in
      running.processes.remove(process)
      var status: CInt = -1
      waitpid(process, &status, 0)
      return status
    }
  }

  private static func lastLine(of text: String, _ status: CInt) -> String {
    let lines = text.split(separator: "\n").map { $0.trimmingCharacters(in: .whitespaces) }.filter { !$0.isEmpty }
    // Reports hold no paths.
    return lines.last?.replacing(/(\/[^\s\/:'"]+)+\//, with: ".../") ?? "status \(status)"
  }

  private static func text(of file: CInt) -> String {
    String(decoding: FileHandle(fileDescriptor: file, closeOnDealloc: false).readDataToEndOfFile(), as: UTF8.self)
  }
}

private func withCStrings<Result>(
  _ strings: [String], _ body: (UnsafePointer<UnsafeMutablePointer<CChar>?>) throws -> Result
) rethrows -> Result {
  let copies = strings.map { strdup($0) } + [nil]
  defer { for copy in copies { free(copy) } }
  return try body(copies)
}
