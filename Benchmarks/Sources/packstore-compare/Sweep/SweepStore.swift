import Foundation
import PackStore

/// What one store of the sweep costs.
struct SweepResult: Codable {
  let point: SweepPoint
  /// The files of the store with the first version.
  let first: StoreFiles
  /// The files that the second version added.
  let second: StoreFiles?
  /// Of storing the first version with all processors.
  var ingest: Timing
  /// Peak of private memory during the run, in bytes; `nil` if the system does not report it.
  var peakMemory: Int?
  /// Time to read every asset in order, on one thread.
  var read: Timing
  let readByteCount: Int
  /// Of reading at random, on one thread: 64 KiB somewhere in an asset, or all of a smaller one. Per read.
  var randomRead: Timing

  var readMegabytesPerSecond: Double { Double(readByteCount) / 1e6 / read.cpu }

  mutating func keepBest(of other: SweepResult) {
    ingest.keepBest(of: other.ingest)
    read.keepBest(of: other.read)
    randomRead.keepBest(of: other.randomRead)
    if let peak = peakMemory, let otherPeak = other.peakMemory { peakMemory = min(peak, otherPeak) }
  }
}

extension SweepResult {
  /// Stores the corpus in a new store inside `work` and removes it again.
  ///
  /// Commits are atomic, not durable, so that the disk does not hide the cost of the settings.
  init(_ point: SweepPoint, of corpus: Corpus, in work: String) throws {
    let folder = try TemporaryFolder(in: work)
    let path = folder.path + "/store"
    var known: Set<String> = []

    self.point = point
    let memory = MemoryWatch()
    ingest = try Self.store(corpus.folder, point, at: path)
    peakMemory = memory?.stop()
    first = try StoreFiles(ofStoreAt: path, notIn: &known)
    (read, readByteCount, randomRead) = try Self.readBack(corpus.folder, at: path)
    second = try corpus.secondVersion.map { tree in
      _ = try Self.store(tree, point, at: path)
      return try StoreFiles(ofStoreAt: path, notIn: &known)
    }
  }

  private static func store(_ tree: Corpus.Tree, _ point: SweepPoint, at path: String) throws -> Timing {
    var storeOptions = Store.Options.createIfMissing
    storeOptions.averageChunkByteCount = point.chunkAverage
    let options = Store.InstallOptions(
      level: point.level, frameByteCount: point.frameSize, sharedFrameByteCount: point.sharedFrameSize)
    return try Timing.ofProcess {
      let store = try Store(at: FilePath(path), options: storeOptions)
      let install: (inout Transaction) throws -> Void = { [options] in
        _ = try $0.install(folder: FilePath(tree.path), as: "Sweep", options: options)
      }
      try store.write(options: .init(durability: .atomic), install)
    }.timing
  }

  private static func readBack(_ tree: Corpus.Tree, at path: String) throws -> (
    all: Timing, byteCount: Int, random: Timing
  ) {
    var options = Store.Options.readOnly
    options.threadCount = 1
    let store = try Store(at: FilePath(path), options: options)
    let buffer = Buffer(byteCount: tree.files.map(\.byteCount).max() ?? 0)
    let snapshot = try store.makeSnapshot()

    let all = try Timing.ofThread {
      var byteCount = 0
      try snapshot.forEachAsset(depth: .descendants) { asset in
        if asset.kind == .file { byteCount += try asset.read(into: buffer.bytes) }
      }
      return byteCount
    }
    return (all.timing, all.result, try readAtRandom(snapshot, into: buffer.bytes))
  }

  private static func readAtRandom(_ snapshot: Snapshot, into buffer: UnsafeMutableRawBufferPointer) throws
    -> Timing
  {
    let readLimit = 4_000
    let pieceLength = 64 << 10
    let secondLimit = 1.0
    let files = try snapshot.entries(depth: .descendants).filter { $0.kind == .file && $0.byteCount > 0 }
    guard !files.isEmpty else { return Timing(wall: 0, cpu: 0) }
    var generator = SeededGenerator(seed: 1)
    let clock = ContinuousClock()
    let begin = clock.now
    let reads = try Timing.ofThread {
      var readCount = 0
      while readCount < readLimit, clock.now - begin < .seconds(secondLimit) {
        let file = files[Int.random(in: 0..<files.count, using: &generator)]
        let length = min(file.byteCount, pieceLength)
        let offset = Int.random(in: 0...(file.byteCount - length), using: &generator)
        try snapshot.asset(file.path).read(into: buffer, range: offset..<(offset + length))
        readCount += 1
      }
      return readCount
    }
    let count = Double(reads.result)
    return Timing(wall: reads.timing.wall / count, cpu: reads.timing.cpu / count)
  }
}
