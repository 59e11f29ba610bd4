import ArgumentParser
import Foundation

struct SwapCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "swap",
    abstract: "Replace one asset of a pack of 100, with readers.",
    discussion: """
      Commits wait for the disk, so figures are comparable only within one run. Add 1000000 to --counts to measure a \
      million assets.

        packstore-bench swap --html swap.html
      """
  )

  @OptionGroup var counts: SwapCounts
  @OptionGroup var options: BenchmarkOptions

  static let secondsPerComparison = 8.0

  func run() throws {
    try BenchmarkRun.run(
      options, [Swap(counts: counts.list(options))], secondsPerComparison: Self.secondsPerComparison)
  }
}

/// Option for the numbers of assets in the stores where a pack is swapped.
struct SwapCounts: ParsableArguments {
  @Option(
    help: .init(
      "Numbers of assets, separated by commas (default: 1000,10000,100000; with --quick 1000,10000).",
      valueName: "list"))
  var counts: NumberList?

  func list(_ options: BenchmarkOptions) -> [Int] {
    counts?.numbers ?? (options.quick ? [1_000, 10_000] : [1_000, 10_000, 100_000])
  }
}

/// Measures the replacement of one version of a pack by the next.
struct Swap: Workload {
  let title = "Swapping versions"
  let counts: [Int]

  func measure(_ session: Session, _ report: (Comparison) -> Void) throws {
    for count in counts where session.hasTime("swaps among \(grouped(count)) assets") {
      let trial = try SwapTrial(session, count)
      for comparison in trial.commits() { report(comparison) }
      if count == counts.max() {
        for comparison in trial.pauses() { report(comparison) }
      }
    }
  }
}

/// Measures swaps in stores of one size.
private final class SwapTrial {
  private static let assetCount = 100
  private static let limitName = "one file: write, sync, rename, sync folder"

  private let session: Session
  private let count: Int
  private let rest: DataSet
  private let source: SwapSource

  /// - Parameter count: the number of assets in each store, including the assets of the swapped pack.
  init(_ session: Session, _ count: Int) throws {
    self.session = session
    self.count = count
    rest = try session.dataSets.names(max(count - Self.assetCount, 1))
    source = try SwapSource(assetCount: Self.assetCount, seed: session.options.seed, in: session.newFolder())
  }

  /// The participants, each once per durability.
  private var participants: [(name: String, contestant: any SwappingContestant, safety: SwapSafety)] {
    var seen: Set<String> = []
    return session.contestants.compactMap { $0 as? any SwappingContestant }
      .filter { $0.abilities.contains(.swap) && seen.insert($0.form ?? $0.name).inserted }
      .flatMap { contestant in
        SwapSafety.allCases.map { ("\(contestant.name), \($0)", contestant, $0) }
      }
  }

  private func open(_ contestant: any SwappingContestant, _ safety: SwapSafety) throws -> any AssetSwapper {
    try FreeSpace.require(rest.byteCount, in: session.workspace)
    let folder = try session.newFolder()
    note("  \(contestant.name) prepares: \(grouped(count)) assets")
    try contestant.prepare(rest, in: folder, threadCount: session.threadsForLarge)
    let swapper = try contestant.openForSwaps(of: source.dataSet, in: folder, safety: safety)
    sync()
    return swapper
  }

  // MARK: - Cost of a swap

  private var repetitionLength: Int { session.options.quick ? 2 : 8 }

  /// Returns two comparisons of the same runs: the commit alone, and the complete swap from the beginning of staging.
  func commits() -> [Comparison] {
    let what =
      "One asset of a pack of \(Self.assetCount) changed, in a store of \(grouped(count)) assets. Each repetition swaps "
      + "\(repetitionLength) times."
    var commits = Comparison(
      title: "Commit of a swap",
      explanation: "Time from the end of staging until new readers see the version, and it is safe. \(what)",
      quantity: .timePerOperation, point: .init(series: "Commit of a swap", axis: "assets", size: count))
    commits.limit = Self.limitName
    let wholes = SamplesAside()
    let fileSwap = Result { try FileSwap(in: session.newFolder()) }
    let limit = Turn(name: Self.limitName, isLimit: true) {
      let swap = try fileSwap.get()
      return try self.time(Self.limitName, wholes) { _, bytes, whenStaged in
        whenStaged()
        try swap.swap(bytes)
      }
    }
    var opened: [any AssetSwapper] = []
    defer { for swapper in opened { swapper.close() } }
    let turns = participants.map { participant in
      let swapper = Result { try self.open(participant.contestant, participant.safety) }
      if let swapper = try? swapper.get() { opened.append(swapper) }
      return Turn(name: participant.name) { try self.time(participant.name, wholes, swapper.get().swap) }
    }
    commits.take(turns + [limit], session.repetitions)
    var whole = Comparison(
      title: "Swap as a whole",
      explanation: "The same runs, with staging: reading and comparing a folder of \(Self.assetCount) files. \(what)",
      quantity: .timePerOperation, point: .init(series: "Swap as a whole", axis: "assets", size: count))
    whole.limit = commits.limit
    whole.entries = commits.entries.map { .init($0.name, isLimit: $0.isLimit, wholes[$0.name]) }
    return [commits, whole]
  }

