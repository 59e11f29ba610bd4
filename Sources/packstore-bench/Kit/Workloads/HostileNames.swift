import CXXHash
import Foundation
import PackStore

/// Look-ups in two stores: in one, a pack has names chosen to make them slow; in the other, its names are ordinary.
///
/// The chosen names share a few buckets of an index that places paths by XXH3 without a secret. An author who does not
/// know the store's secret cannot do better.
struct HostileNames: Workload {
  let title = "Look-up of hostile names"
  let nameCount: Int
  /// Runs of the larger index.
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
        "\(grouped(batchCount)) look-ups, path to length: half of them in a pack of \(grouped(nameCount)) names that hash to "
        + "one place without the store's secret, or of others, and half in packs beside it; in an index of one run, and of "
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

  /// Names of 16 digits that would be in the first eight buckets of a run of all names.
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

/// A store of empty assets: a pack of given names, and packs of ordinary names.
private final class NamedStore {
  private let workspace: String
  private let dataSet: DataSet
  private let runCount: Int
  private var packs: [[String]]
  private let session: Session

  /// - Parameter runCount: 1, or the number of runs. Each is more than twice as long as all later runs together, so
  ///   none are joined.
  init(_ names: [String], runCount: Int, _ session: Session) throws {
    workspace = try session.newFolder()
    self.session = session
    self.runCount = runCount
    packs = [names]
    dataSet = DataSet("hostile names", folder: workspace, assets: [])
    if runCount == 1 {
      // The last pack is the longest: its commit joins all runs.
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

  /// Size of a run of a few names, which fills a page.
  private static let shortestRun = 4_300.0
  /// Approximate size of a name's record in a run, with its share of a bucket.
  private static let byteCountOfName = 52
  /// Size of links, which are stored in the index and give a run the required length.
  private static let target = String(repeating: "x", count: 4_000)

  private static func others(_ count: Int, pack: Int) -> [String] {
    (0..<max(count, 1)).map { "beside-\(pack)-\(HostileNames.digits($0))" }
  }

  /// The first pack has the highest precedence, so that every look-up searches it.
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
