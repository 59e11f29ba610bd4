import ArgumentParser
import Foundation

/// The options that every workload has.
struct BenchmarkOptions: ParsableArguments {
  @Option(help: .init("Where everything random comes from: data, order, places.", valueName: "n"))
  var seed: UInt64 = 1

  @Option(
    help: .init(
      "What kind of data to make: compressible, incompressible, mixed (half of each), game (a tree as a game's).",
      valueName: "kind"))
  var data = DataKind.mixed

  @Option(help: .init("Measure with this folder's files instead. Nothing in it is changed.", valueName: "folder"))
  var folder: String?

  @Option(help: .init("How much data, in megabytes (default: as the workload needs).", valueName: "MB"))
  var size: Int?

  @Option(help: .init("How often everybody takes a turn (default: 7; with --quick 3).", valueName: "n"))
  var repetitions: Int?

  @Option(
    help: .init(
      "Threads for one large read, and side by side for small ones: 1, all, or a number (default: all for large reads and storing, 1 for small ones).",
      valueName: "n"))
  var threads: ThreadChoice?

  @Flag(help: "Measure with an empty page cache as well, where this process may empty it.")
  var cold = false

  @Flag(help: "Little data, few repetitions: to see that it works, not for figures.")
  var quick = false

  @Option(
    help: .init(
      "Take part: names or beginnings of names, without their commas, separated by commas (default: everybody).",
      valueName: "names"),
    transform: { $0.split(separator: ",").map { $0.trimmingCharacters(in: .whitespaces) } })
  var only: [String] = []

  @Option(
    help: .init(
      "Where temporary data goes; its file system is what is measured (default: the system's folder for temporary files).",
      valueName: "folder"))
  var workspace: String?

  @OptionGroup var files: ReportFiles

  func validate() throws {
    if let size, size < 1 { throw ValidationError("--size starts at 1") }
    if let repetitions, repetitions < 1 { throw ValidationError("--repetitions starts at 1") }
    if let folder {
      var isFolder: ObjCBool = false
      guard FileManager.default.fileExists(atPath: folder, isDirectory: &isFolder), isFolder.boolValue else {
        throw ValidationError("there is no folder '\(folder)'")
      }
    }
  }
}

extension DataKind: ExpressibleByArgument {}

/// How many threads.
enum ThreadChoice: ExpressibleByArgument, Equatable {
  case all
  case number(Int)

  init?(argument: String) {
    if argument == "all" {
      self = .all
    } else if let number = Int(argument), number >= 1 {
      self = .number(number)
    } else {
      return nil
    }
  }

  var count: Int {
    switch self {
    case .all: ProcessInfo.processInfo.activeProcessorCount
    case .number(let number): number
    }
  }
}
