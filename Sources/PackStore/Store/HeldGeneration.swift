import CPackStore

extension Snapshot {
  /// A generation older than a snapshot's that readers retain, so that its files are kept.
  public struct HeldGeneration: Hashable, Codable, Sendable {
    public let generation: Store.Generation

    /// The sizes, in bytes, of the files that it needs and the snapshot's generation does not.
    public let keptByteCount: Int

    /// The ids of the processes that retain it, if the system reports them: on Linux, only processes of the same user.
    public let processes: [Int]
  }
}

extension Snapshot {
  /// The generations that readers retain.
  public struct HeldGenerations: Hashable, Codable, Sendable {
    /// In ascending order, at most 32.
    public let generations: [HeldGeneration]

    /// Whether more generations may be retained. Nothing is collected then.
    public let hasMore: Bool

    /// The bytes that would be free if none of these were retained.
    public let keptByteCount: Int
  }
}

extension Snapshot {
  /// Returns the older generations that readers of any process retain, and the space they use.
  public func heldGenerations() throws -> HeldGenerations {
    var holds = pks_holds()
    try check { pks_snapshot_holds(&holds, pointer, $0) }
    let found = withUnsafeBytes(of: holds.holds) { Array($0.bindMemory(to: pks_hold.self).prefix(Int(holds.count))) }
    let holders = found.isEmpty ? [] : lockHolders(of: "READERS", in: hold.store.path)
    let generations = found.sorted { $0.generation < $1.generation }.map { hold in
      HeldGeneration(
        generation: Store.Generation(rawValue: hold.generation), keptByteCount: Int(clamping: hold.kept_bytes),
        processes: Set(holders.filter { $0.range.contains(hold.generation) }.map(\.process)).sorted())
    }
    return HeldGenerations(
      generations: generations, hasMore: holds.has_more, keptByteCount: Int(clamping: holds.kept_bytes))
  }
}
