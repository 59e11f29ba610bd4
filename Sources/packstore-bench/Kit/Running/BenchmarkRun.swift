import ArgumentParser
import Foundation

/// One run of the program: several workloads and one report.
enum BenchmarkRun {
  /// Runs workloads, and writes the report.
  ///
  /// - Parameter secondLimit: the time in seconds after which no further workload begins. The report lists omitted workloads.
  /// - Parameter secondsPerComparison: the time in seconds after which a comparison makes only the required repetitions.
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
  /// Prints the report, and writes it to the requested files.
  ///
  /// - Throws: a failed exit if a participant failed or returned wrong bytes.
  func deliver(to files: ReportFiles) throws {
    try ReportDestination(files).write(self)
    if hasFailures { throw ExitCode.failure }
  }
}
