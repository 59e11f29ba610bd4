import ArgumentParser
import Foundation

struct ListCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "list",
    abstract: "List folders of several sizes: time per entry.",
    discussion: "  packstore-bench list --counts 100,10000"
  )

  @Option(
    help: .init(
      "Numbers of entries, separated by commas (default: 100,1000,10000,100000; with --quick 100,5000).",
      valueName: "list"))
  var counts: NumberList?

  @OptionGroup var options: BenchmarkOptions

  func run() throws { try BenchmarkRun.run(options, [List(counts: counts?.numbers ?? List.defaults(options))]) }
}

/// Measures the listing of folders.
struct List: Workload {
  let title = "Listing a folder"
  let counts: [Int]

  static func defaults(_ options: BenchmarkOptions) -> [Int] {
    options.quick ? [100, 5_000] : [100, 1_000, 10_000, 100_000]
  }

  func measure(_ session: Session, _ report: (Comparison) -> Void) throws {
    let dataSet = try session.dataSets.folders(counts)
    for count in counts where session.hasTime("listing \(grouped(count)) entries") {
      report(try measure(session, dataSet, count))
    }
  }

  private func measure(_ session: Session, _ dataSet: DataSet, _ count: Int) throws -> Comparison {
    let folders = AssetPaths([AssetPlans.folderName(count)])
    // Short folders are listed repeatedly, so that each sample takes at least a millisecond.
    let rounds = max(1, 20_000 / count)
    var comparison = Comparison(
      title: "List a folder, time per entry",
      explanation: "Names, kinds and lengths of the direct entries. Short folders are listed repeatedly.",
      quantity: .timePerOperation, point: .init(series: "List, per entry", axis: "entries", size: count))
    let forms = session.forms(of: dataSet, needing: .list, &comparison)
    let source = try FileFolder(dataSet.folder)
    let limit = Turn(name: "readdir(), names alone", isLimit: true) {
      try Sample.of(operationCount: rounds * count) {
        for _ in 0..<rounds { Sink.shared.take(try source.nameCount(in: folders[0])) }
        return 0
      }
    }
    comparison.limit = limit.name
    let turns = forms.map { form in
      Turn(name: form.contestant.name, check: { try check(form, folders[0], count) }) {
        let reader = try form.open(threadCount: 1)
        defer { reader.close() }
        _ = try reader.list(folders[0])
        return try Sample.of(operationCount: rounds * count) {
          for _ in 0..<rounds { Sink.shared.take(try reader.list(folders[0])) }
          return 0
        }
      }
    }
    comparison.take(turns + [limit], session.repetitions)
    return comparison
  }

  private func check(_ form: Form, _ folder: AssetPath, _ count: Int) throws {
    let reader = try form.open(threadCount: 1)
    defer { reader.close() }
    guard try reader.list(folder) == count else { throw WrongBytes(path: folder.string) }
  }
}
