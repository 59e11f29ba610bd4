import ArgumentParser
import Foundation

/// The options of all workloads.
struct BenchmarkOptions: ParsableArguments {
  @Option(help: .init("Seed of all random data, orders and places.", valueName: "n"))
  var seed: UInt64 = 1

  @Option(
    help: .init(
      "Kind of synthetic data: compressible, incompressible, mixed (half of each), or game (a tree like a game's).",
      valueName: "kind"))
  var data = DataKind.mixed

  @Option(help: .init("Folder to measure in place of synthetic data; it is not changed.", valueName: "folder"))
  var folder: String?

  @Option(help: .init("Amount of data in megabytes (default: depends on the workload).", valueName: "MB"))
  var size: Int?

  @Option(help: .init("Number of repetitions of each measurement (default: 7; with --quick 3).", valueName: "n"))
  var repetitions: Int?

  @Option(
    help: .init(
      """
      Threads of one large read, and parallel reads of small assets: 1, all, or a number (default: all for large \
      reads and storing, 1 for small assets).
      """,
      valueName: "n"))
  var threads: ThreadChoice?

  @Flag(help: "Also measure with an empty page cache, if this process may empty it.")
  var cold = false

  @Flag(help: "Use little data and few repetitions, to test the program; the figures are not meaningful.")
  var quick = false

  @Option(
    help: .init(
      """
      Contestants to measure, separated by commas: names or beginnings of names, written without their own commas \
      (default: all).
      """,
      valueName: "names"),
    transform: { $0.split(separator: ",").map { $0.trimmingCharacters(in: .whitespaces) } })
  var only: [String] = []

  @Option(
    help: .init(
      "Folder for temporary data, on the file system to measure (default: the system's folder for temporary files).",
      valueName: "folder"))
  var workspace: String?

  @OptionGroup var files: ReportFiles

  func validate() throws {
    if let size, size < 1 { throw ValidationError("invalid --size: use at least 1") }
    if let repetitions, repetitions < 1 { throw ValidationError("invalid --repetitions: use at least 1") }
    if let folder {
      var isFolder: ObjCBool = false
      guard FileManager.default.fileExists(atPath: folder, isDirectory: &isFolder), isFolder.boolValue else {
        throw ValidationError("'\(folder)': not a folder")
      }
    }
  }
}

extension DataKind: ExpressibleByArgument {}

/// A number of threads.
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
