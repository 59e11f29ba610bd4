import ArgumentParser
import Foundation

struct ReadLargeCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "read-large",
    abstract: "Read large assets whole, without a copy, in ranges.",
    discussion: """
      Compressible and incompressible assets are measured separately and compared with the limits of the machine: \
      libzstd decoding the same frames from memory, and reading and mapping the plain files.

        packstore-bench read-large --size 1000 --repetitions 9
        packstore-bench read-large --folder Assets --threads 1 --cold
      """
  )

  @OptionGroup var options: BenchmarkOptions

  func run() throws { try BenchmarkRun.run(options, [ReadLarge()]) }
}

/// Measures reads of large assets.
struct ReadLarge: Workload {
  let title = "Reading large assets"

  func measure(_ session: Session, _ report: (Comparison) -> Void) throws {
    var isAnyThere = false
    for content in [Content.compressible, .incompressible] {
      guard let dataSet = try session.dataSets.large(content, defaultSize: 384) else {
        session.omit("\(title): the data contains no \(content) files of 1 MiB or more")
        continue
      }
      isAnyThere = true
      let measurements = try LargeReads(session, dataSet, content)
      for comparison in try measurements.comparisons() { report(comparison) }
    }
    guard isAnyThere else { throw NothingToMeasure("the data contains no files of 1 MiB or more") }
  }
}

/// The comparisons for one data set.
private struct LargeReads {
  let session: Session
  let dataSet: DataSet
  let content: Content
  let threadCount: Int
  let checksums: Checksums
  /// All participants read into the same memory, whose pages are allocated.
  let memory: Buffer
  let files: FileLimit

  init(_ session: Session, _ dataSet: DataSet, _ content: Content) throws {
    self.session = session
    self.dataSet = dataSet
    self.content = content
    threadCount = session.threadsForLarge
    checksums = try session.dataSets.checksums(of: dataSet)
    memory = Buffer(byteCount: dataSet.longest)
    files = try FileLimit(dataSet)
  }

  private var isCompressible: Bool { content == .compressible }

  private var threads: String { counted(threadCount, "thread") }

  func comparisons() throws -> [Comparison] {
    let frames = isCompressible ? try frameLimit() : nil
    var comparisons = [wholeIntoMemory(frames), wholeIntoFreshMemory(frames), wholeAgain(frames), contentsAgain()]
    if !isCompressible { comparisons += [borrowedFirst(), borrowedAgain()] }
    comparisons += try [1 << 20, 64 << 10, 4 << 10].map { try ranges(of: $0, frames) }
    comparisons.append(try rangesOnce(frames))
    if session.options.cold { comparisons.append(coldWhole()) }
    return comparisons
  }

  /// Returns the limit for the frames of PackStore's form of this data set.
  private func frameLimit() throws -> FrameLimit {
    let form = try session.forms.form(PackStoreContestant.swift, dataSet)
    return try FrameLimit(ofStoreAt: PackStoreContestant.store(in: form.folder))
  }

  private func comparison(_ title: String, _ explanation: String, _ quantity: Quantity = .throughput) -> Comparison {
    let name = isCompressible ? "Compressible" : "Incompressible"
    let size = "\(counted(dataSet.assets.count, "asset")), \(megabytes(dataSet.byteCount, 0)) MB"
    return Comparison(title: "\(name), \(title)", explanation: "\(explanation) \(size).", quantity: quantity)
  }

  private func run(_ comparison: Comparison, _ abilities: Abilities, limits: [Turn], turn: (Form) -> Turn) -> Comparison
  {
    var comparison = comparison
    // The interface makes no measurable difference to a large read.
    let forms = session.forms(of: dataSet, needing: abilities, &comparison, oneInterface: true)
    comparison.take(forms.map(turn) + limits, session.repetitions)
    return comparison
  }

  // MARK: - Whole assets into the caller's memory

