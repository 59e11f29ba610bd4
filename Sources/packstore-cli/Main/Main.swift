/// The command line of PackStore.

import ArgumentParser
import Dispatch
import PackDelivery
import PackStore

#if canImport(Darwin)
  import Darwin
#elseif canImport(Musl)
  import Musl
#else
  import Glibc
#endif

let packstoreVersion = Store.libraryVersion

struct Packstore: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "packstore",
    abstract: "Store, publish and update packs: named, versioned sets of files.",
    discussion: """
        packstore add Packs Assets/Tutorial --pack Tutorial

      Names that begin with '-' follow '--'. --version prints the version.
      --json prints results and errors as JSON. Exit status: 0 success, 1 failure,
      2 wrong usage, 3 network, 4 trust, 5 no space, 6 busy, 7 damage, 130 cancelled.
      """,
    groupedSubcommands: groups
  )

  /// The commands by task, starting with the most frequent tasks.
  private static let groups = [
    CommandGroup(
      name: "Store",
      subcommands: [
        Add.self, Import.self, Remove.self, Rollback.self, Pin.self, Unpin.self, ShowAttributes.self, Place.self,
      ]),
    CommandGroup(
      name: "Read",
      subcommands: [
        List.self, Cat.self, Extract.self, Log.self, Stat.self, Diff.self, Inspect.self, Conflicts.self,
      ]),
    CommandGroup(name: "Update", subcommands: [Pull.self, Update.self, Offers.self, Apply.self, Trust.self]),
    CommandGroup(name: "Publish", subcommands: [Publish.self, Unpublish.self, Deltas.self, Upload.self]),
    CommandGroup(
      name: "Operate sites",
      subcommands: [
        Status.self, History.self, Refresh.self, CheckServed.self, CheckBucket.self, SiteGroup.self, Strip.self,
      ]),
    CommandGroup(
      name: "Channels and keys",
      subcommands: [
        Promote.self, Demote.self, Channels.self, Policy.self, Keygen.self, Delegate.self, Rotate.self, Keyset.self,
      ]),
    CommandGroup(
      name: "Author",
      subcommands: [
        Template.self, Evaluate.self, Package.self, Export.self, MakeDelta.self, Convert.self,
        MakeDownloadManifest.self,
      ]),
    CommandGroup(name: "Maintain", subcommands: [Verify.self, Repair.self, CollectGarbage.self, Purge.self]),
    CommandGroup(
      name: "Apps and development",
      subcommands: [Agent.self, Share.self, Serve.self, Simulate.self, OverrideURL.self]),
  ]
}

extension Packstore {
  static var commandNames: [String] { configuration.subcommands.map { $0._commandName } }

  /// Parses the arguments into a command.
  ///
  /// If the first word is the name of a command, that command alone parses the words after it: parsing as the root takes more than
  /// twice as long, because it collects the commands and their options. Only the root's errors and help contain the program's name,
  /// so invalid arguments are parsed once more.
  static func command(_ arguments: ArraySlice<String>) throws -> any ParsableCommand {
    if let command = commandByName(arguments) { return command }
    let parsed = Result {
      try requireKnownShortOptions(arguments)
      return try parseAsRoot(Array(arguments))
    }
    // ArgumentParser returns its own help command for 'WORD --help' and 'help WORD', even if no command WORD exists.
    if case .success(let command) = parsed, configuration.subcommands.contains(where: { $0 == type(of: command) }) {
      return command
    }
    try requireKnownCommand(arguments)
    return try parsed.get()
  }

  private static func commandByName(_ arguments: ArraySlice<String>) -> (any ParsableCommand)? {
    guard (try? requireKnownShortOptions(arguments)) != nil, let word = arguments.first,
      let command = configuration.subcommands.first(where: { $0.configuration.commandName == word }),
      let parsed = try? command.parseAsRoot(Array(arguments.dropFirst())), type(of: parsed) == command
    else { return nil }
    return parsed
  }

