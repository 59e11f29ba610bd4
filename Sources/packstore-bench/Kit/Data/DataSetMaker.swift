import Foundation

/// Generates data sets as folders of files.
enum DataSetMaker {
  /// Writes the planned assets to the empty folder `folder`. An asset's bytes depend only on the seed and its path.
  static func make(_ name: String, _ plans: [AssetPlan], seed: UInt64, at folder: String) throws -> DataSet {
    let dataSet = try emptyFiles(name, plans, at: folder)
    let seeds = Dictionary(uniqueKeysWithValues: plans.map { ($0.path, ($0.content, Self.seed(seed, $0.path))) })
    let root = try FileFolder(folder)
    let failure = Failure()
    DispatchQueue.concurrentPerform(iterations: dataSet.assets.count) { index in
      let (content, seed) = seeds[dataSet.assets[index].path]!
      failure.catching {
        try root.write(dataSet.paths[index], dataSet.assets[index].byteCount) { content.fill($0, seed: seed) }
      }
    }
    try failure.throwIfAny()
    return dataSet
  }

  /// Creates files with a length but no blocks on disk, for workloads that never read them.
  static func makeHollow(_ name: String, _ plans: [AssetPlan], at folder: String) throws -> DataSet {
    let dataSet = try emptyFiles(name, plans, at: folder)
    let root = try FileFolder(folder)
    let failure = Failure()
    let batch = 4096
    DispatchQueue.concurrentPerform(iterations: (dataSet.assets.count + batch - 1) / batch) { number in
      failure.catching {
        for index in (number * batch)..<min((number + 1) * batch, dataSet.assets.count) {
          let path = dataSet.paths[index]
          let file = try root.make(path)
          defer { close(file) }
          _ = try checked(Int(ftruncate(file, off_t(dataSet.assets[index].byteCount))), "truncate", path)
        }
      }
    }
    try failure.throwIfAny()
    return dataSet
  }

  private static func emptyFiles(_ name: String, _ plans: [AssetPlan], at folder: String) throws -> DataSet {
    let root = try FileFolder(folder)
    for plan in plans { try root.makeParents(of: plan.path) }
    return DataSet(name, folder: folder, assets: plans.map { .init(path: $0.path, byteCount: $0.byteCount) })
  }

  /// FNV-1a of the path, mixed with the seed.
  private static func seed(_ seed: UInt64, _ path: String) -> UInt64 {
    path.utf8.reduce(0xCBF2_9CE4_8422_2325 ^ seed) { ($0 ^ UInt64($1)) &* 0x100_0000_01B3 }
  }
}

/// Records the first error of work on several threads.
final class Failure: @unchecked Sendable {
  private let lock = NSLock()
  private var error: (any Error)?

  func catching(_ body: () throws -> Void) {
    do { try body() } catch { lock.withLock { self.error = self.error ?? error } }
  }

  func throwIfAny() throws {
    if let error = lock.withLock({ error }) { throw error }
  }
}

extension FileFolder {
  /// Creates a file with the bytes that `fill` generates.
  fileprivate func write(_ path: AssetPath, _ byteCount: Int, _ fill: (UnsafeMutableRawBufferPointer) -> Void) throws {
    let memory = FreshMemory(byteCount: byteCount)
    fill(memory.bytes)
    let file = try make(path)
    defer { close(file) }
    try writeFully(UnsafeRawBufferPointer(memory.bytes), to: file, path)
  }
}
