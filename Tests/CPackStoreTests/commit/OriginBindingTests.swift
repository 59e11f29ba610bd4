import CPackStore
import CPackStoreTesting
import Testing

extension Core {
  /// Origins and floors by the ways in which versions come to a store, and when writers overtake each other.
  @Suite struct OriginBindingTests {
    /// A publisher's store with three versions of `p`, and a client's.
    private struct Pair {
      let disk = Disk(seed: 33), clientDisk = Disk(seed: 34)
      let publisher: Store
      let client: Store

      init() throws {
        for (path, folder) in Change.folders { disk.put(folder, at: path) }
        clientDisk.put(Change.folders["/two"]!, at: "/mine")
        publisher = try Store(disk, create: true)
        for folder in ["/one", "/two", "/other"] { try publisher.commit(keep: 9) { try $0.add("p", folder) } }
        client = try Store(clientDisk, create: true)
      }

      /// A delivery that is complete, in a transaction of its own.
      func deliver(_ version: UInt64, _ by: pks_provenance) throws -> (Transaction, Delivery?) {
        let transaction = try client.begin()
        let delivery = try Delivery(try Site(disk, version: version), into: transaction) { $0.provenance = by }
        try delivery?.run()
        return (transaction, delivery)
      }

      @discardableResult
      func pull(_ version: UInt64, _ by: pks_provenance) throws -> UInt64 {
        let (transaction, delivery) = try deliver(version, by)
        try delivery?.stage()
        let generation = try transaction.commit()
        delivery?.close(discard: true)
        return generation
      }

      var origin: String { get throws { try ProvenanceTests.name(client.snapshot().packs[0].origin) } }
      var current: UInt64 { get throws { try client.snapshot().packs[0].current.number } }
    }

    private static func by(
      _ key: UInt8, q: UInt64 = 1, e: UInt64 = 0, h: UInt64 = 0, adopt: Bool = false, downgrade: Bool = false
    ) -> pks_provenance { ProvenanceTests.by(key, q: q, e: e, h: h, adopt: adopt, downgrade: downgrade) }

    @Test func deliveriesBringTheirOrigin() throws {
      let pair = try Pair()
      try pair.pull(2, Self.by(1, q: 20))
      #expect(try pair.origin == "1:1:default")
      #expect(try status { try pair.pull(3, Self.by(2, q: 30)) } == PKS_OTHER_ORIGIN)
      #expect(try status { try pair.pull(1, Self.by(1, q: 10)) } == PKS_STALE)
      #expect(
        try status { try pair.pull(1, ProvenanceTests.by(1, "default", PKS_STATEMENT_DELTA, q: 99)) } == PKS_DOWNGRADE)
      try pair.pull(1, Self.by(1, q: 30, e: 30, h: 2))
      #expect(try pair.current == 1, "a withdrawal")
      #expect(try status { try pair.pull(2, Self.by(1, q: 20)) } == PKS_STALE)
      try pair.pull(2, Self.by(1, q: 40, e: 30, h: 2))
      #expect(try pair.current == 2)
      #expect(try pair.client.snapshot().faults(deep: true) == [])
    }

    /// The content is here already, and its owner changes all the same.
    @Test func anAdoptionWithoutNewContent() throws {
      let pair = try Pair()
      try pair.pull(2, Self.by(1))
      #expect(try status { try pair.pull(2, Self.by(2)) } == PKS_OTHER_ORIGIN)
      let generation = try pair.client.snapshot().generation
      #expect(try pair.pull(2, Self.by(2, adopt: true)) == generation + 1)
      #expect(try pair.origin == "1:2:default")
      #expect(try pair.pull(2, Self.by(2, adopt: true)) == generation + 1, "there is nothing left to do")
    }

    /// An author's version 6 is not replaced by a site's version 1 or 7.
    @Test func addsAreBoundToo() throws {
      let pair = try Pair()
      try pair.client.commit { try $0.add("p", "/mine", version: 6) }
      for version in [1, 3] as [UInt64] {
        #expect(try status { try pair.pull(version, Self.by(1)) } == PKS_OTHER_ORIGIN)
      }
      try pair.pull(3, Self.by(1, adopt: true))
      #expect(try pair.client.snapshot().versions(of: "p") == [3])
      #expect(try status { try pair.client.commit { try $0.add("p", "/mine") } } == PKS_OTHER_ORIGIN)
      try pair.client.commit { try $0.add("p", "/mine") { $0.adopt = true } }
      #expect(try pair.client.snapshot().versions(of: "p") == [1] && pair.origin == "0:0:")
      #expect(try pair.client.snapshot().faults(deep: true) == [])
    }

