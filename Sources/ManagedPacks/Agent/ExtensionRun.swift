#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#elseif canImport(Darwin)
  import Darwin
#endif

/// What an app's extension may take.
package struct ExtensionLimits: Hashable, Sendable {
  /// Of time that passes, a day.
  package var dailyTime = Duration.seconds(180)

  /// Of memory that is its own, with all that it has started.
  package var byteCount = 64 << 20

  /// What a run is charged before it begins, at most.
  package var longestRun = Duration.seconds(60)

  /// It is ended before its first answer counts, as if it had crashed: for a play.
  package var crashes = false

  package init() {}
}

/// Why an extension did not answer.
enum ExtensionFailure: Error, Hashable, Sendable {
  case ended(ChildProcess.Exit?)
  /// It was not started: what it may take of the day is used up.
  case noTimeLeft
  case tookTooLong
  case tookTooMuchMemory(byteCount: Int)
  /// What it said is no answer.
  case nonsense
}

extension ExtensionFailure: CustomStringConvertible {
  var description: String {
    switch self {
    case .ended(.status(let status)?): "it ended with status \(status) before it had answered"
    case .ended(.signal(let number)?): "it crashed (signal \(number))"
    case .ended(nil): "it ended before it had answered"
    case .noTimeLeft: "it has no time left today"
    case .tookTooLong: "it took more time than it has"
    case .tookTooMuchMemory(let byteCount): "it took \(byteCount) bytes of memory"
    case .nonsense: "what it answered makes no sense"
    }
  }
}

extension ExtensionFailure {
  /// Whether it was running, and did not live to answer.
  var isCrash: Bool {
    switch self {
    case .ended, .tookTooLong, .tookTooMuchMemory: true
    case .noTimeLeft, .nonsense: false
    }
  }
}

/// Talks to an extension's program, within what it may take, and ends it.
///
/// What this process sees to ends with it; of an extension whose agent was killed the system limits the time of processors and the
/// memory, and one that waits finds that its input has ended.
struct ExtensionRun {
  let child: ChildProcess
  let limits: ExtensionLimits
  /// When it has taken its time.
  var end: ContinuousClock.Instant
  private let now: @Sendable () -> ContinuousClock.Instant
  private var frames: MessageFrames

  /// The most bytes that are read at a time.
  private static let readByteCount = 1 << 16

  /// How often its memory is looked at, in milliseconds.
  private static let samplingInterval: Int32 = 20

  /// Every so many looks are at all that it has started.
  private static let looksPerFamily = 10
  private var lookCount = 0

  /// What the system gives it beyond its limit: between two looks it cannot take all of the machine's memory. What is reserved and
  /// never used, such as stacks of threads, counts there.
  private static let slack = 512 << 20

  /// - Parameters:
  ///   - time: how long it may take.
  ///   - messageLimit: the most bytes of what it says at a time.
  ///   - now: returns the current time.
  init(
    _ program: FilePath, _ arguments: [String], environment: [String: String], limits: ExtensionLimits,
    time: Duration, messageLimit: Int = MessageFrames.byteCountLimit,
    now: @escaping @Sendable () -> ContinuousClock.Instant
  ) throws {
    self.now = now
    // The time that it takes to start counts.
    end = now() + time
    let (dataLimit, overflows) = limits.byteCount.addingReportingOverflow(Self.slack)
    child = try ChildProcess(
      program, arguments, environment: environment,
      dataByteCountLimit: overflows ? nil : dataLimit,
      processorSeconds: Int(clamping: time.components.seconds).addingClamped(1))
    self.limits = limits
    frames = MessageFrames(limit: messageLimit)
  }

  /// Which of the packs it wants. Blocks.
  ///
  /// - Throws: ``ExtensionFailure``; it is killed then.
  mutating func wanted(of packs: [AssetPack]) throws -> Set<String> {
    defer { child.kill() }
    var wanted: Set<String> = []
    for pack in packs where try isWanted(pack) { wanted.insert(pack.id) }
    return wanted
  }

  private mutating func isWanted(_ pack: AssetPack) throws -> Bool {
    let request = try MessageFrames.frame(FilterRequest(pack).encode(), limit: FilterProtocol.byteCountLimit)
    let message = try exchange(request)
    guard !limits.crashes else { throw crash() }
    guard let reply = try? FilterReply(decoding: message), reply.pack.name == pack.id else {
      throw ExtensionFailure.nonsense
    }
    return reply.isWanted
  }

  /// Sends a message, and returns the next one that comes. Blocks.
  ///
  /// - Throws: ``ExtensionFailure``.
  mutating func exchange(_ request: [UInt8]) throws -> [UInt8] {
    var output = request[...]
    while true {
      do {
        if let message = try frames.next() { return message }
      } catch {
        throw ExtensionFailure.nonsense
      }
      try check()
      guard let written = try? output.isEmpty ? 0 : child.socket.write(output) else { throw ended() }
      output = output.dropFirst(written)
      var entries = [
        pollfd(fd: child.socket.number, events: Int16(POLLIN | (output.isEmpty ? 0 : POLLOUT)), revents: 0)
      ]
      guard systemPoll(&entries, Self.samplingInterval) > 0 else { continue }
      guard let bytes = try? child.socket.read(upTo: min(frames.room, Self.readByteCount)) else {
        if Int32(entries[0].revents) & (POLLHUP | POLLERR) != 0 { throw ended() }
        continue
      }
      guard !bytes.isEmpty else { throw ended() }
      frames.append(bytes)
    }
  }

  private mutating func check() throws {
    guard now() < end else { throw ExtensionFailure.tookTooLong }
    lookCount += 1
    let isOfAll = lookCount % Self.looksPerFamily == 0
    if let byteCount = isOfAll ? child.familyByteCount : child.privateByteCount, byteCount > limits.byteCount {
      throw ExtensionFailure.tookTooMuchMemory(byteCount: byteCount)
    }
  }

  private func crash() -> ExtensionFailure {
    child.kill()
    return .ended(child.wait(isBlocking: true))
  }

  /// It said that it says no more. A program that runs on after that is killed.
  private func ended() -> ExtensionFailure { .ended(child.wait(isBlocking: false)) }
}
