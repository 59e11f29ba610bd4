import Foundation

/// Measures pairs, one after another, with everybody who can take part.
final class UpdateRun {
  private(set) var report: UpdateReport
  private let participants: [any UpdateParticipant]
  private let work: TemporaryFolder
  private let seed: UInt64
  private let watch = Stopwatch()
  private let interruptions: [any DispatchSourceSignal]

  /// - Parameter only: beginnings of the names of those who take part; everybody if there are none.
  init(packstore: Program, only: [String], seed: UInt64, isQuick: Bool, workspace: String?) throws {
    self.seed = seed
    let everybody: [any UpdateParticipant] =
      [PackStoreUpdate(packstore: packstore)] + PatchProgram.all + [CasyncUpdate(), ZchunkUpdate(), ZsyncUpdate()]
      + RepositoryProgram.all + [WholeVersion()]
    let asked = everybody.filter { participant in
      only.isEmpty || only.contains { participant.name.lowercased().hasPrefix($0.lowercased()) }
    }
    participants = asked.filter { $0.unavailability == nil }
    let work = try TemporaryFolder(in: workspace)
    self.work = work
    interruptions = Interruption.handle { work.remove() }
    report = UpdateReport(
      environment: Environment(), fileSystem: FileSystem.name(of: work.path), seed: seed, isQuick: isQuick,
      versions: Self.versions(participants),
      absences: asked.compactMap { one in one.unavailability.map { .init(name: one.name, reason: $0) } })
  }

  /// Several ways may be one program's.
  private static func versions(_ participants: [any UpdateParticipant]) -> [String] {
    participants.map(\.version).reduce(into: []) { if !$0.contains($1) { $0.append($1) } }
  }

  /// Removes everything temporary.
  func finish() {
    Interruption.waitForTheEnd()
    work.remove()
  }

  /// Makes a pair, measures it, and removes it.
  func measure(_ kind: SyntheticPair, _ scale: SyntheticPair.Scale) throws {
    note("making: \(kind.rawValue)")
    let folder = try work.newFolder()
    defer { try? FileManager.default.removeItem(atPath: folder) }
    measure(try kind.make(scale, seed: seed, in: folder))
  }

  func measure(_ pair: VersionPair) {
    note(pair.name)
    do {
      let folder = try work.newFolder()
      defer { try? FileManager.default.removeItem(atPath: folder) }
      let trial = try UpdateTrial(pair, in: folder)
      var result = UpdateReport.Pair(name: pair.name, explanation: pair.explanation, from: trial.from, to: trial.to)
      for participant in participants {
        if let absence = measure(participant, trial, { result.append($0) }) { result.absences.append(absence) }
      }
      result.goals = UpdateGoal.all(of: result.rows, limits: pair.limits)
      report.pairs.append(result)
    } catch {
      report.absences.append(.init(name: pair.name, reason: "failed: \(error)"))
    }
    report.seconds = watch.seconds
  }

  /// - Returns: why not all of it could be measured, or nil.
  private func measure(
    _ participant: any UpdateParticipant, _ trial: UpdateTrial, _ report: (UpdateRow) -> Void
  ) -> Comparison.Absence? {
    Interruption.waitForTheEnd()
    note("  \(participant.name)")
    do {
      let folder = try work.newFolder()
      defer { try? FileManager.default.removeItem(atPath: folder) }
      try FreeSpace.require(6 * max(trial.from.byteCount, trial.to.byteCount), in: folder)
      try participant.measure(trial, in: folder) { row in
        note("    \(row.name): \(grouped(row.byteCount)) bytes")
        report(row)
      }
      return nil
    } catch let error as Unavailable {
      return .init(name: participant.name, reason: error.reason)
    } catch {
      note("    failed: \(error)")
      return .init(name: participant.name, reason: "failed: \(error)")
    }
  }
}