    /// A repair that lost an asset stores the rest under a number that the publisher has not used. What the publisher states
    /// under that number later takes its place, as a delivery and as a copy.
    @Test(arguments: [true, false]) func aRepairedVersionYields(isDelivered: Bool) throws {
      let pair = try Pair()
      try pair.pull(1, Self.by(1, q: 10))
      for segment in pair.clientDisk.list("/store/segments")
      where pair.clientDisk.read("/store/segments/\(segment)")?[12] == 1 {
        sim_corrupt(pair.clientDisk.raw, "/store/segments/\(segment)", 4100, 1)
      }
      #expect(try pair.clientDisk.repair().totals.has_lost)
      let client = try Store(pair.clientDisk)
      #expect(try client.snapshot().versions(of: "p").first == 2, "what is left")
      let taker =
        isDelivered
        ? client : try Store("/other", vfs: pair.clientDisk.vfs, create: true, average: 1024, home: pair.clientDisk)
      let transaction = try taker.begin()
      let delivery = try #require(
        try Delivery(try Site(pair.disk, version: 2), into: transaction) { $0.provenance = Self.by(1, q: 20) })
      try delivery.run()
      try delivery.stage()
      _ = try transaction.commit()
      delivery.close(discard: true)
      if !isDelivered {
        let snapshot = try taker.snapshot()
        try client.commit { _ = try $0.copy("p", from: snapshot) }
      }
      #expect(try client.state()["p"]?.content == Change.folders["/two"])
      #expect(try client.snapshot().packs[0].current.number == 2 && client.snapshot().faults(deep: true).isEmpty)
    }

    /// What was allowed when it was staged is judged again by what another writer committed meanwhile.
    @Test func anOvertakenStatementIsJudgedAgain() throws {
      let pair = try Pair()
      try pair.pull(1, Self.by(1, q: 10))
      try pair.client.commit { try $0.remove("p") }
      // The pack is gone for both; the floor of the first alone rises.
      let (late, delivery) = try pair.deliver(1, Self.by(1, q: 20))
      try delivery?.stage()
      try pair.pull(3, Self.by(1, q: 30))
      try pair.client.commit { try $0.remove("p") }
      #expect(try status { _ = try late.commit() } == PKS_STALE)
      delivery?.close(discard: true)

      // Another version, for one is delivered by one at a time.
      let (other, theirs) = try pair.deliver(2, Self.by(2, q: 40))
      try theirs?.stage()
      try pair.pull(3, Self.by(1, q: 31))
      #expect(try status { _ = try other.commit() } == PKS_CONFLICT, "the pack came meanwhile")
      theirs?.close(discard: true)
      #expect(try pair.origin == "1:1:default")
    }

    @Test func copiesCarryTheOrigin() throws {
      let pair = try Pair()
      try pair.pull(2, Self.by(1, q: 20))
      let third = try Store("/third", vfs: pair.clientDisk.vfs, create: true, home: pair.clientDisk)
      let source = try pair.client.snapshot()
      try third.commit { try $0.copy("p", from: source) }
      #expect(try ProvenanceTests.name(third.snapshot().packs[0].origin) == "1:1:default")
      let own = try Store("/own", vfs: pair.clientDisk.vfs, create: true, home: pair.clientDisk)
      try own.commit { try $0.copy("p", from: source) { $0.as_local = true } }
      #expect(try ProvenanceTests.name(own.snapshot().packs[0].origin) == "0:0:")
      #expect(try status { try own.commit { try $0.copy("p", from: source) } } == PKS_OTHER_ORIGIN)
      try own.commit { try $0.copy("p", from: source) { $0.adopt = true } }
      #expect(try ProvenanceTests.name(own.snapshot().packs[0].origin) == "1:1:default")
    }

    /// A priority as high as can be hides nothing of an earlier origin, and the app may order otherwise.
    @Test func prioritiesCountWithinAnOrigin() throws {
      let pair = try Pair()
      try pair.client.commit { try $0.add("mine", "/mine") }
      try pair.pull(1, Self.by(2))
      try pair.client.commit { try $0.prioritise("p", .max) }
      #expect(try pair.client.snapshot().packNames == ["mine", "p"])
      let transaction = try pair.client.begin()
      var order = [Self.by(2).origin, Self.by(2).origin]
      #expect(
        try status { try attempt { pks_txn_order_origins(transaction.raw, &order, 2, $0) } } == PKS_INVALID_ARGUMENT)
      try attempt { pks_txn_order_origins(transaction.raw, &order, 1, $0) }
      _ = try transaction.commit()
      let snapshot = try pair.client.snapshot()
      #expect(snapshot.packNames == ["p", "mine"])
      #expect(pks_snapshot_origin_count(snapshot.raw) == 2)
      #expect(ProvenanceTests.name(pks_snapshot_origin(snapshot.raw, 0)) == "1:2:default")
    }
  }
}