  /// Runs one repetition. The time excludes writing the new bytes to the pack's folder.
  private func time(
    _ name: String, _ wholes: SamplesAside,
    _ swap: (AssetPath, UnsafeRawBufferPointer, () -> Void) throws -> Void
  ) throws -> Sample {
    var commits: [UInt32] = []
    var all: [UInt32] = []
    for _ in 0..<repetitionLength {
      let path = try source.change()
      let begin = monotonicNanoseconds()
      var staged = begin
      try swap(path, source.bytes) { staged = monotonicNanoseconds() }
      let end = monotonicNanoseconds()
      commits.append(UInt32(clamping: end - staged))
      all.append(UInt32(clamping: end - begin))
    }
    wholes.append(Self.sample(all), name)
    return Self.sample(commits)
  }

  private static func sample(_ nanoseconds: [UInt32]) -> Sample {
    let wall = nanoseconds.reduce(0) { $0 + Double($1) / 1e9 }
    return Sample(Timing(wall: wall, cpu: 0), operationCount: nanoseconds.count, nanoseconds: nanoseconds)
  }

  // MARK: - Pauses of readers

  /// Measures a thread that repeatedly opens the newest snapshot and reads an asset: the longest round, and the 99.9th percentile.
  /// For comparison, measures a thread that does not use a store: the machine causes its pauses.
  func pauses() -> [Comparison] {
    guard let contestant = session.contestants.first(where: { $0.name == PackStoreContestant.swift.name }) else {
      return []
    }
    let pauses = SwapSafety.allCases.map { safety in
      (safety, Result { try self.open(contestant as! PackStoreContestant, safety) as! PackStoreSwapper })
    }
    let seconds = session.options.quick ? 0.1 : 0.6
    let thousandth = SamplesAside()
    var longest = Comparison(
      title: "Longest pause of a reader",
      explanation:
        "A thread repeatedly opens the newest snapshot and reads one asset; the figure is its longest round in "
        + "\(decimals(seconds, 1)) s. Concurrently, another thread swaps as fast as possible, or no thread swaps. The machine "
        + "causes the pauses of a thread without a store. The store has \(grouped(count)) assets.",
      quantity: .duration)
    let turns = [ReaderWork.store, .nothing].flatMap { work in
      [nil, SwapSafety.durable, .atomic].map { safety in
        let name = work.title + (safety.map { ", \($0) swaps" } ?? ", no swaps")
        return Turn(name: name, isLimit: work == .nothing) {
          let swapper = try pauses.first { $0.0 == safety ?? .durable }!.1.get()
          let rounds = try ReaderPause(swapper, self.source, work, swaps: safety != nil).rounds(seconds: seconds)
          thousandth.append(Sample(Timing(wall: rounds.quantile(0.999), cpu: 0)), name)
          return Sample(Timing(wall: rounds.quantile(1), cpu: 0))
        }
      }
    }
    longest.limit = turns[4].name
    longest.take(turns, session.repetitions)
    var most = Comparison(
      title: "Pauses of a reader, all but one in a thousand", explanation: "The same runs: the 99.9th percentile.",
      quantity: .duration)
    most.limit = longest.limit
    most.entries = longest.entries.map { .init($0.name, isLimit: $0.isLimit, thousandth[$0.name]) }
    return [longest, most]
  }
}

/// Additional samples of a comparison's runs, for another comparison.
private final class SamplesAside {
  private var samples: [String: [Sample]] = [:]

  func append(_ sample: Sample, _ name: String) { samples[name, default: []].append(sample) }

  subscript(name: String) -> [Sample] { samples[name] ?? [] }
}
