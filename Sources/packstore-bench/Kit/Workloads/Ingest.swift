import ArgumentParser
import Foundation

struct IngestCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "ingest",
    abstract: "Store a folder: time, time until synced, size.",
    discussion: "  packstore-bench ingest --data game --size 1000"
  )

  @OptionGroup var options: BenchmarkOptions

  func run() throws { try BenchmarkRun.run(options, [Ingest()]) }
}

/// Measures the storing of a folder.
struct Ingest: Workload {
  let title = "Storing a folder"

  func measure(_ session: Session, _ report: (Comparison) -> Void) throws {
    guard let dataSet = try session.dataSets.tree(defaultSize: 128) else {
      throw NothingToMeasure("the data contains no files")
    }
    let threadCount = session.threadsForLarge
    let what = "\(counted(dataSet.assets.count, "asset")), \(megabytes(dataSet.byteCount, 0)) MB."
    var comparison = Comparison(
      title: "Store a folder",
      explanation: "Time until the contestant reports completion, with \(counted(threadCount, "thread")). \(what)",
      quantity: .duration)
    let encode = try EncodeLimit(dataSet, threadCount: threadCount)
    let limit = Turn(name: "libzstd, level 3, from memory to memory", isLimit: true) {
      try Sample.of { try encode.encodeAll() }
    }
    comparison.limit = limit.name
    let synced = SyncedSamples()
    let contestants = session.contestants.filter { $0.abilities.contains(.ingest) }
    let turns = contestants.map { contestant in
      Turn(name: contestant.name) { try store(session, dataSet, contestant, threadCount, synced) }
    }
    comparison.take(turns + [limit], session.repetitions)
    report(comparison)
    report(synced.comparison(like: comparison, what))
    report(size(like: comparison, what))
  }

  private func store(
    _ session: Session, _ dataSet: DataSet, _ contestant: any Contestant, _ threadCount: Int, _ synced: SyncedSamples
  ) throws -> Sample {
    try FreeSpace.require(dataSet.byteCount, in: session.workspace)
    let folder = try session.newFolder()
    defer {
      contestant.release(folder)
      session.discard(folder, of: dataSet)
    }
    sync()
    let watch = Stopwatch()
    var sample = try Sample.of {
      try contestant.prepare(dataSet, in: folder, threadCount: threadCount)
      return dataSet.byteCount
    }
    sync()
    let seconds = watch.seconds
    sample.heldByteCount = try FolderScan.byteCount(below: folder)
    synced.append(sample, seconds, of: contestant.name)
    return sample
  }

  private func size(like other: Comparison, _ what: String) -> Comparison {
    var comparison = Comparison(
      title: "Stored size", explanation: "Total length of all created files. \(what)", quantity: .held)
    comparison.entries = other.entries.filter { !$0.isLimit }
    return comparison
  }
}

/// The samples of the same runs, timed until the file system had synced.
private final class SyncedSamples {
  private var samples: [String: [Sample]] = [:]

  func append(_ sample: Sample, _ seconds: Double, of name: String) {
    var sample = sample
    sample.seconds = seconds
    samples[name, default: []].append(sample)
  }

  func comparison(like other: Comparison, _ what: String) -> Comparison {
    var comparison = Comparison(
      title: "Store a folder, synced",
      explanation: "The same runs, timed until the file system had also written all data. \(what)", quantity: .duration)
    comparison.entries = other.entries.map { entry in
      Comparison.Entry(entry.name, isLimit: entry.isLimit, samples[entry.name] ?? entry.samples)
    }
    comparison.limit = other.limit
    return comparison
  }
}
