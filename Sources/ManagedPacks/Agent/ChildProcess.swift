import Synchronization

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#elseif canImport(Darwin)
  import Darwin
#endif

/// A program that this process has started, with a socket for its standard input, over which the two talk. What it prints goes to
/// standard error. Killed, with all that it has started, and reaped by its owner's end.
final class ChildProcess: Sendable {
  /// Held while a program is started, and while a descriptor is open that it must not get.
  static let startLock = Mutex(())

  let number: pid_t
  let socket: LocalSocket
  private let exit: Mutex<Exit?> = Mutex(nil)

  enum Exit: Hashable, Sendable {
    case status(Int32)
    case signal(Int32)
  }

  /// - Parameters:
  ///   - program: an absolute path.
  ///   - environment: all of it.
  ///   - dataByteCountLimit: what the system gives the program of private memory that it may write; nil: what this process has.
  ///     It is a backstop: stacks and what is reserved and never used count.
  ///   - processorSeconds: after which the system kills it, whatever became of this process. Both hold for each process that it
  ///     starts.
  /// - Throws: `PackStoreError` `ioError`.
  init(
    _ program: FilePath, _ arguments: [String], environment: [String: String], dataByteCountLimit: Int?,
    processorSeconds: Int
  ) throws {
    let (own, other) = try LocalSocket.pair()
    socket = own
    // As programs expect it of their standard input.
    _ = fcntl(other.number, F_SETFL, 0)
    // No other way to limit a program before it begins is there without forking: the shell's place is taken by the program.
    let limits = dataByteCountLimit.map { "ulimit -d \($0 / 1024); " } ?? ""
    let script = "ulimit -c 0; ulimit -t \(max(processorSeconds, 1)); \(limits)exec \"$0\" \"$@\""
    let words = ["/bin/sh", "-c", script, program.string] + arguments
    number = try Self.startLock.withLock { _ in
      try Self.spawn("/bin/sh", words, environment.map { "\($0)=\($1)" }.sorted(), standardInput: other.number)
    }
  }

  deinit {
    kill()
    _ = wait(isBlocking: true)
  }

  private static func spawn(
    _ path: String, _ arguments: [String], _ environment: [String], standardInput: CInt
  ) throws -> pid_t {
    var actions = posix_spawn_file_actions_t()
    posix_spawn_file_actions_init(&actions)
    defer { posix_spawn_file_actions_destroy(&actions) }
    posix_spawn_file_actions_adddup2(&actions, standardInput, 0)
    posix_spawn_file_actions_adddup2(&actions, 2, 1)
    closeOthers(&actions)
    var attributes = posix_spawnattr_t()
    posix_spawnattr_init(&attributes)
    defer { posix_spawnattr_destroy(&attributes) }
    // What this process ignores or blocks is none of the program's business.
    var all = sigset_t(), none = sigset_t()
    sigfillset(&all)
    sigemptyset(&none)
    posix_spawnattr_setsigdefault(&attributes, &all)
    posix_spawnattr_setsigmask(&attributes, &none)
    posix_spawnattr_setpgroup(&attributes, 0)
    #if os(Linux)
      let ownGroup: Int16 = 0x80  // POSIX_SPAWN_SETSID: a session, too
    #else
      let ownGroup = Int16(POSIX_SPAWN_SETPGROUP)
    #endif
    posix_spawnattr_setflags(
      &attributes, Int16(POSIX_SPAWN_SETSIGDEF) | Int16(POSIX_SPAWN_SETSIGMASK) | ownGroup)
    var words = arguments.map { strdup($0) } + [nil], variables = environment.map { strdup($0) } + [nil]
    defer { for text in words + variables { free(text) } }
    var number = pid_t()
    let status = posix_spawn(&number, path, &actions, &attributes, &words, &variables)
    guard status == 0 else {
      throw PackStoreError(.ioError, "cannot start a program", file: path, systemError: Errno(rawValue: status))
    }
    return number
  }

  /// Files that other libraries of this process have open, and that an exec does not close, such as ends of pipes, would stay open
  /// for as long as the program runs. One that is opened meanwhile may.
  private static func closeOthers(_ actions: inout posix_spawn_file_actions_t) {
    #if os(Linux)
      for name in (try? namesInFolder(FilePath("/proc/self/fd"))) ?? [] {
        guard let number = CInt(name), number > 2 else { continue }
        posix_spawn_file_actions_addclose(&actions, number)
      }
    #endif
  }

  /// Ends the program and what it has started, unless it has ended.
  func kill() {
    // The number is the program's until it is reaped.
    exit.withLock { exit in if exit == nil { family.kill() } }
  }

  private var family: ProcessFamily { ProcessFamily(leader: number) }

  /// How it ended; what it has started ends then, too.
  ///
  /// - Parameter isBlocking: waits until it has. Nil otherwise: it runs.
  @discardableResult
  func wait(isBlocking: Bool) -> Exit? {
    exit.withLock { exit in
      if let exit { return exit }
      var info = siginfo_t()
      var result: CInt
      repeat {
        result = waitid(P_PID, id_t(number), &info, WEXITED | WNOWAIT | (isBlocking ? 0 : WNOHANG))
      } while result < 0 && errno == EINTR
      guard result < 0 || info.si_signo != 0 else { return nil }
      if result == 0 { family.kill() }
      exit = reap()
      return exit
    }
  }

  private func reap() -> Exit {
    var status: CInt = 0
    var result: pid_t
    repeat { result = waitpid(number, &status, 0) } while result < 0 && errno == EINTR
    // One that is not there any more was reaped by others; how it ended is not known.
    let signal = status & 0x7f
    return result < 0 ? .signal(SIGKILL) : signal == 0 ? .status(status >> 8 & 0xff) : .signal(signal)
  }

  /// What it takes of memory that is its own, in bytes; nil: the system does not say, or it has ended.
  var privateByteCount: Int? { privateMemory(ofProcess: number) }

  /// The same of the program and all that it has started.
  var familyByteCount: Int? { family.privateByteCount }
}

/// Bytes of memory that a process has written to and shares with no file; nil: the system does not say.
package func privateMemory(ofProcess number: pid_t) -> Int? {
  #if os(Linux)
    guard let file = try? InputFile("status", in: FilePath("/proc/\(number)")),
      let text = try? file.contents(limit: 1 << 16)
    else { return nil }
    let line = String(decoding: text, as: UTF8.self).split(separator: "\n").first { $0.hasPrefix("RssAnon:") }
    let words = line?.split(whereSeparator: { $0 == " " || $0 == "\t" })
    guard let count = words.flatMap({ $0.count == 3 ? Int($0[1]) : nil }) else { return nil }
    let (bytes, overflows) = count.multipliedReportingOverflow(by: 1024)
    return overflows ? nil : bytes
  #else
    return nil
  #endif
}
