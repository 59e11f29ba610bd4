import Foundation

/// The results of a run. Its JSON contains every sample.
struct Report: Codable {
  /// The version of the JSON format. It increases if a field changes its meaning or is removed.
  var format = 1
  let environment: Environment
  let fileSystem: String
  let settings: Settings
  /// The participants, in the order of the tables.
  var contestants: [Contestant]
  /// The absent contestants, with the reasons.
  var absences: [Comparison.Absence]
  var sections: [Section] = []
  /// The omitted workloads, with the reasons.
  var omissions: [String] = []
  var cacheState = ""
  var seconds = 0.0

  struct Settings: Codable {
    let seed: UInt64
    let data: String
    let repetitions: Int
    let threadsForLarge: Int
    let threadsForSmall: Int
    let isQuick: Bool
  }

  struct Contestant: Codable {
    let name: String
    let note: String
  }

  /// One workload.
  struct Section: Codable {
    let title: String
    var comparisons: [Comparison] = []
  }
}

extension Report {
  init(_ session: Session) {
    environment = Environment()
    fileSystem = FileSystem.name(of: session.workspace)
    settings = Settings(
      seed: session.options.seed, data: session.dataSets.description, repetitions: session.repetitions.count,
      threadsForLarge: session.threadsForLarge, threadsForSmall: session.threadsForSmall,
      isQuick: session.options.quick)
    contestants = session.contestants.map { .init(name: $0.name, note: $0.note) }
    absences = session.absences
  }

  mutating func finish(_ session: Session) {
    seconds = session.watch.seconds
    let measured = Set(sections.flatMap(\.comparisons).flatMap(\.entries).map(\.name))
    contestants.removeAll { !measured.contains($0.name) }
    omissions += session.omissions
    let cold = session.coldMethod.map { "; for titles with 'cold', emptied before each run by \($0.rawValue)" } ?? ""
    cacheState = "page cache warm" + cold
  }

  /// Whether a contestant failed or returned wrong bytes. An unavailable contestant did not fail.
  var hasFailures: Bool {
    sections.flatMap(\.comparisons).flatMap(\.absences).contains { $0.reason.hasPrefix("failed") }
  }
}
