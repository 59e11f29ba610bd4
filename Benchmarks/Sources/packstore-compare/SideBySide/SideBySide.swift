import ArgumentParser
import Foundation

/// Runs `packstore-bench` and the same workloads with PackStore's peers, one after the other, in rounds, and makes one report
/// of all: what drifts on the machine hits both.
///
/// PackStore, plain files and limits are measured by `packstore-bench`, as its users run it; the peers by this process.
struct SideBySide: ParsableArguments {
  @Option(help: .init("How often packstore-bench and this program take turns.", valueName: "n"))
  var rounds = 2

  func validate() throws {
    guard rounds >= 1 else { throw ValidationError("--rounds starts at 1") }
  }

  /// - Parameters:
  ///   - arguments: a command of `packstore-bench`, and options of its own.
  ///   - workloads: what that command measures.
  ///   - session: what bounds that command's time.
  func measure(
    _ arguments: [String], _ workloads: [any Workload], _ options: BenchmarkOptions,
    bounding session: (Session) -> Void
  ) throws -> Report {
    let program = Program("packstore-bench")
    var report: Report?
    for round in 1...rounds {
      note("round \(round): packstore-bench")
      let own = try Self.run(program, arguments, options)
      report = report?.joined(own) ?? own
      note("round \(round): peers")
      report = report?.joined(try measurePeers(workloads, options, bounding: session))
    }
    return report!
  }

  private func measurePeers(
    _ workloads: [any Workload], _ options: BenchmarkOptions, bounding bound: (Session) -> Void
  ) throws -> Report {
    let session = try Session(options, contestants: Peers.all)
    defer { session.finish() }
    session.measuresLimits = false
    bound(session)
    return try BenchmarkRun.measure(session, workloads)
  }

  private static func run(_ program: Program, _ arguments: [String], _ options: BenchmarkOptions) throws -> Report {
    let folder = try TemporaryFolder(in: options.workspace)
    defer { folder.remove() }
    let file = folder.path + "/report.json"
    try program.run(arguments + options.arguments + ["--json", file])
    return try JSONDecoder().decode(Report.self, from: Data(contentsOf: URL(fileURLWithPath: file)))
  }
}

extension BenchmarkOptions {
  /// As they are given to `packstore-bench`. Who takes part is left out: the names are those of peers here.
  fileprivate var arguments: [String] {
    func option(_ name: String, _ value: String?) -> [String] { value.map { ["--\(name)", $0] } ?? [] }
    return option("seed", "\(seed)") + option("data", data.rawValue) + option("folder", folder)
      + option("size", size.map(String.init)) + option("repetitions", repetitions.map(String.init))
      + option("threads", threads.map { $0 == .all ? "all" : "\($0.count)" }) + option("workspace", workspace)
      + (cold ? ["--cold"] : []) + (quick ? ["--quick"] : [])
  }
}
