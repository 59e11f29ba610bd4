import CPackStore
import CPackStoreTesting
import Testing

extension Core {
  /// The walk through all runs at once.
  @Suite struct RunMergeTests {
    private static func disk() -> Disk {
      let disk = Disk(seed: 5)
      let many = (0..<3_000).map { ("folder/\($0)", Node.file("\($0)")) }
      disk.put(Dictionary(uniqueKeysWithValues: many), at: "/many")
      disk.put(["folder/kept": .file("kept")], at: "/few")
      disk.put(["zebra": .file("last")], at: "/last")
      return disk
    }

    /// What a search below `prefix` finds, and how many bytes of records it takes.
    private static func search(_ store: Store, _ prefix: String) throws -> (found: Bool, walked: UInt64) {
      var found = false, walked: UInt64 = 0
      let snapshot = try store.snapshot()
      try attempt { walked_records(snapshot.raw, prefix, &found, &walked, $0) }
      return (found, walked)
    }

    /// Records of a pack that was removed stay in the index until runs are joined. A search below one path went through all
    /// of them up to the next live one: each path of a pack that came again cost as much as the whole pack that had been
    /// removed, and 78,000 of them took minutes.
    @Test func aSearchEndsWhereItsPathsEnd() throws {
      let store = try Store(Self.disk(), create: true)
      try store.commit { try $0.add("p", "/many") }
      try store.commit { try $0.add("q", "/last") }
      try store.commit { try $0.remove("p") }
      for path in ["folder/1", "folder/2999", "aardvark"] {
        let (found, walked) = try Self.search(store, "\(path)/")
        #expect(!found && walked == 0, "\(path)")
      }
      let (found, walked) = try Self.search(store, "zebr")
      #expect(found && walked > 0)
    }

    /// The same with records that say that a pack has a path no more.
    @Test func aSearchEndsBeforeAbsentAssets() throws {
      let store = try Store(Self.disk(), create: true)
      try store.commit { try $0.add("p", "/many") }
      try store.commit { try $0.add("p", "/few") }
      let (found, walked) = try Self.search(store, "folder/1/")
      #expect(!found && walked == 0)
      let all = try Self.search(store, "folder/")
      #expect(all.found && all.walked > 0)
    }
  }
}
