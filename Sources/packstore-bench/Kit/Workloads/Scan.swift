import ArgumentParser
import Foundation

struct ScanCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "scan",
    abstract: "Read all data once, in order; write all data to disk.",
    discussion: "  packstore-bench scan --folder Assets"
  )

  @OptionGroup var options: BenchmarkOptions

  func run() throws { try BenchmarkRun.run(options, [Scan()]) }
}

/// Measures one read of all data in order, and one extraction of all data.
struct Scan: Workload {
  let title = "Everything once"

  func measure(_ session: Session, _ report: (Comparison) -> Void) throws {
    guard let dataSet = try session.dataSets.tree(defaultSize: 128) else {
      throw NothingToMeasure("the data contains no files")
    }
    report(try scan(session, dataSet, isCold: false))
    if session.options.cold { report(try scan(session, dataSet, isCold: true)) }
    report(extract(session, dataSet))
  }

  private func scan(_ session: Session, _ dataSet: DataSet, isCold: Bool) throws -> Comparison {
    let threadCount = session.threadsForLarge
    let memory = Buffer(byteCount: dataSet.longest)
    var comparison = Comparison(
      title: isCold ? "Read every asset in order, cold" : "Read every asset in order",
      explanation: "Opens the store again, then reads each asset completely into the same memory, in the contestant's "
        + "best order. \(counted(dataSet.assets.count, "asset")), \(megabytes(dataSet.byteCount, 0)) MB.",
      quantity: .throughput)
    let forms = session.forms(of: dataSet, needing: .scan, &comparison, oneInterface: true)
    let form = try session.forms.form(PackStoreContestant.swift, dataSet)
    let frames = try FrameLimit(ofStoreAt: PackStoreContestant.store(in: form.folder))
    let limits = isCold ? [] : Set([1, threadCount]).sorted().map { Self.limit(frames, threadCount: $0, dataSet) }
    comparison.limit = limits.last?.name
    let turns = forms.map { form in
      Turn(name: form.contestant.name, check: { try Self.check(form, memory) }) {
        if isCold { try session.dropPageCache() }
        let reader = try form.openUnread(threadCount: threadCount)
        defer { reader.close() }
        return try Sample.of { try reader.scan(into: memory.bytes) }
      }
    }
    comparison.take(turns + limits, session.repetitions)
    return comparison
  }

  private static func limit(_ frames: FrameLimit, threadCount: Int, _ dataSet: DataSet) -> Turn {
    let decoders = FrameDecoders(threadCount: threadCount)
    let memory = Buffer(byteCount: max(dataSet.longest, 1 << 20))
    return Turn(name: "libzstd, same frames, \(counted(threadCount, "thread"))", isLimit: true) {
      try Sample.of { try frames.decodeAll(into: memory.bytes, with: decoders) }
    }
  }

  /// Compares the sum of the lengths. Other workloads compare the bytes.
  private static func check(_ form: Form, _ memory: Buffer) throws {
    let reader = try form.open(threadCount: 1)
    defer { reader.close() }
    guard try reader.scan(into: memory.bytes) == form.dataSet.byteCount else {
      throw WrongBytes(path: "sum of lengths")
    }
  }

  // MARK: - Extraction

  private func extract(_ session: Session, _ dataSet: DataSet) -> Comparison {
    var comparison = Comparison(
      title: "Write every asset to disk",
      explanation: "To an empty folder, not synced. \(counted(dataSet.assets.count, "asset")), "
        + "\(megabytes(dataSet.byteCount, 0)) MB.",
      quantity: .throughput)
    let forms = session.forms(of: dataSet, needing: .extract, &comparison, oneInterface: true)
    let limit = Turn(name: "write() from memory, same files", isLimit: true) {
      try intoNewFolder(session, dataSet) { target in try Self.write(dataSet, to: target) }
    }
    comparison.limit = limit.name
    let turns = forms.map { form in
      Turn(name: form.contestant.name, check: { try check(form, session) }) {
        let reader = try form.open(threadCount: session.threadsForLarge)
        defer { reader.close() }
        return try intoNewFolder(session, dataSet) { target in
          try reader.extract(to: target)
          return dataSet.byteCount
        }
      }
    }
    comparison.take(turns + [limit], session.repetitions)
    return comparison
  }

  private func intoNewFolder(_ session: Session, _ dataSet: DataSet, _ body: (String) throws -> Int) throws -> Sample {
    try FreeSpace.require(dataSet.byteCount, in: session.workspace)
    let target = try session.newFolder()
    defer { session.discard(target, of: dataSet) }
    return try Sample.of { try body(target) }
  }

  private static func write(_ dataSet: DataSet, to target: String) throws -> Int {
    let folder = try FileFolder(target)
    let source = Buffer(byteCount: dataSet.longest)
    for (path, asset) in zip(dataSet.paths, dataSet.assets) {
      try folder.makeParents(of: path.string)
      let file = try folder.make(path)
      defer { close(file) }
      try writeFully(UnsafeRawBufferPointer(rebasing: source.bytes[..<asset.byteCount]), to: file, path)
    }
    return dataSet.byteCount
  }

  private func check(_ form: Form, _ session: Session) throws {
    let checksums = try session.dataSets.checksums(of: form.dataSet)
    let reader = try form.open(threadCount: session.threadsForLarge)
    defer { reader.close() }
    let target = try session.newFolder()
    defer { session.discard(target, of: form.dataSet) }
    try reader.extract(to: target)
    let folder = try FileFolder(target)
    for (index, path) in form.dataSet.paths.enumerated() {
      try MappedFile(path, in: folder).withBytes { try checksums.check($0, are: index, of: form.dataSet) }
    }
  }
}