  /// Fails if the first word is not a command: ArgumentParser would report the options after it instead.
  fileprivate static func requireKnownCommand(_ arguments: ArraySlice<String>) throws {
    let words = arguments.first == "help" ? arguments.dropFirst() : arguments
    guard let word = words.first, !word.hasPrefix("-") else { return }
    guard !commandNames.contains(word), word != "help" else { return }
    let nearest = nearestNames(to: word, among: commandNames)
    var failure = Failure(
      .usage, "'\(escaped(word))': not a command",
      remedy: nearest.isEmpty ? "'packstore help' lists them" : "did you mean \(alternatives(nearest))?")
    failure.facts.suggestions = nearest
    throw failure
  }
}

extension Packstore {
  /// Fails if an argument is not UTF-8: in a string, replacement characters for its invalid bytes would name another file.
  fileprivate static func requireUTF8() throws {
    for place in stride(from: 1, to: Int(CommandLine.argc), by: 1) {
      guard let word = CommandLine.unsafeArgv[place], String(validatingCString: word) == nil else { continue }
      let bytes = UnsafeRawBufferPointer(start: word, count: strlen(word))
      throw Failure(
        .usage, "'\(escaped(bytes))': not UTF-8", remedy: "rename the file, or name a link to it")
    }
  }

  /// The one-letter options of all commands.
  static let shortOptions: Set<Character> = ["0", "R", "h", "l", "o", "q", "v"]

  /// Fails if a word such as '-dash' is not a group of one-letter options: ArgumentParser would print help because of the 'h', or
  /// report a single letter.
  fileprivate static func requireKnownShortOptions(_ arguments: ArraySlice<String>) throws {
    for word in arguments.prefix(while: { $0 != "--" }) where word.hasPrefix("-") && !word.hasPrefix("--") {
      let letters = word.dropFirst()
      let isNumber = letters.utf8.allSatisfy { (48...57).contains($0) }
      guard letters.count > 1, !isNumber else { continue }
      guard letters.allSatisfy(shortOptions.contains), !letters.contains("h") else {
        throw Failure(
          .usage, "'\(escaped(word))': not an option", remedy: "a name that begins with '-' goes after '--'")
      }
    }
  }
}

@main
enum Main {
  static func main() {
    reserveStandardStreams()
    signal(SIGPIPE, SIG_IGN)  // `write` reports a closed pipe as an error
    correctWidth()
    let refusal = ThreadTrial.run()
    guard refusal == 0 else { exit(runWithoutThreads(refusal).rawValue) }
    Task { exit(await runAsTask().rawValue) }
    dispatchMain()
  }

  /// The least width of help. If the indentation takes the whole width, ArgumentParser prints empty lines.
  private static let leastWidth = 40

  /// Corrects COLUMNS for narrow terminals, and if it is invalid: some terminals of unknown width set it to 0.
  private static func correctWidth() {
    var columns = getenv("COLUMNS").flatMap { Int(String(cString: $0)) }
    if let width = columns, width <= 0 {
      unsetenv("COLUMNS")
      columns = nil
    }
    var size = winsize()
    let width = columns ?? (ioctl(STDOUT_FILENO, UInt(TIOCGWINSZ), &size) == 0 ? Int(size.ws_col) : 0)
    if width > 0, width < leastWidth { setenv("COLUMNS", "\(leastWidth)", 1) }
  }

  private static func runAsTask() async -> ProgramStatus {
    let task = Task {
      if let reading = try plainReading() {
        do { return try reading.run() } catch { throw CommandError(error, about: .init(store: reading.store)) }
      }
      let command = try parse()
      do {
        guard var command = command as? any AsyncParsableCommand else { return try runNow(command) }
        try begin(command)
        try await command.run()
      } catch {
        throw CommandError(error, of: command)
      }
    }
    let watch = SignalWatch(cancelling: task)
    let result = await task.result
    withExtendedLifetime(watch) {}
    if case .failure(let error) = result { return report(error) }
    return .done
  }

