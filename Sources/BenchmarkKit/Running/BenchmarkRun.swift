import ArgumentParser
import Foundation

/// One run of the program: some workloads, one report.
enum BenchmarkRun {
  /// - Parameter secondLimit: how long all of it may take. Workloads that have not begun by then are left out.
  static func run(_ options: BenchmarkOptions, _ workloads: [any Workload], secondLimit: Double = .infinity) throws {
    let session = try Session(options)
    defer { session.finish() }
    let report = try measure(session, workloads, secondLimit: secondLimit)
    try ReportDestination(options).write(report)
    if report.hasFailures { throw ExitCode.failure }
  }

  static func measure(
    _ session: Session, _ workloads: [any Workload], secondLimit: Double = .infinity
  ) throws -> Report {
    var report = Report(session)
    let watch = Stopwatch()
    for workload in workloads {
      guard watch.seconds < secondLimit else {
        report.omissions.append("\(workload.title): the time was up.")
        continue
      }
      note(workload.title)
      var section = Report.Section(title: workload.title)
      do {
        try workload.measure(session) { section.comparisons.append($0) }
      } catch let nothing as NothingToMeasure where workloads.count > 1 {
        report.omissions.append("\(workload.title): \(nothing).")
      }
      report.sections.append(section)
    }
    report.finish(session, after: watch.seconds)
    return report
  }
}