  private func wholeIntoMemory(_ frames: FrameLimit?) -> Comparison {
    var comparison = comparison(
      "first read, into memory that is there",
      "Opens the store again, then reads all assets completely into the same memory, with up to \(threads) per read.")
    var limits = [memcpyLimit, mapLimit] + readLimits
    if let frames { limits += decodeLimits(frames) { _ in memory.bytes } }
    comparison.limit = limits.last?.name
    return run(comparison, .read, limits: limits) { form in
      Turn(name: form.contestant.name, check: { try check(form) }) {
        let reader = try form.openUnread(threadCount: threadCount)
        defer { reader.close() }
        return try Sample.of { try readAll(reader) { _ in memory.bytes } }
      }
    }
  }

  private func wholeIntoFreshMemory(_ frames: FrameLimit?) -> Comparison {
    var comparison = comparison(
      "first read, into fresh memory",
      "As before, but reads each asset into untouched memory. The time includes page faults.")
    let reads = Set([1, threadCount]).sorted().map { threadCount in
      Turn(name: "pread() of the plain files, fresh memory, \(counted(threadCount, "thread"))", isLimit: true) {
        try withFreshMemory { memory in try Sample.of { try files.readAll(threadCount: threadCount, into: memory) } }
      }
    }
    let decode = frames.map { frames in
      let decoders = FrameDecoders(threadCount: threadCount)
      return Turn(name: "libzstd, same frames, \(threads), fresh", isLimit: true) {
        let memory = FreshMemory(byteCount: dataSet.byteCount)
        return try Sample.of { try frames.decodeAll(into: memory.bytes, with: decoders) }
      }
    }
    let limits = reads + [decode].compactMap(\.self)
    comparison.limit = limits.last?.name
    return run(comparison, .read, limits: limits) { form in
      Turn(name: form.contestant.name) {
        let reader = try form.openUnread(threadCount: threadCount)
        defer { reader.close() }
        return try withFreshMemory { memory in try Sample.of { try readAll(reader, into: memory) } }
      }
    }
  }

  private func wholeAgain(_ frames: FrameLimit?) -> Comparison {
    var comparison = comparison("repeated read", "Reads every asset a second time with the same reader.")
    let limits = frames.map { decodeLimits($0) { _ in memory.bytes } } ?? readLimits
    comparison.limit = limits.last?.name
    return run(comparison, .read, limits: limits) { form in
      Turn(name: form.contestant.name) {
        let reader = try form.open(threadCount: threadCount)
        defer { reader.close() }
        _ = try readAll(reader) { _ in memory.bytes }
        return try Sample.of { try readAll(reader) { _ in memory.bytes } }
      }
    }
  }

  private func coldWhole() -> Comparison {
    var comparison = comparison(
      "first read, cold", "Like the first read, but with an empty page cache, so the time includes the disk.")
    let cold = Turn(name: "pread() of the plain files, cold", isLimit: true) {
      try session.dropPageCache()
      return try Sample.of { try files.readAll { _ in memory.bytes } }
    }
    comparison.limit = cold.name
    return run(comparison, .read, limits: [cold]) { form in
      Turn(name: form.contestant.name) {
        try session.dropPageCache()
        let reader = try form.open(threadCount: threadCount)
        defer { reader.close() }
        return try Sample.of { try readAll(reader) { _ in memory.bytes } }
      }
    }
  }

  // MARK: - Whole assets in memory that the contestant provides

  private func contentsAgain() -> Comparison {
    var comparison = comparison(
      "asked for a second time, no memory given",
      "Requests each asset a second time, in memory that the API provides. A store may have kept a decoded copy. "
        + "Reads one byte of each cache line.")
    comparison.limit = touchLimit.name
    return run(comparison, .contents, limits: [mapLimit, touchLimit]) { form in
      Turn(name: form.contestant.name) {
        let reader = try form.open(threadCount: threadCount)
        defer { reader.close() }
        _ = try touchAll(reader.withContents)
        return try Sample.of { try touchAll(reader.withContents) }
      }
    }
  }

