import CPackStore
import CPackStoreTesting
import Testing

extension Core {
  /// Versions that come by a chain of deltas.
  @Suite struct ChainDeliveryTests {
    /// A site with several versions and the deltas from each to the next, and a store that has the first.
    private struct Case {
      let site: Site, chain: [Delta], published: Disk, base: Disk, content: Folder

      init(_ folders: [Folder] = DeltaChainTests.releases(4)) throws {
        content = folders.last!
        published = try DeliveryTests.published(folders)
        site = try Site(published)
        let snapshot = try Store(published).snapshot()
        chain = try (1..<UInt64(folders.count)).map { try snapshot.delta(of: "p", from: $0, to: $0 + 1, level: 3) }
        base = try DeliveryTests.empty()
        try Store(base).pull(Site(published, version: 1))
      }

      func begin(_ disk: Disk, process: UnsafePointer<pks_vfs>? = nil) throws -> (Transaction, Delivery) {
        let transaction = try Store(disk, process: process).begin()
        return (transaction, try #require(try Delivery(site, into: transaction)))
      }

      /// How a delivery by a chain ends.
      func failure(
        of chain: [Delta], adjust: (inout pks_delivery_delta) -> Void = { _ in },
        chain adjustChain: (inout pks_delivery_chain) -> Void = { _ in }
      ) throws -> pks_status? {
        let (_, delivery) = try begin(base.clone())
        return try status {
          try delivery.use(chain, adjust: adjust, chain: adjustChain)
          try delivery.run()
          try delivery.stage()
        }
      }

      func check(_ disk: Disk) throws {
        try DeliveryTests.check(disk, content, version: site.version.number)
        #expect(try Store(disk).snapshot().packs[0].version_count == 2)
        #expect(!disk.hasLeaks)
      }
    }

    @Test(arguments: [1, 3, 1000]) func everyByteIsWantedOnce(window: Int) throws {
      let test = try Case(), disk = test.base.clone()
      let before = try Store(disk).snapshot().generation
      let pull = try #require(try Store(disk).pull(test.site, by: test.chain, window: window))
      try test.check(disk)
      #expect(try Store(disk).snapshot().generation == before + 1)
      let headers = test.chain.indices.map { index in
        Want(segment: index, isTable: false, offset: 0, length: Int(test.chain[index].info.header_length))
      }
      let blocks = test.chain.indices.flatMap { index in
        test.chain[index].blocks.map { Want(segment: index, isTable: false, offset: $0.lowerBound, length: $0.count) }
      }
      #expect(pull.wants == headers + blocks)
      let length = test.chain.reduce(0) { $0 + $1.info.length }
      #expect(pull.totals.bytes_total == length && pull.totals.bytes_done == length)
    }

    /// After a collection nothing is there that only a version between had.
    @Test func nothingOfTheMiddleStays() throws {
      let folders = DeltaChainTests.releases(4)
      let test = try Case(folders), disk = test.base.clone(), direct = test.base.clone()
      try Store(disk).pull(test.site, by: test.chain)
      let snapshot = try Store(test.published).snapshot()
      try Store(direct).pull(test.site, by: [snapshot.delta(of: "p", from: 1, to: 4, level: 3)])
      for disk in [disk, direct] { try Store(disk).collect() }
      #expect(disk.list("/store/segments") == direct.list("/store/segments"), "the same segments, to the byte")
    }

    @Test(arguments: [(1, false), (1, true), (2, true), (5, true)]) func interrupted(stride: Int, killed: Bool) throws {
      // Deltas in the long form, whose blocks are requested one by one.
      let test = try Case(DeltaChainTests.releases(4, noise: 20_000)), disk = test.base.clone()
      let (wants, attempts) = try disk.deliver(stride: stride, killed: killed) { process in
        let (transaction, delivery) = try test.begin(disk, process: process)
        try delivery.use(test.chain)
        return (transaction, delivery)
      }
      #expect(attempts > 1)
      #expect(wants.count == Set(wants).count, "no verified byte is wanted twice")
      try test.check(disk)
    }

    @Test func wrongBytes() throws {
      let test = try Case(), disk = test.base.clone()
      let (transaction, delivery) = try test.begin(disk)
      try delivery.use(test.chain)
      try delivery.runBesideWrongBytes()
      try delivery.stage()
      _ = try transaction.commit()
      delivery.close(discard: true)
      try DeliveryTests.check(disk, test.content, version: 4)
    }

    /// What a root may name, and what makes no sense as a chain.
    @Test func nonsense() throws {
      let test = try Case(), chain = test.chain
      let back = try Store(test.published).snapshot().delta(of: "p", from: 2, to: 1, level: 3)
      let wrong = [
        [chain[0], chain[2]], [chain[1], chain[0], chain[2]], Array(chain.dropLast()), [chain[0], back, chain[2]],
        [chain[0], chain[0], chain[1], chain[2]], Array(repeating: chain[2], count: 8),
      ]
      for deltas in wrong { #expect(try test.failure(of: deltas) == PKS_CORRUPT) }
      // A circle is a chain all the same, if each goes on where the one before ends.
      #expect(try test.failure(of: [chain[0], back, chain[0], chain[1], chain[2]]) == PKS_OK)
      #expect(try test.failure(of: Array(chain.dropFirst())) == PKS_NOT_FOUND)
      #expect(try test.failure(of: Array(repeating: chain[0], count: 9)) == PKS_INVALID_ARGUMENT)
      #expect(try test.failure(of: chain, chain: { $0.delta_count = 0 }) == PKS_INVALID_ARGUMENT)
      #expect(try test.failure(of: chain) { $0.length += 1 } == PKS_CORRUPT)
      #expect(try test.failure(of: chain) { $0.length = 1 << 56 } == PKS_INVALID_ARGUMENT)
      #expect(try test.failure(of: chain) { $0.header_length = 100 } == PKS_INVALID_ARGUMENT)
    }

    /// The version comes in the other way.
    @Test func framesInTheirPlace() throws {
      let test = try Case(), disk = test.base.clone()
      do {
        let (_, delivery) = try test.begin(disk)
        try delivery.use([test.chain[0], test.chain[2]])
        #expect(try status { try delivery.run() } == PKS_CORRUPT)
      }
      try Store(disk).pull(test.site)
      try test.check(disk)
    }

    /// Before the first block comes it says how much room all of it takes, the versions between among it.
    @Test func fullDisk() throws {
      var random = Random(8), folders = DeltaChainTests.releases(3)
      folders[1]["between"] = .file(random.bytes(3_000_000))
      let test = try Case(folders), disk = test.base.clone()
      var needed: UInt64 = 0
      do {
        let (_, delivery) = try test.begin(disk)
        try delivery.use(test.chain)
        sim_set_capacity(disk.raw, sim_used_bytes(disk.raw) + 100_000)
        do {
          try delivery.run()
          Issue.record("there was room")
        } catch let failure as Failure {
          #expect(failure.status == PKS_NO_SPACE && failure.needed > 6_000_000, "\(failure)")
          needed = failure.needed
        }
        #expect(delivery.wanted.count == 2, "the headers alone came")
      }
      sim_set_capacity(disk.raw, sim_used_bytes(disk.raw) + needed + 10_000_000)
      let pull = try #require(try Store(disk).pull(test.site, by: test.chain))
      #expect(pull.totals.bytes_resumed == test.chain.reduce(0) { $0 + UInt64($1.info.header_length) })
      try test.check(disk)
    }
  }
}
