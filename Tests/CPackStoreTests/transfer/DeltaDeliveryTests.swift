import CPackStore
import CPackStoreTesting
import Testing

extension Core {
  /// Versions that come by a delta that lies beside the site.
  @Suite struct DeltaDeliveryTests {
    /// A site with two versions and the delta between them, and a store that has the first.
    private struct Case {
      let published: Disk, site: Site, delta: Delta, base: Disk, content: Folder

      init(_ after: Folder? = nil) throws {
        var random = Random(51), old = Folder.sample(seed: 1), new = Folder.changedSample(seed: 1)
        for index in 0..<30 { old["noise/\(index)"] = .file(random.bytes(40_000)) }
        for index in 0..<30 { new["noise/\(index)"] = .file(random.bytes(40_000)) }
        content = after ?? new
        published = try DeliveryTests.published([old, content])
        site = try Site(published)
        delta = try Store(published).snapshot().delta(of: "p", from: 1, to: 2, level: 3)
        base = try DeliveryTests.empty()
        try Store(base).pull(Site(published, version: 1))
      }

      func begin(_ disk: Disk, process: UnsafePointer<pks_vfs>? = nil) throws -> (Transaction, Delivery) {
        let transaction = try Store(disk, process: process).begin()
        let delivery = try Delivery(site, into: transaction)
        return (transaction, try #require(delivery))
      }

      /// How a delivery by a delta ends.
      func failure(of delta: Delta, adjust: (inout pks_delivery_delta) -> Void = { _ in }) throws -> pks_status? {
        let (_, delivery) = try begin(base.clone())
        return try status {
          try delivery.use(delta, adjust: adjust)
          try delivery.run()
          try delivery.stage()
        }
      }
    }

    @Test(arguments: [1, 3, 1000]) func everyByteIsWantedOnce(window: Int) throws {
      let test = try Case(), disk = test.base.clone()
      let pull = try #require(try Store(disk).pull(test.site, by: [test.delta], window: window))
      try DeliveryTests.check(disk, test.content, version: 2)
      let version = try Store(disk).snapshot().packs[0].current
      #expect(DeliveryTests.id(version) == DeliveryTests.id(test.site.version))
      #expect(version.committed_at_ns == test.site.version.committed_at_ns)
      let ranges = pull.wants.map { $0.offset..<$0.offset + $0.length }
      #expect(ranges == [0..<Int(test.delta.info.header_length)] + test.delta.blocks)
      #expect(pull.totals.bytes_total == test.delta.info.length && pull.totals.bytes_done == test.delta.info.length)
      #expect(pull.totals.bytes_resumed == 0 && !disk.hasLeaks)
    }

    /// What ranges would cost is known first, and nothing of that is lost when they are taken after all.
    @Test func afterThePlan() throws {
      let test = try Case(), disk = test.base.clone()
      var planned: [Want] = []
      do {
        let (_, delivery) = try test.begin(disk)
        while !delivery.totals.is_planned { try delivery.run(limit: 1) }
        #expect(delivery.totals.bytes_total > 1_000_000)
        try delivery.use(test.delta)
        try delivery.run(limit: 2)
        planned = delivery.wanted
      }
      let pull = try #require(try Store(disk).pull(test.site))
      try DeliveryTests.check(disk, test.content, version: 2)
      #expect(pull.wants.allSatisfy { !test.site.isMetadata($0) || !planned.contains($0) })
    }

    @Test(arguments: [(1, false), (1, true), (2, true)]) func interrupted(stride: Int, killed: Bool) throws {
      let test = try Case(), disk = test.base.clone()
      let (wants, attempts) = try disk.deliver(stride: stride, killed: killed) { process in
        let (transaction, delivery) = try test.begin(disk, process: process)
        try delivery.use(test.delta)
        return (transaction, delivery)
      }
      #expect(attempts > 2)
      #expect(wants.count == Set(wants).count, "no verified byte is wanted twice")
      try DeliveryTests.check(disk, test.content, version: 2)
      #expect(!disk.hasLeaks)
    }

    @Test func wrongBytes() throws {
      let test = try Case(), disk = test.base.clone()
      let (transaction, delivery) = try test.begin(disk)
      try delivery.use(test.delta)
      try delivery.runBesideWrongBytes()
      try delivery.stage()
      _ = try transaction.commit()
      delivery.close(discard: true)
      try DeliveryTests.check(disk, test.content, version: 2)
    }

