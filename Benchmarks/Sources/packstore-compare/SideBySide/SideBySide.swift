import ArgumentParser
import Foundation

/// Runs `packstore-bench` and the same workloads with PackStore's peers in alternating rounds, and joins the results in
/// one report. So a drift of the machine affects both.
///
/// `packstore-bench` measures PackStore, plain files and limits, as its users run it. This process measures the peers.
struct SideBySide: ParsableArguments {
  @Option(help: .init("How often packstore-bench and this program take turns.", valueName: "n"))
  var rounds = 2

  func validate() throws {
    guard rounds >= 1 else { throw ValidationError("--rounds starts at 1") }
  }

  /// - Parameters:
  ///   - arguments: a command of `packstore-bench`, and options of its own.
  /// - workloads: the workloads of that command.
  /// - session: the session that limits that command's time.
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
  /// The options for `packstore-bench`, except the contestants: here their names are names of peers.
  fileprivate var arguments: [String] {
    func option(_ name: String, _ value: String?) -> [String] { value.map { ["--\(name)", $0] } ?? [] }
    return option("seed", "\(seed)") + option("data", data.rawValue) + option("folder", folder)
      + option("size", size.map(String.init)) + option("repetitions", repetitions.map(String.init))
      + option("threads", threads.map { $0 == .all ? "all" : "\($0.count)" }) + option("workspace", workspace)
      + (cold ? ["--cold"] : []) + (quick ? ["--quick"] : [])
  }
}
