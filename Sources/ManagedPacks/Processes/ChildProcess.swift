import Synchronization

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#elseif canImport(Darwin)
  import Darwin
#endif

/// A child process, with a socket as its standard input for communication in both directions. Its standard output goes to standard
/// error. When this object is released, the process and all its descendants are killed, and the process is reaped.
final class ChildProcess: Sendable {
  /// Held while a program is started, and while a descriptor is open that it must not inherit.
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
  ///   - environment: the complete environment.
  ///   - dataByteCountLimit: the system's limit for the program's private writable memory, in bytes; `nil` for the limit of this
  ///     process. It is a backstop: stacks and reserved but unused memory count.
  ///   - processorSeconds: the processor time after which the system kills the program, even if this process has ended. Both limits
  ///     apply to each process that the program starts.
  /// - Throws: `PackStoreError` `ioError`.
  init(
    _ program: FilePath, _ arguments: [String], environment: [String: String], dataByteCountLimit: Int?,
    processorSeconds: Int
  ) throws {
    let (own, other) = try LocalSocket.pair()
    socket = own
    // Programs expect a blocking standard input.
    _ = fcntl(other.number, F_SETFL, 0)
    // Without a fork, limits can be set only through a shell, which the program then replaces.
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
    // The program must not inherit ignored or blocked signals.
    var all = sigset_t(), none = sigset_t()
    sigfillset(&all)
    sigemptyset(&none)
    posix_spawnattr_setsigdefault(&attributes, &all)
    posix_spawnattr_setsigmask(&attributes, &none)
    posix_spawnattr_setpgroup(&attributes, 0)
    #if os(Linux)
      let ownGroup: Int16 = 0x80  // POSIX_SPAWN_SETSID: also creates a session
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

  /// Closes files that other libraries of this process have open without close-on-exec, such as ends of pipes. Otherwise they would
  /// stay open while the program runs. A file opened during this call may be missed.
  private static func closeOthers(_ actions: inout posix_spawn_file_actions_t) {
    #if os(Linux)
      for name in (try? namesInFolder(FilePath("/proc/self/fd"))) ?? [] {
        guard let number = CInt(name), number > 2 else { continue }
        posix_spawn_file_actions_addclose(&actions, number)
      }
    #endif
  }

  /// Kills the program and all its descendants, unless it has ended.
  func kill() {
    // The process id belongs to the program until it is reaped.
    exit.withLock { exit in if exit == nil { family.kill() } }
  }

  private var family: ProcessFamily { ProcessFamily(leader: number) }

  /// Returns how the program ended, and kills its descendants.
  ///
  /// - Parameter isBlocking: whether to wait for the end. If false, returns `nil` while the program runs.
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
    // Another part of the process reaped it; its exit status is unknown.
    let signal = status & 0x7f
    return result < 0 ? .signal(SIGKILL) : signal == 0 ? .status(status >> 8 & 0xff) : .signal(signal)
  }

  /// The program's memory in bytes, as ``processMemory(_:)`` counts it.
  var byteCount: Int? { processMemory(number) }

  /// The memory of the program and all its descendants, in bytes.
  var familyByteCount: Int? { family.byteCount }
}
