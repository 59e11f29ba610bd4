import ArgumentParser
import Foundation

struct MechanismsCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "mechanisms",
    abstract: "Measure the alternatives of reading from a store.",
    discussion: """
      How frames are fetched, from which length on a read is shared with other threads, whether the storage is told what comes, whether \
      memory is asked for in huge pages. The design decisions cite this report.

        packstore-compare mechanisms --folder Assets --cold
      """
  )

  @OptionGroup var options: BenchmarkOptions

  func run() throws { try BenchmarkRun.run(options, [Mechanisms()]) }
}

/// Compares the considered ways of reading.
struct Mechanisms: Workload {
  let title = "Mechanisms of reading"

  func measure(_ session: Session, _ report: (Comparison) -> Void) throws {
    guard let dataSet = try session.dataSets.large(.compressible, defaultSize: 384) else {
      throw NothingToMeasure("no compressible files of 1 MiB or more")
    }
    let trials = try Trials(session, dataSet)
    report(try trials.fetching())
    for comparison in trials.sharing("compressed", [128 << 10, 256 << 10, 512 << 10, 1 << 20, 4 << 20]) {
      report(comparison)
    }
    if let raw = try session.dataSets.large(.incompressible, defaultSize: 384) {
      for comparison in try Trials(session, raw).sharing("raw", [1 << 20, 2 << 20, 4 << 20, 8 << 20]) {
        report(comparison)
      }
    }
    report(trials.freshMemory())
    if session.options.cold { report(trials.readAhead()) }
  }
}

private struct Trials {
  let session: Session
  let dataSet: DataSet
  let threadCount: Int
  let memory: Buffer
  let form: Form

  init(_ session: Session, _ dataSet: DataSet) throws {
    self.session = session
    self.dataSet = dataSet
    threadCount = session.threadsForLarge
    memory = Buffer(byteCount: dataSet.longest)
    form = try session.forms.form(PackStoreContestant.c, dataSet)
  }

  private var storePath: String { PackStoreContestant.store(in: form.folder) }

  private func take(_ comparison: Comparison, _ turns: [Turn], limit: String? = nil) -> Comparison {
    var comparison = comparison
    comparison.limit = limit
    comparison.take(turns, session.repetitions)
    return comparison
  }

  // MARK: - Fetching frames

  func fetching() throws -> Comparison {
    let fetch = try FrameFetch(ofStoreAt: storePath)
    let comparison = Comparison(
      title: "Fetching frames",
      explanation:
        "Every frame of a store decoded by \(counted(threadCount, "thread")), its bytes fetched in several ways. "
        + "Checksums are XXH3 of the stored bytes.",
      quantity: .throughput)
    let turns = FrameFetch.Way.allCases.map { way in
      Turn(name: way.title, isLimit: way == .readUnchecked) {
        try Sample.of { try fetch.decodeAll(way, into: memory.bytes, threadCount: threadCount) }
      }
    }
    return take(comparison, turns, limit: FrameFetch.Way.readUnchecked.title)
  }

  // MARK: - Sharing a read with other threads

  /// The store shares longer reads among threads; shorter ones take the same time with any number of threads.
  func sharing(_ storage: String, _ lengths: [Int]) -> [Comparison] {
    lengths.compactMap { length in
      let places = RandomRanges(
        dataSet, length: length, count: session.options.quick ? 50 : min(1000, 256 << 20 / length),
        seed: session.options.seed)
      guard !places.all.isEmpty, length <= memory.bytes.count else { return nil }
      let target = UnsafeMutableRawBufferPointer(rebasing: memory.bytes[..<length])
      var comparison = Comparison(
        title: "Ranges of \(storage) assets",
        explanation: "\(binarySize(length)) at random places, by a store that may use one thread or \(threadCount).",
        quantity: .timePerOperation)
      comparison.point = .init(series: "Sharing a read, \(storage)", axis: "KiB", size: length >> 10)
      let turns = Set([1, threadCount]).sorted().map { threads in
        Turn(name: counted(threads, "thread"), isLimit: threads == 1) {
          let reader = try form.open(threadCount: threads)
          defer { reader.close() }
          return try Sample.each(places.all) { try reader.read($0.path, at: $0.offset, into: target) }
        }
      }
      return take(comparison, turns, limit: counted(1, "thread"))
    }
  }

  // MARK: - Fresh memory

  func freshMemory() -> Comparison {
    let comparison = Comparison(
      title: "Reading into fresh memory",
      explanation:
        "Every asset into memory that was not touched before, in pages as the system gives them, or asked for in huge ones.",
      quantity: .throughput)
    let turns = [false, true].map { huge in
      Turn(name: huge ? "huge pages" : "pages", isLimit: !huge) {
        let reader = try form.open(threadCount: threadCount)
        defer { reader.close() }
        let fresh = dataSet.assets.map { FreshMemory(byteCount: $0.byteCount) }
        if huge { for memory in fresh { madvise(memory.bytes.baseAddress, memory.bytes.count, MADV_HUGEPAGE) } }
        return try Sample.of {
          var sum = 0
          for (path, memory) in zip(dataSet.paths, fresh) { sum += try reader.read(path, into: memory.bytes) }
          return sum
        }
      }
    }
    return take(comparison, turns, limit: "pages")
  }

  // MARK: - Telling the storage

  /// The same read twice: data that was read ahead is placed differently in the page cache, and is slower to read
  /// again.
  func readAhead() -> Comparison {
    let comparison = Comparison(
      title: "Cold reads, the storage told or not",
      explanation:
        "Every asset read with an empty page cache, then once more; told: POSIX_FADV_WILLNEED for all of the store first.",
      quantity: .throughput)
    let turns = [false, true].flatMap { told in
      ["cold", "again"].map { moment in
        Turn(name: "\(told ? "told" : "not told"), \(moment)", isLimit: !told && moment == "cold") {
          try session.dropPageCache()
          let reader = try form.open(threadCount: threadCount)
          defer { reader.close() }
          let first = try Sample.of {
            if told { try tellStorage() }
            return try readAll(reader)
          }
          return moment == "cold" ? first : try Sample.of { try readAll(reader) }
        }
      }
    }
    return take(comparison, turns, limit: "not told, cold")
  }

  private func tellStorage() throws {
    for name in try FileManager.default.contentsOfDirectory(atPath: storePath + "/segments") {
      let file = open(storePath + "/segments/" + name, O_RDONLY | O_CLOEXEC)
      guard file >= 0 else { continue }
      posix_fadvise(file, 0, 0, POSIX_FADV_WILLNEED)
      close(file)
    }
  }

  private func readAll(_ reader: any AssetReader) throws -> Int {
    var sum = 0
    for path in dataSet.paths { sum += try reader.read(path, into: memory.bytes) }
    return sum
  }
}
