/// The steps of a command, for the logs of build jobs.

import ArgumentParser
import PackDelivery
import PackStore
import Synchronization

/// Options for the log of a command's steps.
struct BuildLogOptions: ParsableArguments {
  @Flag(name: .shortAndLong, help: "Print each step with its time and size to standard error.")
  var verbose = false

  @Option(
    help: .init(
      "File to append steps, warnings, errors and the result to.", valueName: "file"),
    completion: .file())
  var logFile: String?

  func validate() throws {
    guard logFile?.isEmpty != true else { throw ValidationError("--log-file needs a file") }
    guard !verbose || !isJSONWanted else {
      throw ValidationError("--verbose and --json exclude each other; --log-file works with both")
    }
  }
}

/// A command whose steps can be logged.
protocol CommandWithLog {
  var log: BuildLogOptions { get }
}

/// The log of this process's command.
///
/// It contains one line for the command, each completed step, each warning, and each line of the result or the failure. Each line
/// begins with the time in UTC and the seconds since the command began.
///
/// The log contains no secrets: arguments contain no keys, and URLs are written without user, password and query. If a write to the
/// file fails, the log ends with a warning, and the command continues.
final class BuildLog: Sendable {
  private struct State {
    var file: AppendedFile?
    var step: Progress?
    var stepStart: ContinuousClock.Instant
  }

  /// Whether lines are also written to standard error.
  let isVerbose: Bool
  private let clock = ContinuousClock()
  private let start: ContinuousClock.Instant
  private let state: Mutex<State>

  private static let shared = Mutex<BuildLog?>(nil)

  /// The log of the command; `nil` if neither `--verbose` nor `--log-file` is set.
  static var current: BuildLog? { shared.withLock { $0 } }

  /// Opens the command's log, if one is requested. Called before the command runs.
  static func begin(for command: any ParsableCommand, arguments: [String]) throws {
    guard let options = (command as? any CommandWithLog)?.log else { return }
    guard options.verbose || options.logFile != nil else { return }
    let log = BuildLog(options, try options.logFile.map(open))
    shared.withLock { $0 = log }
    log.write("packstore \(packstoreVersion): \(arguments.map(shown).joined(separator: " "))")
  }

  private static func open(_ name: String) throws -> AppendedFile {
    do { return try AppendedFile(FilePath(name)) } catch let error as PackStoreError {
      let cause = error.systemError?.description ?? error.reason
      throw Failure(
        FailureCode(error.code), "'\(escaped(name))': cannot append to the log: \(cause)",
        remedy: "name a file that this user may write to, or leave out --log-file", path: name)
    }
  }

  private init(_ options: BuildLogOptions, _ file: AppendedFile?) {
    isVerbose = options.verbose
    start = clock.now
    state = Mutex(State(file: file, stepStart: start))
  }

  /// Returns an argument without secrets, quoted if a shell would interpret it.
  static func shown(_ argument: String) -> String {
    var text = argument
    text = withoutSecrets(text)
    let isPlain = !text.isEmpty && text.utf8.allSatisfy { $0 > 0x20 && !#"'"\$`*?[]{}()<>|&;~!"#.utf8.contains($0) }
    return isPlain ? escaped(text) : "'\(escaped(text))'"
  }

  /// Records the progress of a step. A step with another name ends the previous step.
  func note(_ progress: Progress) {
    state.withLock { state in
      if let step = state.step, step.activity != progress.activity { end(step, &state) }
      if state.step == nil { state.stepStart = clock.now }
      state.step = progress
    }
  }

  /// Writes the line of the current step, if a step is in progress.
  func endStep() {
    state.withLock { state in
      if let step = state.step { end(step, &state) }
    }
  }

  func write(_ text: String) {
    // Errors and results contain the URLs of requests.
    let text = hidingSecrets(in: text)
    state.withLock { state in
      if let step = state.step { end(step, &state) }
      line(text, &state)
    }
  }

  private func end(_ step: Progress, _ state: inout State) {
    state.step = nil
    let duration = clock.now - state.stepStart
    var facts = [formatDuration(duration)]
    if step.filesDone > 0 { facts.append(formatCount(step.filesDone, "file")) }
    if step.bytesDone > 0 {
      facts += ["\(formatCount(step.bytesDone, "byte"))", formatRate(step.bytesDone, in: duration)]
    }
    line("\(step.activity): \(facts.joined(separator: ", "))", &state)
  }

  private func line(_ text: String, _ state: inout State) {
    let seconds = (clock.now - start) / .seconds(1)
    let tenths = Int(min(max(seconds, 0), 1e9) * 10)
    let line = "\(formatDate(Date())) +\(tenths / 10).\(tenths % 10)s \(text)\n"
    if isVerbose { writeToStandardError(line) }
    guard let file = state.file else { return }
    do { try file.append(Array(line.utf8)) } catch {
      state.file = nil
      warnOnly(
        .fullLog, "cannot write to the log: \((error as? PackStoreError)?.systemError?.description ?? "\(error)")")
    }
  }
}
