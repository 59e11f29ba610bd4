import Foundation

/// Measures pairs, one after another, with everybody who can take part.
final class UpdateRun {
  private(set) var report: UpdateReport
  private let participants: [any UpdateParticipant]
  private let work: TemporaryFolder
  private let seed: UInt64
  private let patience: Double
  private let watch = Stopwatch()
  private let interruptions: [any DispatchSourceSignal]

  /// - Parameters:
  /// - only: beginnings of the names of the participants; all if empty.
  /// - patience: seconds after which a run of a peer's program is killed.
  init(
    packstore: Program, only: [String], seed: UInt64, isQuick: Bool, patience: Double, workspace: String?
  ) throws {
    self.seed = seed
    self.patience = patience
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
      patience: patience,
      versions: Self.versions(participants),
      absences: asked.compactMap { one in one.unavailability.map { .init(name: one.name, reason: $0) } })
  }

  /// Several ways may be one program's.
  private static func versions(_ participants: [any UpdateParticipant]) -> [String] {
    participants.map(\.version).reduce(into: []) { if !$0.contains($1) { $0.append($1) } }
  }

  /// Removes everything temporary.
  func finish() {
    note("\(decimals(watch.seconds, 0)) s in all")
    Interruption.waitForTheEnd()
    work.remove()
  }

  /// Makes a pair, measures it, and removes it.
  func measure(_ kind: SyntheticPair, _ scale: SyntheticPair.Scale) {
    note("making: \(kind.rawValue)")
    do {
      let folder = try work.newFolder()
      defer { try? FileManager.default.removeItem(atPath: folder) }
      measure(try kind.make(scale, seed: seed, in: folder))
    } catch {
      leaveOut(kind.rawValue, error)
    }
  }

  func measure(_ pair: VersionPair) {
    note(pair.name)
    do {
      let folder = try work.newFolder()
      defer { try? FileManager.default.removeItem(atPath: folder) }
      let trial = try UpdateTrial(pair, patience: patience, in: folder)
      var result = UpdateReport.Pair(name: pair.name, explanation: pair.explanation, from: trial.from, to: trial.to)
      for participant in participants {
        if let absence = measure(participant, trial, { result.append($0) }) { result.absences.append(absence) }
      }
      result.goals = UpdateGoal.all(of: result.rows, newByteCount: trial.to.byteCount, limits: pair.limits)
      report.pairs.append(result)
    } catch {
      leaveOut(pair.name, error)
    }
    report.seconds = watch.seconds
  }

  /// One pair that cannot be measured does not end the run.
  private func leaveOut(_ pair: String, _ error: any Error) {
    note("  failed: \(error)")
    report.absences.append(.init(name: pair, reason: "failed: \(error)"))
  }

  /// - Returns: why not all of it could be measured, or nil.
  private func measure(
    _ participant: any UpdateParticipant, _ trial: UpdateTrial, _ report: (UpdateRow) -> Void
  ) -> Comparison.Absence? {
    Interruption.waitForTheEnd()
    note("  \(participant.name)")
    let begin = watch.seconds
    defer { note("    \(decimals(watch.seconds - begin, 1)) s with preparations") }
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
      note("    left out: \(error.reason)")
      return .init(name: participant.name, reason: error.reason)
    } catch {
      note("    failed: \(error)")
      return .init(name: participant.name, reason: "failed: \(error)")
    }
  }
}
