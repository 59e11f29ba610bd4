public import PackFormats
public import PackStore

#if canImport(Darwin)
  import Darwin
#elseif canImport(Musl)
  import Musl
#else
  import Glibc
#endif

/// Signs with a command, such as the client of a key service. The command gets the bytes to sign on standard input and the purpose in the
/// variable `PACKSTORE_SIGN_PURPOSE`. It prints the signature: 64 bytes, or the same in base64 or hexadecimal digits.
public struct CommandSigner: RootSigner {
  public let publicKey: SitePublicKey
  private let command: String
  private let limit: Duration

  /// The default time limit of one signature.
  public static let standardLimit: Duration = .seconds(60)

  /// The longest accepted output in bytes.
  private static let outputByteCountLimit = 1024

  /// - Parameters:
  ///   - publicKey: the key whose secret half the command uses. `SiteKey` verifies each signature with it.
  ///   - command: a command for `/bin/sh`. Its standard error is this process's.
  ///   - limit: the time after which the command and its descendants are killed.
  public init(_ publicKey: SitePublicKey, command: String, limit: Duration = standardLimit) {
    self.publicKey = publicKey
    self.command = command
    self.limit = limit
  }

  /// - Throws: `ioError` if the command cannot be started, fails, exceeds the time limit, or prints too much; `untrusted` if its output is
  ///   not a signature in one of the three forms.
  public func signature(of message: SigningMessage) throws -> [UInt8] {
    let input = try Pipe(), output = try Pipe()
    // The message is shorter than any pipe's buffer, and this process still has the end to read: the write neither blocks nor fails.
    try input.write(message.bytes)
    let process = try start(input: input, output: output, purpose: message.purpose)
    input.close()
    output.closeWriting()
    let end = ContinuousClock.now + limit
    let result = Result { try output.read(upTo: Self.outputByteCountLimit + 1, until: end) }
    let isComplete = (try? result.get()).map { $0.map { $0.count <= Self.outputByteCountLimit } ?? false } ?? false
    // The command may have ended, and a descendant has its output. The id belongs to the command until it is reaped.
    if !isComplete { kill(-process, SIGKILL) }
    let ended = Self.wait(process, until: isComplete ? end : .now)
    output.close()
    let printed = try result.get()
    guard printed?.count ?? 0 <= Self.outputByteCountLimit else { throw fault("printed more than a signature") }
    guard let bytes = printed, let status = ended else {
      throw fault("did not end within \(limit.components.seconds) seconds")
    }
    guard status == 0 else {
      throw fault(status & 0x7f == 0 ? "failed with the status \(status >> 8 & 0xff)" : "was ended by a signal")
    }
    guard let signature = SignatureText.decode(bytes) else {
      var error = fault("did not print a signature: 64 bytes, base64 or hexadecimal digits")
      error.code = .untrusted
      throw error
    }
    return signature
  }

  private func fault(_ reason: String) -> PackStoreError {
    PackStoreError(
      .ioError, "the signing command \(reason)", about: .value(command),
      remedy: "run the command by itself, and check its output")
  }

  private func start(input: Pipe, output: Pipe, purpose: String) throws -> pid_t {
    #if canImport(Darwin)
      var actions: posix_spawn_file_actions_t?, attributes: posix_spawnattr_t?
    #else
      var actions = posix_spawn_file_actions_t(), attributes = posix_spawnattr_t()
    #endif
    posix_spawn_file_actions_init(&actions)
    defer { posix_spawn_file_actions_destroy(&actions) }
    posix_spawn_file_actions_adddup2(&actions, input.reading, 0)
    posix_spawn_file_actions_adddup2(&actions, output.writing, 1)
    posix_spawnattr_init(&attributes)
    defer { posix_spawnattr_destroy(&attributes) }
    // A group of its own, so that the command's descendants can be ended with it.
    posix_spawnattr_setpgroup(&attributes, 0)
    posix_spawnattr_setflags(&attributes, Int16(POSIX_SPAWN_SETPGROUP))
    let variables = ProcessInfo.processInfo.environment.merging(["PACKSTORE_SIGN_PURPOSE": purpose]) { $1 }
    let arguments = ["/bin/sh", "-c", command]
    var words = arguments.map { strdup($0) } + [nil]
    var environment = variables.map { strdup("\($0)=\($1)") } + [nil]
    defer { for text in words + environment { free(text) } }
    var process = pid_t()
    let status = posix_spawn(&process, "/bin/sh", &actions, &attributes, &words, &environment)
    guard status == 0 else {
      throw PackStoreError(.ioError, "cannot start the signing command", systemError: Errno(rawValue: status))
    }
    return process
  }

