import ArgumentParser
import Foundation

/// One run of the program: some workloads, one report.
enum BenchmarkRun {
  /// - Parameter secondLimit: maximum duration of the run. Workloads that have not begun by then are omitted.
  /// - Parameter secondsPerComparison: the time after which a comparison makes only the required repetitions.
  static func run(
    _ options: BenchmarkOptions, _ workloads: [any Workload], secondLimit: Double = .infinity,
    secondsPerComparison: Double = 20
  ) throws {
    let session = try Session(options)
    defer { session.finish() }
    session.secondLimit = secondLimit
    session.secondsPerComparison = secondsPerComparison
    let report = try measure(session, workloads)
    let words = Summary(report).words
    defer { if options.folder != nil, !words.isEmpty { print("\n" + words.joined(separator: "\n")) } }
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
  /// Writes the report to the requested places.
  ///
  /// - Throws: a failed exit if a participant failed or returned wrong bytes.
  func deliver(to files: ReportFiles) throws {
    try ReportDestination(files).write(self)
    if hasFailures { throw ExitCode.failure }
  }
}
