import ArgumentParser
import Foundation

/// The state that the workloads of one run share.
final class Session {
  let options: BenchmarkOptions
  let dataSets: DataSets
  let forms: Forms
  let contestants: [any Contestant]
  /// The absent contestants, with the reasons.
  let absences: [Comparison.Absence]
  let watch = Stopwatch()
  /// The time in seconds after which no new work begins.
  var secondLimit = Double.infinity
  /// The time in seconds after which a comparison makes only the required repetitions.
  var secondsPerComparison = 20.0
  /// Whether the limits of the machine are measured, too.
  var measuresLimits = true
  /// The omitted work.
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

  /// Selects contestants by the beginnings of their names, ignoring case and commas; all if no names are given.
  private static func chosen(_ contestants: [any Contestant], _ names: [String]) throws -> [any Contestant] {
    guard !names.isEmpty else { return contestants }
    func plain(_ name: String) -> String { name.lowercased().filter { $0 != "," } }
    for name in names where !contestants.contains(where: { plain($0.name).hasPrefix(plain(name)) }) {
      let known = contestants.map { "'\(plain($0.name))'" }.joined(separator: ", ")
      throw ValidationError("invalid --only: no name begins with '\(name)'; use \(known)")
    }
    return contestants.filter { contestant in names.contains { plain(contestant.name).hasPrefix(plain($0)) } }
  }

  /// Records an omission of a workload.
  func omit(_ what: String) { omissions.append(what) }

  /// Removes all temporary data. The session cannot be used afterwards.
  func finish() {
    Interruption.waitForTheEnd()
    forms.release()
    work.remove()
  }

  var workspace: String { work.path }

  func newFolder() throws -> String { try work.newFolder() }

  /// Discards a folder in which a turn stored a form of the data set, or its files.
  ///
  /// If the disk has space for the folders of all turns, they are removed after all measurements. ext4 without a journal does not
  /// reuse a freed inode for minutes, and checks all freed inodes whenever a file is created. If one participant removed thousands
  /// of files, the next would measure mainly these checks.
  func discard(_ folder: String, of dataSet: DataSet) {
    if freeAtStart / Self.turnsAtMost >= dataSet.byteCount {
      PageCache.forget([folder])
    } else {
      try? FileManager.default.removeItem(atPath: folder)
      // Without this, the next turn would write while the disk still writes.
      sync()
    }
  }

  /// The approximate maximum number of discarded folders in one run.
  private static let turnsAtMost = 200

  var repetitions: Repetitions {
    Repetitions(
      count: options.repetitions ?? (options.quick ? 3 : 7), secondLimit: secondsPerComparison,
      includesLimits: measuresLimits)
  }

  /// Whether new work may begin. If not, records the omission for the report.
  func hasTime(_ what: String) -> Bool {
    guard watch.seconds >= secondLimit else { return true }
    omissions.append("\(what): the time limit was reached")
    return false
  }

  /// The number of threads for one large read and for storing.
  var threadsForLarge: Int { (options.threads ?? .all).count }

  /// The number of threads that read small assets concurrently.
  var threadsForSmall: Int { (options.threads ?? .number(1)).count }

  /// Returns the forms of a data set for all contestants with the required abilities. If `prepare` fails, records the contestant as
  /// absent in the comparison.
  ///
  /// - Parameter oneInterface: whether to include only the first of several contestants with the same form.
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

  /// Removes the workspace's files from the page cache.
  func dropPageCache() throws { coldMethod = try PageCache.drop([work.path]) }

  /// Raises the process's limit of open files: limits open every large file, and contestants may open many files, too.
  private func allowManyOpenFiles() {
    var limit = rlimit()
    getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
    limit.rlim_cur = limit.rlim_max
    setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
  }
}