  /// Runs a command without creating threads: help, the version, synchronous commands, and `ls` of a store. Signals have their
  /// default effect.
  private static func runWithoutThreads(_ refusal: Int32) -> ProgramStatus {
    do {
      let command = try parse()
      do {
        if let list = command as? List, try list.readsStore {
          try begin(list)
          try SingleThread.run { try await list.run() }
          return .done
        }
        guard !(command is any AsyncParsableCommand) else {
          throw Failure(
            .failed, "cannot create threads: \(systemErrorText(refusal))",
            remedy: "raise the process limit (ulimit -u, or the container's pids limit), or end other processes")
        }
        try runNow(command)
      } catch {
        throw CommandError(error, of: command)
      }
      return .done
    } catch {
      return report(error)
    }
  }

  private static func plainReading() throws -> PlainReading? {
    try Packstore.requireUTF8()
    return appleTool == nil ? PlainReading(programArguments) : nil
  }

  private static func parse() throws -> any ParsableCommand {
    try Packstore.requireUTF8()
    let words = Array(CommandLine.arguments.dropFirst())
    if let answer = try appleTool?.answer(to: words, version: packstoreVersion) { throw CleanExit.message(answer) }
    // ArgumentParser would also accept `--version` in 'add --version N'.
    if programArguments == ["--version"] { throw CleanExit.message(packstoreVersion) }
    if CommandOverview.isRequested(by: programArguments[...]) {
      throw CleanExit.message(CommandOverview(configuration: Packstore.configuration).text)
    }
    return try Packstore.command(programArguments[...])
  }

  private static func begin(_ command: any ParsableCommand) throws {
    try BuildLog.begin(for: command, arguments: programArguments)
  }

  private static func runNow(_ command: any ParsableCommand) throws {
    var command = command
    try begin(command)
    try command.run()
  }

  /// Reports the error and returns the exit status.
  private static func report(_ error: any Error) -> ProgramStatus {
    let cause = (error as? CommandError)?.cause ?? error
    if let failure = (error as? CommandError)?.failure ?? Failure(cause) {
      complain(failure)
      return failure.code.exitStatus
    }
    if cause is BrokenPipe {
      signal(SIGPIPE, SIG_DFL)
      raise(SIGPIPE)
      return .failed
    }
    return reportUsage(cause)
  }

  /// Prints ArgumentParser's message: help and version to standard output, wrong usage to standard error.
  private static func reportUsage(_ error: any Error) -> ProgramStatus {
    let text = Packstore.fullMessage(for: error)
    guard Packstore.exitCode(for: error) != .success else {
      do {
        let output = Output()
        try output.line(text)
        try output.flush()
        return .done
      } catch { return report(error) }
    }
    let message = hidingSecrets(
      in: showable(text.hasPrefix("Error: ") ? String(text.dropFirst("Error: ".count)) : text))
    if isJSONWanted {
      complain(Failure(usage: message))
    } else {
      complain(message)
    }
    return .usage
  }
}

/// Returns ArgumentParser's message, which quotes arguments, with escapes that make it safe to print on a terminal.
private func showable(_ text: String) -> String {
  var text = text
  for argument in CommandLine.arguments.dropFirst() {
    // An argument may contain both an option and its value.
    for word in [argument[...]] + argument.split(separator: "=", maxSplits: 1).dropFirst() {
      let name = String(word)
      if name.unicodeScalars.contains(where: needsEscape) { text = text.replacing(name, with: escaped(name)) }
    }
  }
  return text.split(separator: "\n", omittingEmptySubsequences: false).map { escapedControls(String($0)) }
    .joined(separator: "\n")
}

extension Failure {
  /// Converts ArgumentParser's message about wrong usage, which contains the fault, the command's usage and a hint at the help.
  fileprivate init(usage text: String) {
    let lines = text.split(separator: "\n")
    let fault = lines.prefix { line in !["Help:", "Usage:", "See "].contains(where: line.hasPrefix) }
    // Omits indentation and the help of a single argument.
    let more = lines.dropFirst(fault.count).filter { !$0.hasPrefix("Help:") }.flatMap { $0.split(separator: " ") }
      .joined(separator: " ")
    self.init(.usage, fault.joined(separator: " "), remedy: more.isEmpty ? nil : more)
  }
}
