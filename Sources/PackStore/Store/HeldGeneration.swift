import CPackStore

extension Snapshot {
  /// A generation older than a snapshot's that readers hold, so that its files stay.
  public struct HeldGeneration: Hashable, Codable, Sendable {
    public let generation: Store.Generation

    /// The sizes of the files that it needs and the snapshot's generation does not, in bytes.
    public let keptByteCount: Int

    /// The ids of the processes that hold it, as far as the system tells: on Linux, those of the same user.
    public let processes: [Int]
  }
}

extension Snapshot {
  /// What readers hold.
  public struct HeldGenerations: Hashable, Codable, Sendable {
    /// In order, at most 32.
    public let generations: [HeldGeneration]

    /// Whether there may be more. Then nothing is collected until there are fewer.
    public let hasMore: Bool

    /// What would be free without all of these, in bytes.
    public let keptByteCount: Int
  }
}

extension Snapshot {
  /// Which older generations readers of any process hold, and what that costs.
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
