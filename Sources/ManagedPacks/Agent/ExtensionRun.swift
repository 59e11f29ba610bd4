#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#elseif canImport(Darwin)
  import Darwin
#endif

/// The limits for an app's extension.
package struct ExtensionLimits: Hashable, Sendable {
  /// The run time per day, in elapsed time.
  package var dailyTime = Duration.seconds(180)

  /// The memory of the extension and all its descendants in bytes, shared memory included.
  package var byteCount = 64 << 20

  /// The longest duration of one run, which is charged before it begins.
  package var longestRun = Duration.seconds(60)

  /// Whether to kill the extension before its first answer, as if it had crashed. For simulations.
  package var crashes = false

  package init() {}
}

/// The reason why an extension did not answer.
enum ExtensionFailure: Error, Hashable, Sendable {
  case ended(ChildProcess.Exit?)
  /// The extension was not started: its time for the day is used up.
  case noTimeLeft
  case tookTooLong
  case tookTooMuchMemory(byteCount: Int)
  /// The extension's answer is invalid.
  case nonsense
}

extension ExtensionFailure: CustomStringConvertible {
  var description: String {
    switch self {
    case .ended(.status(let status)?): "exited with status \(status) before answering"
    case .ended(.signal(let number)?): "crashed (signal \(number))"
    case .ended(nil): "exited before answering"
    case .noTimeLeft: "has used its time for today"
    case .tookTooLong: "exceeded its time limit"
    case .tookTooMuchMemory(let byteCount): "exceeded its memory limit with \(byteCount) bytes"
    case .nonsense: "sent an invalid answer"
    }
  }
}

extension ExtensionFailure {
  /// Whether the extension ended while it was running, before it answered.
  var isCrash: Bool {
    switch self {
    case .ended, .tookTooLong, .tookTooMuchMemory: true
    case .noTimeLeft, .nonsense: false
    }
  }
}

/// Communicates with an extension's program, within the limits, and ends it.
///
/// If the agent is killed, its checks end with it. The system then still limits the extension's processor time and memory, and an
/// extension that waits finds that its input has ended.
struct ExtensionRun {
  let child: ChildProcess
  let limits: ExtensionLimits
  /// The time at which the run's time is used up.
  var end: ContinuousClock.Instant
  private let now: @Sendable () -> ContinuousClock.Instant
  private var frames: MessageFrames

  /// The largest number of bytes per read.
  private static let readByteCount = 1 << 16

  /// The interval between two checks of the program's memory, in milliseconds.
  private static let samplingInterval: Int32 = 20

  /// The number of checks after which all descendants are included once.
  private static let looksPerFamily = 10
  private var lookCount = 0

  /// The system's memory limit beyond the extension's, so that it cannot use all memory of the machine between two checks. Reserved
  /// but unused memory, such as stacks of threads, counts there.
  private static let slack = 512 << 20

  /// - Parameters:
  ///   - time: the time limit.
  ///   - messageLimit: the size limit of a message from the extension, in bytes.
  ///   - now: returns the current time.
  init(
    _ program: FilePath, _ arguments: [String], environment: [String: String], limits: ExtensionLimits,
    time: Duration, messageLimit: Int = MessageFrames.byteCountLimit,
    now: @escaping @Sendable () -> ContinuousClock.Instant
  ) throws {
    self.now = now
    // The start of the program counts as run time.
    end = now() + time
    let (dataLimit, overflows) = limits.byteCount.addingReportingOverflow(Self.slack)
    child = try ChildProcess(
      program, arguments, environment: environment,
      dataByteCountLimit: overflows ? nil : dataLimit,
      processorSeconds: Int(clamping: time.components.seconds).addingClamped(1))
    self.limits = limits
    frames = MessageFrames(limit: messageLimit)
  }

  /// Returns the ids of the packs that the extension accepts. Blocks.
  ///
  /// - Throws: ``ExtensionFailure``; the program is then killed.
  mutating func wanted(of packs: [AssetPack]) throws -> Set<String> {
    defer { child.kill() }
    var wanted: Set<String> = []
    for pack in packs where try isWanted(pack) { wanted.insert(pack.id) }
    return wanted
  }

  private mutating func isWanted(_ pack: AssetPack) throws -> Bool {
    let request = try MessageFrames.frame(FilterRequest(pack).encode(), limit: FilterProtocol.byteCountLimit)
    let message = try exchange(request)
    guard let reply = try? FilterReply(decoding: message), reply.pack.name == pack.id else {
      throw ExtensionFailure.nonsense
    }
    return reply.isWanted
  }

  /// Sends a message, and returns the next received one. Blocks.
  ///
  /// - Throws: ``ExtensionFailure``.
  mutating func exchange(_ request: [UInt8]) throws -> [UInt8] {
    var output = request[...]
    while true {
      do {
        if let message = try frames.next() {
          guard !limits.crashes else { throw crash() }
          return message
        }
      } catch let failure as ExtensionFailure {
        throw failure
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
    if let byteCount = isOfAll ? child.familyByteCount : child.byteCount, byteCount > limits.byteCount {
      throw ExtensionFailure.tookTooMuchMemory(byteCount: byteCount)
    }
  }

  private func crash() -> ExtensionFailure {
    child.kill()
    return .ended(child.wait(isBlocking: true))
  }

  /// Handles the end of the extension's output. The caller kills a program that continues to run.
  private func ended() -> ExtensionFailure { .ended(child.wait(isBlocking: false)) }
}