  private func borrowedFirst() -> Comparison {
    var comparison = comparison(
      "without a copy, first touch",
      "Opens the store again, borrows each asset as mapped memory, and reads one byte per cache line. PackStore verifies checksums."
    )
    comparison.limit = mapLimit.name
    return run(comparison, .borrow, limits: [mapLimit]) { form in
      Turn(name: form.contestant.name, check: { try checkBorrowed(form) }) {
        let reader = try form.openUnread(threadCount: threadCount)
        defer { reader.close() }
        return try Sample.of { try touchAll(reader.borrow) }
      }
    }
  }

  private func borrowedAgain() -> Comparison {
    var comparison = comparison(
      "without a copy, repeated", "Borrows and touches each asset a second time with the same reader.")
    comparison.limit = touchLimit.name
    return run(comparison, .borrow, limits: [mapLimit, touchLimit]) { form in
      Turn(name: form.contestant.name) {
        let reader = try form.open(threadCount: threadCount)
        defer { reader.close() }
        _ = try touchAll(reader.borrow)
        return try Sample.of { try touchAll(reader.borrow) }
      }
    }
  }

  // MARK: - Ranges

  private func ranges(of length: Int, _ frames: FrameLimit?) throws -> Comparison {
    let places = RandomRanges(
      dataSet, length: length, count: session.options.quick ? 200 : min(4000, 512 << 20 / length),
      seed: session.options.seed)
    let comparison = comparison(
      "\(binarySize(length)) at random",
      "\(grouped(places.all.count)) ranges at random places of random assets, read in sequence into the same memory.",
      .timePerOperation)
    return try ranges(places, length, comparison, frames) { try $0.open(threadCount: threadCount) }
  }

  /// Measures reads of ranges that were not decoded before.
  private func rangesOnce(_ frames: FrameLimit?) throws -> Comparison {
    let (length, stretch) = (64 << 10, 512 << 10)
    let places = RandomRanges(dataSet, length: length, oneIn: stretch, seed: session.options.seed)
    let comparison = comparison(
      "\(binarySize(length)) at random, each place once",
      "\(grouped(places.all.count)) ranges in random order, one in every \(binarySize(stretch)), each read once after the store "
        + "was opened again. The ranges are so far apart that none is decoded together with another.",
      .timePerOperation)
    return try ranges(places, length, comparison, frames) { try $0.openUnread(threadCount: threadCount) }
  }

  private func ranges(
    _ places: RandomRanges, _ length: Int, _ comparison: Comparison, _ frames: FrameLimit?,
    open: @escaping (Form) throws -> any AssetReader
  ) throws -> Comparison {
    var comparison = comparison
    let target = UnsafeMutableRawBufferPointer(rebasing: memory.bytes[..<min(length, memory.bytes.count)])
    let read = Turn(name: "pread() of the open plain file", isLimit: true) {
      try Sample.each(places.all) { try files.read($0.asset, at: $0.offset, into: target) }
    }
    let decode = frames.map { frames in
      let decoder = ZstdDecoder()
      let room = Buffer(byteCount: frames.frames.frames.map(\.rawLength).max() ?? 0)
      return Turn(name: "libzstd, the frames that hold the range", isLimit: true) {
        try Sample.each(places.all) { place in
          let begin = place.position % max(frames.frames.rawByteCount - length, 1)
          let first = frames.frames.index(holding: begin)
          let last = frames.frames.index(holding: begin + length - 1)
          for index in first...last { try frames.decode(index, into: room.bytes.baseAddress!, with: decoder) }
        }
      }
    }
    comparison.limit = (decode ?? read).name
    return run(comparison, .readRange, limits: [read, decode].compactMap(\.self)) { form in
      Turn(name: form.contestant.name, check: { try check(places, form, target) }) {
        let reader = try open(form)
        defer { reader.close() }
        return try Sample.each(places.all) { try reader.read($0.path, at: $0.offset, into: target) }
      }
    }
  }

  // MARK: - Limits

  private var memcpyLimit: Turn {
    let source = memory.bytes
    let target = Buffer(byteCount: source.count)
    return Turn(name: "memcpy, 1 thread", isLimit: true) {
      Sample.of { files.copy(from: UnsafeRawBufferPointer(source), to: target.bytes) }
    }
  }