  /// Waits for the end of the command. Kills it and its descendants if the time is over.
  ///
  /// - Returns: its status; `nil` if it was killed because the time is over.
  private static func wait(_ process: pid_t, until end: ContinuousClock.Instant) -> CInt? {
    var status: CInt = 0
    while true {
      let ended = waitpid(process, &status, WNOHANG)
      if ended == process { break }
      if ended < 0, errno != EINTR { return 0 }  // another part of the process reaped it
      guard ContinuousClock.now < end else {
        kill(-process, SIGKILL)
        while waitpid(process, &status, 0) < 0, errno == EINTR {}
        return nil
      }
      _ = poll(nil, 0, 10)
    }
    return status
  }

  /// A pipe whose ends other processes do not inherit.
  private final class Pipe {
    private(set) var reading: CInt
    private(set) var writing: CInt

    init() throws {
      var ends: [CInt] = [-1, -1]
      guard pipe(&ends) == 0 else {
        throw PackStoreError(.ioError, "cannot create a pipe", systemError: Errno(rawValue: errno))
      }
      (reading, writing) = (ends[0], ends[1])
      for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
    }

    deinit { close() }

    func closeWriting() {
      if writing >= 0 { _ = systemClose(writing) }
      writing = -1
    }

    func close() {
      closeWriting()
      if reading >= 0 { _ = systemClose(reading) }
      reading = -1
    }

    func write(_ bytes: [UInt8]) throws {
      let count = bytes.withUnsafeBytes { systemWrite(writing, $0.baseAddress, $0.count) }
      guard count == bytes.count else { throw PackStoreError(.ioError, "cannot write to a pipe") }
    }

    /// Returns the bytes up to the end, or `limit` bytes; `nil` if the time is over before.
    func read(upTo limit: Int, until end: ContinuousClock.Instant) throws -> [UInt8]? {
      var bytes: [UInt8] = [], buffer = [UInt8](repeating: 0, count: limit)
      while bytes.count < limit {
        let left = ContinuousClock.now.duration(to: end)
        guard left > .zero else { return nil }
        var waiting = pollfd(fd: reading, events: Int16(POLLIN), revents: 0)
        let ready = poll(&waiting, 1, CInt(clamping: left.nanoseconds / 1_000_000 + 1))
        if ready == 0 || (ready < 0 && errno == EINTR) { continue }
        let count = buffer.withUnsafeMutableBytes { systemRead(reading, $0.baseAddress, limit - bytes.count) }
        if count < 0, errno == EINTR { continue }
        guard count >= 0 else {
          throw PackStoreError(.ioError, "cannot read from a pipe", systemError: Errno(rawValue: errno))
        }
        guard count > 0 else { break }
        bytes += buffer[..<count]
      }
      return bytes
    }
  }
}

// In methods with the same names, these functions of the system are hidden.
private func systemClose(_ number: CInt) -> CInt { close(number) }
private func systemRead(_ number: CInt, _ buffer: UnsafeMutableRawPointer?, _ count: Int) -> Int {
  read(number, buffer, count)
}
private func systemWrite(_ number: CInt, _ buffer: UnsafeRawPointer?, _ count: Int) -> Int {
  write(number, buffer, count)
}
