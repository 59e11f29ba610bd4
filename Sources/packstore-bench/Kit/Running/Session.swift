import ArgumentParser
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
  /// Whether what the machine allows takes turns as well.
  var measuresLimits = true
  /// What was not begun any more.
  private(set) var omissions: [String] = []
  private(set) var coldMethod: PageCache.Method?
  private let work: TemporaryFolder
  private let freeAtStart: Int
  private var interruptions: [any DispatchSourceSignal] = []

  init(_ options: BenchmarkOptions, contestants: [any Contestant] = OwnContestants.all) throws {
    self.options = options
    work = try TemporaryFolder(in: options.workspace)
    freeAtStart = try FreeSpace.freeByteCount(of: work.path)
    dataSets = DataSets(options, in: work)
    forms = Forms(in: work)
    let asked = try Self.chosen(contestants, options.only)
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

  /// Those whose names begin so, whatever their case and commas; all when none is named.
  private static func chosen(_ contestants: [any Contestant], _ names: [String]) throws -> [any Contestant] {
    guard !names.isEmpty else { return contestants }
    func plain(_ name: String) -> String { name.lowercased().filter { $0 != "," } }
    for name in names where !contestants.contains(where: { plain($0.name).hasPrefix(plain(name)) }) {
      let known = contestants.map { "'\(plain($0.name))'" }.joined(separator: ", ")
      throw ValidationError("--only: no name begins with '\(name)'; there are \(known)")
    }
    return contestants.filter { contestant in names.contains { plain(contestant.name).hasPrefix(plain($0)) } }
  }

  /// Notes what a workload leaves out.
  func omit(_ what: String) { omissions.append(what) }

  /// Removes everything temporary. Nothing is measured afterwards.
  func finish() {
    Interruption.waitForTheEnd()
    forms.release()
    work.remove()
  }

  var workspace: String { work.path }

  func newFolder() throws -> String { try work.newFolder() }

  /// Does away with a folder that a turn filled with a form of the data set, or with its files.
  ///
  /// Where the disk has room for those of all turns, they are removed when everything is measured: an ext4 without a journal
  /// gives no inode away again for minutes, and looks at each of these whenever a file is made; who takes turns with another
  /// that removes thousands of files measures nothing else.
  func discard(_ folder: String, of dataSet: DataSet) {
    if freeAtStart / Self.turnsAtMost >= dataSet.byteCount {
      PageCache.forget([folder])
    } else {
      try? FileManager.default.removeItem(atPath: folder)
      // Else the next in turn would write while the disk still does.
      sync()
    }
  }

  /// So many folders are discarded in one run at most, or nearly.
  private static let turnsAtMost = 200

  var repetitions: Repetitions {
    Repetitions(
      count: options.repetitions ?? (options.quick ? 3 : 7), secondLimit: secondsPerComparison,
      includesLimits: measuresLimits)
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