  private var mapLimit: Turn {
    Turn(name: "mapping the plain files, first touch", isLimit: true) { try Sample.of { try files.mapAndTouch() } }
  }

  private var touchLimit: Turn {
    Turn(name: "mapped plain files, touched again", isLimit: true) {
      let maps = try files.map()
      for map in maps { Sink.shared.take(map.withBytes(touchEveryLine)) }
      return Sample.of {
        for map in maps { Sink.shared.take(map.withBytes(touchEveryLine)) }
        return dataSet.byteCount
      }
    }
  }

  /// The limits with one thread, and with the number of threads that a read of the store may use.
  private var readLimits: [Turn] {
    Set([1, threadCount]).sorted().map { threadCount in
      Turn(name: "pread() of the plain files, same memory, \(counted(threadCount, "thread"))", isLimit: true) {
        try Sample.of { try files.readAll(threadCount: threadCount) { _ in memory.bytes } }
      }
    }
  }

  private func decodeLimits(_ frames: FrameLimit, into memory: @escaping (Int) -> UnsafeMutableRawBufferPointer)
    -> [Turn]
  {
    Set([1, threadCount]).sorted().map { threadCount in
      let decoders = FrameDecoders(threadCount: threadCount)
      let threads = counted(threadCount, "thread")
      return Turn(name: "libzstd, same frames, \(threads)", isLimit: true) {
        try Sample.of { try frames.decodeAll(into: memory(dataSet.longest), with: decoders) }
      }
    }
  }

  // MARK: - Loops and checks

  private func readAll(_ reader: any AssetReader, into memory: (Int) -> UnsafeMutableRawBufferPointer) throws -> Int {
    var sum = 0
    for (path, asset) in zip(dataSet.paths, dataSet.assets) {
      sum += try reader.read(path, into: memory(asset.byteCount))
    }
    return sum
  }

  private func touchAll(_ lend: (AssetPath, (UnsafeRawBufferPointer) throws -> Void) throws -> Void) throws -> Int {
    var sum = 0
    for path in dataSet.paths {
      try lend(path) { bytes in
        Sink.shared.take(touchEveryLine(bytes))
        sum += bytes.count
      }
    }
    return sum
  }

  /// Calls `body` with fresh memory for each asset, which is allocated before the measurement and freed after it.
  private func withFreshMemory<Result>(
    _ body: ((Int) -> UnsafeMutableRawBufferPointer) throws -> Result
  ) rethrows -> Result {
    let all = dataSet.assets.map { FreshMemory(byteCount: $0.byteCount) }
    var next = 0
    return try withExtendedLifetime(all) {
      try body { _ in
        defer { next += 1 }
        return all[next].bytes
      }
    }
  }

  private func check(_ form: Form) throws {
    let reader = try form.open(threadCount: threadCount)
    defer { reader.close() }
    for (index, path) in dataSet.paths.enumerated() {
      let length = try reader.read(path, into: memory.bytes)
      try checksums.check(UnsafeRawBufferPointer(rebasing: memory.bytes[..<length]), are: index, of: dataSet)
    }
  }

  private func checkBorrowed(_ form: Form) throws {
    let reader = try form.open(threadCount: threadCount)
    defer { reader.close() }
    for (index, path) in dataSet.paths.enumerated() {
      try reader.borrow(path) { try checksums.check($0, are: index, of: dataSet) }
    }
  }

  private func check(_ places: RandomRanges, _ form: Form, _ target: UnsafeMutableRawBufferPointer) throws {
    let reader = try form.open(threadCount: threadCount)
    defer { reader.close() }
    let expected = Buffer(byteCount: target.count)
    for place in places.all.prefix(100) {
      try reader.read(place.path, at: place.offset, into: target)
      try files.read(place.asset, at: place.offset, into: expected.bytes)
      guard memcmp(target.baseAddress!, expected.bytes.baseAddress!, target.count) == 0 else {
        throw WrongBytes(path: place.path.string)
      }
    }
  }
}
