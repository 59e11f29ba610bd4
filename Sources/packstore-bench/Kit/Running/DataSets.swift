import Foundation

/// The data sets of a run. They are generated, or collected from the user's folder, when a workload first needs them.
final class DataSets {
  private let options: BenchmarkOptions
  private let work: TemporaryFolder
  private var made: [String: DataSet] = [:]
  private var checksums: [String: Checksums] = [:]

  init(_ options: BenchmarkOptions, in work: TemporaryFolder) {
    self.options = options
    self.work = work
  }

  /// Returns large assets with one kind of content; `nil` if none exist.
  func large(_ content: Content, defaultSize: Int) throws -> DataSet? {
    let plans = AssetPlans.large(generatedKind, byteCount: byteCount(defaultSize)).filter { $0.content == content }
    return try make("large assets, \(content)", plans, gathering: content) { $0 >= 1 << 20 }
  }

  /// Returns small assets with one kind of content; `nil` if none exist. Text is generated if compressible data is generated.
  func small(_ content: Content, defaultSize: Int) throws -> DataSet? {
    let share = byteCount(defaultSize) / generatedKind.contents.count
    let isMade = generatedKind.contents.contains(content == .text ? .compressible : content)
    let plans = isMade ? AssetPlans.small([content], byteCount: share, seed: options.seed) : []
    return try make("small assets, \(content)", plans, gathering: content) { 1...64 << 10 ~= $0 }
  }

  /// Returns assets of all lengths; `nil` if none exist.
  func tree(defaultSize: Int) throws -> DataSet? {
    let plans = AssetPlans.tree(options.data, byteCount: byteCount(defaultSize), seed: options.seed)
    let name = options.folder == nil ? "tree, \(options.data)" : "folder"
    return try make(name, plans, gathering: nil) { _ in true }
  }

  /// Returns assets with names and lengths, which are not read.
  func names(_ count: Int) throws -> DataSet {
    try hollow("\(count) assets") { AssetPlans.names(count) }
  }

  /// Returns folders with these numbers of entries.
  func folders(_ counts: [Int]) throws -> DataSet {
    try hollow("folders of \(counts.map(String.init).joined(separator: ", "))") { AssetPlans.folders(counts) }
  }

  /// Returns the checksums of a data set's assets.
  func checksums(of dataSet: DataSet) throws -> Checksums {
    if let known = checksums[dataSet.name] { return known }
    let new = try Checksums(of: dataSet)
    checksums[dataSet.name] = new
    return new
  }

  /// The description of the data in the report.
  var description: String {
    options.folder == nil
      ? "synthetic, seed \(options.seed), \(options.data)"
      : "files of a folder, at most \(byteCount(512) / 1_000_000) MB; synthetic data for look-ups, listings and swaps"
  }

  /// The kind of large and small assets. For a game, these equal the assets of mixed data; only the tree differs.
  private var generatedKind: DataKind { options.data == .game ? .mixed : options.data }

  private func byteCount(_ defaultMegabytes: Int) -> Int {
    (options.size ?? (options.quick ? max(defaultMegabytes / 8, 8) : defaultMegabytes)) * 1_000_000
  }

  private func make(
    _ name: String, _ plans: [AssetPlan], gathering content: Content?, suitable: (Int) -> Bool
  ) throws -> DataSet? {
    try remembered(name) { folder in
      if let source = options.folder {
        let limit = byteCount(512)
        let assets = try FolderScan.assets(below: source, byteLimit: limit) { suitable($0) }
        let wanted = try content.map { try Compressibility.assets(assets, of: source, with: $0) } ?? assets
        guard !wanted.isEmpty else { return nil }
        return try FolderScan.gather(name, wanted, of: source, at: folder)
      }
      guard !plans.isEmpty else { return nil }
      try FreeSpace.require(plans.reduce(0) { $0 + $1.byteCount }, in: folder)
      return try DataSetMaker.make(name, plans, seed: options.seed, at: folder)
    }
  }

  private func hollow(_ name: String, _ plans: () -> [AssetPlan]) throws -> DataSet {
    try remembered(name) { try DataSetMaker.makeHollow(name, plans(), at: $0) }!
  }

  private func remembered(_ name: String, _ make: (String) throws -> DataSet?) throws -> DataSet? {
    if let known = made[name] { return known }
    Interruption.waitForTheEnd()
    note("  preparing: \(name)")
    let new = try make(try work.newFolder())
    if let new { made[name] = new }
    return new
  }
}
