import CPackStore
import CPackStoreTesting
import Testing

extension Core {
  /// A forked child is told to open the store again, and does nothing to what it shares with its parent. Real processes do
  /// the same in `Tests/Embedding/processes.c`.
  @Suite struct ForkTests {
    private static func isForked(_ body: () throws -> Void) throws -> Bool { try status(body) == PKS_FORKED }

    @Test func aChildTouchesNothing() throws {
      let change = Change.severalPacks, disk = try change.start()
      let files: [String]
      do {
        let store = try Store(disk), snapshot = try store.snapshot()
        let aborted = try store.begin(), committed = try store.begin()
        try aborted.add("a", "/one")
        try committed.add("b", "/two")
        var asset = pks_asset()
        try attempt { pks_snapshot_find(&asset, snapshot.raw, "a/text", 6, UInt32.max, $0) }
        let cursor = try opened { pks_cursor_open($0, snapshot.raw, "", 0, UInt32.max, PKS_CHILDREN, $1) }
        files = disk.list("/store")
        let before = sim_call_count(disk.raw, SIM_CALL_ANY)

        sim_fork(disk.vfs)
        #expect(try Self.isForked { _ = try store.newest() })
        #expect(try Self.isForked { _ = try store.snapshot() })
        #expect(try Self.isForked { _ = try snapshot.find("a/text") })
        #expect(try Self.isForked { _ = try snapshot.read(&asset) })
        #expect(try Self.isForked { _ = try snapshot.children() })
        #expect(try Self.isForked { _ = try snapshot.faults(deep: true) })
        #expect(try Self.isForked { _ = try store.begin() })
        #expect(try Self.isForked { _ = try aborted.add("c", "/other") })
        #expect(try Self.isForked { try aborted.remove("p") })
        #expect(try Self.isForked { try aborted.prioritise("p", 3) })
        #expect(try Self.isForked { _ = try committed.commit() })
        var entry = pks_entry(), more = true
        #expect(try Self.isForked { try attempt { pks_cursor_next(&entry, &more, cursor, $0) } })
        pks_cursor_close(cursor)
        aborted.abort()
        #expect(sim_call_count(disk.raw, SIM_CALL_ANY) == before, "neither files nor locks")
      }
      #expect(disk.list("/store") == files, "closing removes nothing either")
      #expect(files.contains { $0.hasPrefix("tmp/") })
      // What it opens now is its own.
      let reopened = try Store(disk)
      try change.perform(disk)
      #expect(try reopened.state().keys.sorted() == ["p", "r"])
    }
  }
}
