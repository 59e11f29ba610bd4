import Foundation

/// What the workloads of one run share.
final class Session {
  let options: BenchmarkOptions
  let dataSets: DataSets
  let forms: Forms
  let contestants: [any Contestant]
  /// Who cannot take part at all, and why.
  let absences: [Comparison.Absence]
  let watch = Stopwatch()
  /// After so long nothing new is begun.
  var secondLimit = Double.infinity
  /// After so long a comparison repeats nothing more than it must.
  var secondsPerComparison = 20.0
  /// What was not begun any more.
  private(set) var omissions: [String] = []
  private(set) var coldMethod: PageCache.Method?
  private let work: TemporaryFolder
  private var interruptions: [any DispatchSourceSignal] = []

  init(_ options: BenchmarkOptions, contestants: [any Contestant] = Benchmark.contestants) throws {
    self.options = options
    work = try TemporaryFolder(in: options.workspace)
    dataSets = DataSets(options, in: work)
    forms = Forms(in: work)
    let asked = contestants.filter { contestant in
      options.only.isEmpty || options.only.contains { contestant.name.lowercased().hasPrefix($0.lowercased()) }
    }
    self.contestants = asked.filter { $0.unavailability == nil }
    absences = asked.compactMap { contestant in
      contestant.unavailability.map { .init(name: contestant.name, reason: $0) }
    }
    interruptions = Interruption.handle { [forms, work] in
      forms.release()
      work.remove()
    }
    allowManyOpenFiles()
  }

  /// Removes everything temporary. Nothing is measured afterwards.
  func finish() {
    Interruption.waitForTheEnd()
    forms.release()
    work.remove()
  }

  var workspace: String { work.path }

  func newFolder() throws -> String { try work.newFolder() }

  /// Removes what a turn wrote to one of the new folders: at once if the disk is small, else when all is measured. An ext4
  /// without a journal gives no inode away again for minutes, and looks at each of these whenever a file is made: who takes
  /// turns with somebody that removes thousands of files measures nothing else.
  func discard(_ folder: String) {
    let free = (try? FreeSpace.freeByteCount(of: work.path)) ?? 0
    if free < Self.ampleByteCount { try? FileManager.default.removeItem(atPath: folder) }
    // Else the next in turn would write while the disk still does.
    sync()
  }

  private static let ampleByteCount = 16 << 30

  var repetitions: Repetitions {
    Repetitions(count: options.repetitions ?? (options.quick ? 3 : 7), secondLimit: secondsPerComparison)
  }

  /// Whether something may still be begun. If not, the report will say so.
  func hasTime(_ what: String) -> Bool {
    guard watch.seconds >= secondLimit else { return true }
    omissions.append("\(what): the time was up")
    return false
  }

  /// Threads for large reads and for storing.
  var threadsForLarge: Int { (options.threads ?? .all).count }

  /// Threads that read small assets side by side.
  var threadsForSmall: Int { (options.threads ?? .number(1)).count }

  /// Those who can do what a comparison needs, with their forms of a data set. Who fails to prepare is noted as absent.
  ///
  /// - Parameter oneInterface: leaves out further interfaces to the form of another contestant.
  func forms(
    of dataSet: DataSet, needing abilities: Abilities, _ comparison: inout Comparison, oneInterface: Bool = false
  ) -> [Form] {
    var seen: Set<String> = []
    let candidates = contestants.filter { contestant in
      guard contestant.abilities.isSuperset(of: abilities) else { return false }
      return !oneInterface || seen.insert(contestant.form ?? contestant.name).inserted
    }
    return candidates.compactMap { contestant in
      do {
        return try forms.form(contestant, dataSet)
      } catch {
        let reason = (error as? Unavailable)?.reason ?? "failed: \(error)"
        note("    \(contestant.name): \(reason)")
        comparison.absences.append(.init(name: contestant.name, reason: reason))
        return nil
      }
    }
  }

  /// Empties the page cache of what lies in the workspace.
  func dropPageCache() throws { coldMethod = try PageCache.drop([work.path]) }

  /// Limits keep every large file open, and so may contestants.
  private func allowManyOpenFiles() {
    var limit = rlimit()
    getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
    limit.rlim_cur = limit.rlim_max
    setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
  }
}
