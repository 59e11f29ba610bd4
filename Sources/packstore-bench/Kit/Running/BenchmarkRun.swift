import ArgumentParser
import Foundation

/// One run of the program: some workloads, one report.
enum BenchmarkRun {
  /// - Parameter secondLimit: how long all of it may take. Workloads that have not begun by then are left out.
  /// - Parameter secondsPerComparison: after so long a comparison repeats nothing more than it must.
  static func run(
    _ options: BenchmarkOptions, _ workloads: [any Workload], secondLimit: Double = .infinity,
    secondsPerComparison: Double = 20
  ) throws {
    let session = try Session(options)
    defer { session.finish() }
    session.secondLimit = secondLimit
    session.secondsPerComparison = secondsPerComparison
    let report = try measure(session, workloads)
    try report.deliver(to: options.files)
  }

  static func measure(_ session: Session, _ workloads: [any Workload]) throws -> Report {
    var report = Report(session)
    for workload in workloads where session.hasTime(workload.title) {
      note(workload.title)
      var section = Report.Section(title: workload.title)
      do {
        try workload.measure(session) { section.comparisons.append($0) }
      } catch let nothing as NothingToMeasure where workloads.count > 1 {
        report.omissions.append("\(workload.title): \(nothing).")
      }
      report.sections.append(section)
    }
    report.finish(session)
    return report
  }
}

extension Report {
  /// Writes it where it was asked for.
  ///
  /// - Throws: a failed exit when a participant broke down, or delivered wrong bytes.
  func deliver(to files: ReportFiles) throws {
    try ReportDestination(files).write(self)
    if hasFailures { throw ExitCode.failure }
  }
}