    /// A root may name a delta that makes no sense: then nothing is staged, and the version comes in the other way.
    @Test func nonsense() throws {
      let test = try Case()
      let back = try Store(test.published).snapshot().delta(of: "p", from: 2, to: 1, level: 3)
      #expect(try test.failure(of: back) == PKS_CORRUPT, "it leads elsewhere")
      #expect(try test.failure(of: test.delta) { $0.length += 1 } == PKS_CORRUPT)
      #expect(try test.failure(of: test.delta) { $0.header_length = 100 } == PKS_INVALID_ARGUMENT)
      #expect(try test.failure(of: test.delta) { $0.length = UInt64($0.header_length) - 1 } == PKS_INVALID_ARGUMENT)
      var cut = test.delta
      cut.info.header_length -= 40
      withUnsafeMutableBytes(of: &cut.info.header_digest) {
        $0.copyBytes(from: pks__id(of: Array(cut.bytes[..<Int(cut.info.header_length)])).array)
      }
      #expect(try test.failure(of: cut) == PKS_CORRUPT, "a header of another length than it says")
    }

    /// Versions that the store does not have, or not whole.
    @Test func withoutItsBase() throws {
      let test = try Case(), disk = try DeliveryTests.empty()
      do {
        let (_, delivery) = try test.begin(disk)
        try delivery.use(test.delta)
        try delivery.run()
        #expect(try status { try delivery.stage() } == PKS_NOT_FOUND)
      }
      try Store(disk).pull(test.site)
      try DeliveryTests.check(disk, test.content, version: 2)
    }

    /// Before the first block comes it says how much room it all takes; with that, and some for temporary files, there is
    /// room for all.
    @Test func fullDisk() throws {
      let test = try Case(), disk = test.base.clone()
      var needed: UInt64 = 0
      do {
        let (_, delivery) = try test.begin(disk)
        try delivery.use(test.delta)
        sim_set_capacity(disk.raw, sim_used_bytes(disk.raw) + 100_000)
        do {
          try delivery.run()
          Issue.record("there was room")
        } catch let failure as Failure {
          #expect(failure.status == PKS_NO_SPACE && failure.needed > 2_000_000, "\(failure)")
          needed = failure.needed
        }
        #expect(delivery.wanted.count == 1, "the header alone came")
      }
      sim_set_capacity(disk.raw, sim_used_bytes(disk.raw) + needed + 10_000_000)
      let pull = try #require(try Store(disk).pull(test.site, by: [test.delta]))
      #expect(pull.totals.bytes_resumed == UInt64(test.delta.info.header_length))
      try DeliveryTests.check(disk, test.content, version: 2)
    }

    @Test func misuse() throws {
      let test = try Case(), disk = test.base.clone()
      let (transaction, delivery) = try test.begin(disk)
      try delivery.use(test.delta)
      #expect(try status { try delivery.use(test.delta) } == PKS_INVALID_ARGUMENT, "there is one already")
      #expect(try status { try delivery.stage() } == PKS_INVALID_ARGUMENT, "something is still wanted")
      try delivery.run()
      try delivery.stage()
      _ = try transaction.commit()
      delivery.close(discard: true)
      let back = try Store(disk).begin()
      let kept = try #require(try Delivery(Site(test.published, version: 1), into: back))
      #expect(try status { try kept.use(test.delta) } == PKS_INVALID_ARGUMENT, "a kept version takes no bytes")
      try kept.stage()
    }

    /// The app ends the update while the delta is applied.
    @Test func cancelled() throws {
      var many: Folder = [:]
      for index in 0..<2_500 { many["many/\(index)"] = .file("\(index)") }
      let test = try Case(many), disk = test.base.clone()
      do {
        let (_, delivery) = try test.begin(disk)
        try delivery.use([test.delta], chain: { $0.progress = { _, _ in false } })
        try delivery.run()
        #expect(try status { try delivery.stage() } == PKS_CANCELLED)
      }
      let pull = try #require(try Store(disk).pull(test.site, by: [test.delta]))
      #expect(pull.wants.isEmpty && pull.totals.bytes_resumed == test.delta.info.length)
      try DeliveryTests.check(disk, test.content, version: 2)
    }
  }
}
