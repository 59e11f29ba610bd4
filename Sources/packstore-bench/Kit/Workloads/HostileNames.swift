import CXXHash
import Foundation
import PackStore

/// Compares look-ups in stores that contain a pack with names chosen to make look-ups slow, and in stores with ordinary names.
///
/// The chosen names share a few buckets of an index that places paths by XXH3 without a secret. An attacker who does not know the
/// store's secret cannot choose worse names.
struct HostileNames: Workload {
  let title = "Look-up of hostile names"
  let nameCount: Int
  /// The number of runs in the larger index.
  var runCount = 8

  init(_ options: BenchmarkOptions) { nameCount = options.quick ? 6_000 : 60_000 }

  init(nameCount: Int, runCount: Int) {
    self.nameCount = nameCount
    self.runCount = runCount
  }

  func measure(_ session: Session, _ report: (Comparison) -> Void) throws {
    guard session.contestants.contains(where: { $0.name == PackStoreContestant.swift.name }) else { return }
    report(try measure(session))
  }

  private func measure(_ session: Session) throws -> Comparison {
    let batchCount = session.options.quick ? 2_000 : 20_000
    var comparison = Comparison(
      title: "Hostile names, per look-up",
      explanation:
        "\(grouped(batchCount)) look-ups of a length by path: half in a pack of \(grouped(nameCount)) names, half in other packs. "
        + "The names are ordinary, or chosen to hash to one place without the store's secret. The index has one run, or "
        + "\(runCount).",
      quantity: .timePerOperation)
    let turns = try [(true, "hostile names"), (false, "honest names")].flatMap { isHostile, name in
      let pack = isHostile ? chosenNames() : (0..<nameCount).map { "pack-\(Self.digits($0))" }
      return try [1, runCount].map { runCount in
        note("  PackStore prepares: \(name), \(counted(runCount, "run"))")
        let store = try NamedStore(pack, runCount: runCount, session)
        let paths = store.paths(batchCount, seed: session.options.seed)
        return Turn(name: "\(name), \(counted(runCount, "run"))", check: { try store.check(paths) }) {
          let reader = try store.open()
          defer { reader.close() }
          _ = try reader.lookUp(paths)
          return try Sample.of(operationCount: batchCount) { try reader.lookUp(paths) }
        }
      }
    }
    comparison.take(turns, session.repetitions)
    return comparison
  }

  /// Generates names of 16 digits that would be in the first eight buckets of a run of all names.
  func chosenNames() -> [String] {
    let buckets = UInt64(nameCount / 7 + 1)
    var names: [String] = []
    var number: UInt64 = 0
    withUnsafeTemporaryAllocation(byteCount: 16, alignment: 8) { name in
      while names.count < nameCount {
        for digit in 0..<16 { name[digit] = Self.hexadecimal[Int(number >> (60 - 4 * UInt64(digit)) & 15)] }
        let hash = XXH3_64bits(name.baseAddress, 16)
        if (hash >> 32) &* buckets >> 32 < 8 { names.append(String(decoding: name, as: UTF8.self)) }
        number += 1
      }
    }
    return names
  }

  private static let hexadecimal = Array("0123456789abcdef".utf8)

  fileprivate static func digits(_ number: Int) -> String {
    let digits = String(number)
    return String(repeating: "0", count: max(0, 10 - digits.count)) + digits
  }
}

/// A store with a pack of given names, and with packs of ordinary names.
private final class NamedStore {
  private let workspace: String
  private let dataSet: DataSet
  private let runCount: Int
  private var packs: [[String]]
  private let session: Session

  /// Creates the store.
  ///
  /// - Parameter runCount: the number of runs in the index. If it is more than 1, each run is more than twice as long as all later
  ///   runs together, so that no runs are merged.
  init(_ names: [String], runCount: Int, _ session: Session) throws {
    workspace = try session.newFolder()
    self.session = session
    self.runCount = runCount
    packs = [names]
    dataSet = DataSet("hostile names", folder: workspace, assets: [])
    if runCount == 1 {
      // The last installed pack is the longest: its commit merges all runs.
      packs += (0..<3).map { Self.others(names.count / 9, pack: $0) }
      for (number, names) in packs.enumerated().reversed() { try install(names, linkCount: 0, pack: number) }
    } else {
      for number in 0..<runCount {
        let byteCount = Self.shortestRun * pow(3.2, Double(runCount - 1 - number))
        if number > 0 { packs.append(Self.others(min(Int(byteCount) / 200, names.count / 9), pack: number)) }
        let rest = Int(byteCount) - Self.byteCountOfName * packs[number].count
        try install(packs[number], linkCount: max(rest / (Self.target.utf8.count + 40), 0), pack: number)
      }
    }
    let runs = try Store(at: FilePath(PackStoreContestant.store(in: workspace)), options: .readOnly).makeSnapshot()
      .statistics().runCount
    guard runs == runCount else { throw Unavailable("the index has \(counted(runs, "run")), not \(runCount)") }
  }

  /// The size of the shortest run, which has a few names and fills a page.
  private static let shortestRun = 4_300.0
  /// The approximate size of a name's record in a run, with its share of a bucket.
  private static let byteCountOfName = 52
  /// The target of links. Links are stored in the index, so they give a run the required length.
  private static let target = String(repeating: "x", count: 4_000)

  private static func others(_ count: Int, pack: Int) -> [String] {
    (0..<max(count, 1)).map { "beside-\(pack)-\(HostileNames.digits($0))" }
  }

  /// Installs a pack. The first pack has the highest precedence, so that every look-up searches it.
  private func install(_ names: [String], linkCount: Int, pack: Int) throws {
    let folder = try session.newFolder()
    let plans = names.map { AssetPlan(path: $0, byteCount: 1, content: .text) }
    _ = try DataSetMaker.makeHollow("names", plans, at: folder)
    for number in 0..<linkCount {
      try FileManager.default.createSymbolicLink(
        atPath: "\(folder)/zz-link-\(number)", withDestinationPath: Self.target)
    }
    var options = Store.InstallOptions()
    options.priority = pack == 0 ? 1 : 0
    let store = try Store(at: FilePath(PackStoreContestant.store(in: workspace)), options: .createIfMissing)
    try store.write { [options] in
      _ = try $0.install(folder: FilePath(folder), as: PackID(validating: "Pack\(pack)"), options: options)
    }
    try? FileManager.default.removeItem(atPath: folder)
  }

  func open() throws -> any AssetReader {
    try PackStoreContestant.swift.open(dataSet, in: workspace, threadCount: 1)
  }

  /// Returns names in random order: half from the first pack, half from the others.
  func paths(_ count: Int, seed: UInt64) -> AssetPaths {
    var generator = SeededGenerator(seed: seed)
    let others = packs.dropFirst().flatMap(\.self)
    return AssetPaths((0..<count).map { ($0 % 2 == 0 ? packs[0] : others).randomElement(using: &generator)! })
  }

  func check(_ paths: AssetPaths) throws {
    let reader = try open()
    defer { reader.close() }
    guard try reader.lookUp(paths) == paths.count else { throw WrongBytes(path: "sum of lengths") }
  }
}
