import ArgumentParser
import Foundation
import Synchronization

struct ReadSmallCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "read-small",
    abstract: "Read small assets in random order.",
    discussion: """
      Assets of 10 KB on average are found by path and copied, one at a time in random order. Compressible and \
      incompressible assets are measured separately. Synthetic data has two compressible kinds, also measured \
      separately: assets without common content, and texts of the same words. With --threads, as many threads read in \
      parallel, each with its own reader.

        packstore-bench read-small --threads all
      """
  )

  @OptionGroup var options: BenchmarkOptions

  func run() throws { try BenchmarkRun.run(options, [ReadSmall()]) }
}

/// Measures reads of small assets in random order.
struct ReadSmall: Workload {
  let title = "Reading small assets at random"

  func measure(_ session: Session, _ report: (Comparison) -> Void) throws {
    var isAnyThere = false
    // In a user's folder, the compressible files include text.
    let contents: [Content] =
      session.options.folder == nil ? [.compressible, .text, .incompressible] : [.compressible, .incompressible]
    for content in contents {
      guard let dataSet = try session.dataSets.small(content, defaultSize: 80) else {
        session.omit("\(title): the data contains no \(content) files from 1 byte to 64 KiB")
        continue
      }
      isAnyThere = true
      let measurements = try SmallReads(session, dataSet, content)
      report(try measurements.warm())
      if session.options.cold { report(try measurements.cold()) }
    }
    guard isAnyThere else { throw NothingToMeasure("the data contains no files from 1 byte to 64 KiB") }
  }
}

private struct SmallReads {
  let session: Session
  let dataSet: DataSet
  let content: Content
  let order: [Int]
  let checksums: Checksums

  init(_ session: Session, _ dataSet: DataSet, _ content: Content) throws {
    self.session = session
    self.dataSet = dataSet
    self.content = content
    checksums = try session.dataSets.checksums(of: dataSet)
    var generator = SeededGenerator(seed: session.options.seed)
    let count = session.options.quick ? 2_000 : 20_000
    order = (0..<count).map { _ in Int.random(in: 0..<dataSet.assets.count, using: &generator) }
  }

  private var threadCount: Int { session.threadsForSmall }

  private var name: String { "\(content)".capitalized }

  private func explanation(_ operationCount: Int) -> String {
    let mean = decimals(Double(dataSet.byteCount) / Double(dataSet.assets.count) / 1e3, 1)
    let threads = threadCount == 1 ? "one thread" : "\(threadCount) concurrent threads, timed in each thread"
    return "\(grouped(operationCount)) reads in random order by \(threads); "
      + "\(counted(dataSet.assets.count, "asset")), \(mean) KB on average, \(megabytes(dataSet.byteCount, 0)) MB."
  }

  func warm() throws -> Comparison {
    var comparison = Comparison(
      title: "\(name), small assets copied out", explanation: explanation(order.count * threadCount),
      quantity: .timePerOperation)
    let forms = session.forms(of: dataSet, needing: .readSmall, &comparison)
    let limits = try limits()
    comparison.limit = limits.last?.name
    comparison.take(forms.map { form in turn(form, order) } + limits, session.repetitions)
    return comparison
  }

  func cold() throws -> Comparison {
    let few = Array(order.prefix(session.options.quick ? 100 : 500))
    var comparison = Comparison(
      title: "\(name), small assets copied out, cold",
      explanation: explanation(few.count * threadCount) + " The page cache was emptied before each repetition.",
      quantity: .timePerOperation)
    let forms = session.forms(of: dataSet, needing: .readSmall, &comparison)
    let turns = forms.map { form in
      Turn(name: form.contestant.name) {
        try session.dropPageCache()
        return try turn(form, few).measure()
      }
    }
    comparison.take(turns, session.repetitions)
    return comparison
  }

  private func turn(_ form: Form, _ order: [Int]) -> Turn {
    Turn(name: form.contestant.name, check: { try check(form) }) {
      let readers = try (0..<threadCount).map { _ in try form.open(threadCount: 1) }
      defer { for reader in readers { reader.close() } }
      return try sideBySide(readers, order)
    }
  }

  /// Reads all assets of the order with each reader, on a thread per reader. Each thread begins at a different asset.
  private func sideBySide(_ readers: [any AssetReader], _ order: [Int]) throws -> Sample {
    let paths = dataSet.paths
    let byteCount = order.reduce(0) { $0 + dataSet.assets[$1].byteCount }
    let memories = readers.map { _ in Buffer(byteCount: dataSet.longest) }
    guard readers.count > 1 else {
      let (reader, memory) = (readers[0], memories[0])
      return try Sample.each(order, byteCount: byteCount) { _ = try reader.read(paths[$0], into: memory.bytes) }
    }
    let tasks = readers.indices.map { thread in
      let begin = order.count / readers.count * thread
      return ReadTask(
        reader: readers[thread], memory: memories[thread], order: Array(order[begin...] + order[..<begin]), paths: paths
      )
    }
    return try Sample.sideBySide(tasks, byteCount: byteCount * readers.count) { task in
      try Sample.each(task.order) { _ = try task.reader.read(task.paths[$0], into: task.memory.bytes) }
    }
  }

  private func check(_ form: Form) throws {
    let reader = try form.open(threadCount: 1)
    defer { reader.close() }
    let memory = Buffer(byteCount: dataSet.longest)
    for (index, path) in dataSet.paths.enumerated() {
      let length = try reader.read(path, into: memory.bytes)
      try checksums.check(UnsafeRawBufferPointer(rebasing: memory.bytes[..<length]), are: index, of: dataSet)
    }
  }

  // MARK: - Limits

  private func limits() throws -> [Turn] {
    let memory = Buffer(byteCount: dataSet.longest)
    func turn(_ name: String, _ read: @escaping (Int) throws -> Void) -> Turn {
      Turn(name: name, isLimit: true) { try Sample.each(order, body: read) }
    }
    let source = Buffer(byteCount: dataSet.longest)
    let packed = try PackedFile(dataSet, compressing: false, at: session.newFolder() + "/packed")
    let copy = turn("memcpy") {
      memcpy(memory.bytes.baseAddress!, source.bytes.baseAddress!, dataSet.assets[$0].byteCount)
    }
    let read = turn("pread() from one open file, uncompressed") { try packed.read($0, into: memory.bytes) }
    guard content != .incompressible else { return [copy, read] }
    let compressed = try PackedFile(dataSet, compressing: true, at: session.newFolder() + "/packed")
    let form = try session.forms.form(PackStoreContestant.swift, dataSet)
    let frames = try StoredFrameLimit(dataSet, ofStoreAt: PackStoreContestant.store(in: form.folder))
    return [
      copy, read,
      turn("pread() + libzstd, each asset by itself") { try compressed.read($0, into: memory.bytes) },
      turn("pread() + libzstd, PackStore's frames") { try frames.read($0, into: memory.bytes) },
    ]
  }
}

/// The work of one thread.
private struct ReadTask: @unchecked Sendable {
  let reader: any AssetReader
  let memory: Buffer
  let order: [Int]
  let paths: AssetPaths
}
