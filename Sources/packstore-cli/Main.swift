/// The command line of PackStore.

import ArgumentParser
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
    abstract: "Make and inspect stores of asset packs.",
    discussion: """
      A store is a folder that holds packs: named, versioned sets of files, deduplicated and compressed. The packs of \
      a store are seen as one merged folder.

        packstore add Packs Assets/Tutorial --pack Tutorial
        packstore ls Packs
        packstore cat Packs Videos/Introduction.m4v > Introduction.m4v

      Names that begin with '-' go after '--'. The exit status is 0 done, 1 failed, 2 wrong usage, 130 cancelled. \
      'packstore --version' prints the version.
      """,
    subcommands: [
      Add.self, Pull.self, Import.self, Remove.self, Rollback.self, Pin.self, Unpin.self, List.self, Cat.self,
      Extract.self, Stat.self, Log.self, Conflicts.self, Diff.self, Verify.self, Repair.self, Publish.self,
      Refresh.self, Unpublish.self, Trust.self, Package.self, MakeDelta.self, Apply.self, Keygen.self,
    ]
  )
}

@main
enum Main {
  static func main() async {
    signal(SIGPIPE, SIG_IGN)  // a reader that went away is an error of `write`, handled where it occurs
    let task = Task {
      // Not left to ArgumentParser, which would take 'add --version N' for it.
      if CommandLine.arguments.dropFirst() == ["--version"] { throw CleanExit.message(packstoreVersion) }
      var command = try Packstore.parseAsRoot()
      if var command = command as? any AsyncParsableCommand {
        try await command.run()
      } else {
        try command.run()
      }
    }
    let watch = SignalWatch(cancelling: task)
    let result = await task.result
    withExtendedLifetime(watch) {}
    if case .failure(let error) = result { exit(report(error)) }
  }

  /// Tells what happened and returns the exit status.
  private static func report(_ error: any Error) -> Int32 {
    switch error {
    case is CancellationError:
      complain("cancelled")
      return 130
    case let interruption as Interruption:
      complain(interruption.sentence)
      return 130
    case let error as PackStoreError:
      complain(sentence(error))
      return error.code == .invalidArgument ? 2 : 1
    case let error as DeliveryError:
      complain(sentence(error))
      return error.code == .invalidLocation ? 2 : 1
    case let failure as Failure:
      complain(failure.sentence)
      return 1
    case is BrokenPipe:
      signal(SIGPIPE, SIG_DFL)
      raise(SIGPIPE)
      return 1
    case let code as ExitCode:
      return code.rawValue
    default:
      return reportUsage(error)
    }
  }

  /// What ArgumentParser has to say: help and version go to standard output, wrong usage to standard error.
  private static func reportUsage(_ error: any Error) -> Int32 {
    let text = Packstore.fullMessage(for: error)
    guard Packstore.exitCode(for: error) != .success else {
      print(text)
      return 0
    }
    complain(text.hasPrefix("Error: ") ? String(text.dropFirst("Error: ".count)) : text)
    return 2
  }
}
