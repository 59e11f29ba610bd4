import CPackStore
import CPackStoreTesting
import Testing

extension Core {
  /// Versions of which a change list tells what pages would.
  @Suite struct ChangeListTests {
    /// A site with versions of a pack, and a store that has the first.
    private struct Case {
      let published: Disk, site: Site, base: Disk, content: Folder, changes: [UInt8]

      init(_ folders: [Folder], map: [String] = [], from: UInt64 = 1) throws {
        published = try DeliveryTests.published(folders, map: map)
        site = try Site(published)
        content = folders.last!
        changes = try Store(published).snapshot().listChanges(from: from, to: UInt64(folders.count))
        base = try DeliveryTests.empty()
        try Store(base).pull(Site(published, version: 1))
      }

      /// Many small assets, of which a few are other ones, here and there.
      static func scattered() throws -> Case {
        var random = Random(61), old: Folder = [:]
        for index in 0..<3_000 { old["part\(index % 40)/asset\(index)"] = .file(random.text(300 + random.below(900))) }
        var new = old
        for index in stride(from: 5, to: 3_000, by: 100) {
          new["part\(index % 40)/asset\(index)"] = .file(random.text(700))
        }
        return try Case([old, new])
      }

      /// Everything that changes from one version to the next, also of assets with long lists of chunks and of map assets.
      static func everyChange() throws -> Case {
        var random = Random(62), old = DeliveryTests.everyKind()
        let long = random.bytes(900_000), mapped = random.bytes(150_000)
        old["long"] = .file(long)
        old["noise/mapped"] = .file(mapped)
        old["noise/still"] = .file(random.bytes(60_000))
        var new = old
        var changed = long, laid = mapped
        for place in stride(from: 40_000, to: changed.count, by: 50_000) { changed[place] ^= 7 }
        changed.insert(contentsOf: random.bytes(100), at: 333_333)
        laid.replaceSubrange(70_000..<70_010, with: random.bytes(2_000))
        new["long"] = .file(changed)
        new["long again"] = .file(Array(changed[250_000...]))
        new["noise/mapped"] = .file(laid)
        new["noise/new"] = .file(random.bytes(90_000))
        new["moved"] = new.removeValue(forKey: "text/large")
        new["many/7"] = nil
        new["many/8"] = .link("../tool")
        new["link"] = .file(random.text(300))
        new["void"] = nil
        new["zeros"] = .file([UInt8](repeating: 0, count: 90_000))
        new["zeros too"] = .file([UInt8](repeating: 0, count: 500_000) + random.bytes(20) + [9, 9])
        new["tool"] = .file(random.bytes(300))
        return try Case([old, new], map: ["noise/*"])
      }
    }

    /// Wants of a version of which the list told all: it, then frame tables of data, then frames.
    private func expectByList(_ pull: Store.Pull, _ test: Case) {
      #expect(pull.wants[0] == Want(segment: 0, isTable: false, offset: 0, length: test.changes.count))
      let pages = pull.wants.dropFirst().filter { test.site.segments[$0.segment].isMetadata }
      #expect(pages.isEmpty, "nothing of a metadata segment is wanted: \(pages)")
      let tables = pull.wants.filter(\.isTable).reduce(0) { $0 + $1.length }
      #expect(pull.totals.metadata_bytes == UInt64(test.changes.count + tables))
    }

    @Test(arguments: [1, 1000]) func everyChange(window: Int) throws {
      let test = try Case.everyChange()
      let pages = try #require(try Store(test.base.clone()).pull(test.site, window: window))
      let pull = try #require(try Store(test.base).pull(test.site, changes: test.changes, window: window))
      try DeliveryTests.check(test.base, test.content, version: 2)
      let version = try Store(test.base).snapshot().packs[0].current
      #expect(DeliveryTests.id(version) == DeliveryTests.id(test.site.version))
      let expected: Set = ["noise/large", "noise/mapped", "noise/new", "noise/still"]
      #expect(try Store(test.base).state()["p"]?.mapped == expected)
      expectByList(pull, test)
      #expect(pull.totals.bytes_total == pages.totals.bytes_total, "the frames are the same")
      #expect(!test.base.hasLeaks)
    }

    @Test func costIsInProportion() throws {
      let test = try Case.scattered()
      let pages = try #require(try Store(test.base.clone()).pull(test.site))
      let pull = try #require(try Store(test.base).pull(test.site, changes: test.changes))
      try DeliveryTests.check(test.base, test.content, version: 2)
      expectByList(pull, test)
      #expect(test.changes.count < 30 * 60, "\(test.changes.count) bytes for 30 changes")
      #expect(pull.totals.metadata_bytes * 10 < pages.totals.metadata_bytes)
    }

    /// From another version than the current one; what lies between is needed no more.
    @Test(arguments: [1, 2] as [UInt64]) func severalVersionsBehind(from: UInt64) throws {
      var folders = [Folder.sample(seed: 1)], random = Random(63)
      for index in 0..<3 {
        var next = folders.last!
        next["new\(index)"] = .file(random.bytes(5_000))
        next["a/text"] = .file(random.text(20_000))
        folders.append(next)
      }
      let test = try Case(folders, from: from)
      if from == 2 { try Store(test.base).pull(Site(test.published, version: 2)) }
      let published = try Store(test.published)
      try published.commit { try $0.trim("p", 1) }
      let pull = try #require(try Store(test.base).pull(test.site, changes: test.changes))
      try DeliveryTests.check(test.base, test.content, version: 4)
      expectByList(pull, test)
    }

    /// A list from a kept version that is not the current one.
    @Test func fromAnEarlierVersionThatIsKept() throws {
      var middle = Folder.changedSample(seed: 1)
      middle["only here"] = .file([1, 2, 3])
      let test = try Case([.sample(seed: 1), middle, .changedSample(seed: 2)])
      try Store(test.base).pull(Site(test.published, version: 2))
      let pull = try #require(try Store(test.base).pull(test.site, changes: test.changes))
      try DeliveryTests.check(test.base, test.content, version: 3)
      expectByList(pull, test)
    }

    @Test(arguments: [true, false]) func interrupted(killed: Bool) throws {
      let test = try Case.everyChange(), disk = test.base.clone()
      let (wants, attempts) = try disk.deliver(stride: 1, killed: killed) { process in
        let transaction = try Store(disk, process: process).begin()
        let delivery = try #require(try Delivery(test.site, into: transaction))
        try delivery.use(changes: test.changes)
        return (transaction, delivery)
      }
      #expect(attempts > 3 && wants.count == Set(wants).count, "no verified byte is wanted twice")
      try DeliveryTests.check(disk, test.content, version: 2)
    }

    /// Attributes come with the list, and a version may have other ones alone.
    @Test func attributesAlone() throws {
      let published = try DeliveryTests.published([.sample(seed: 1), .changedSample(seed: 1)])
      let attributes = Array("{\"a\":1}".utf8)
      try Store(published).commit(keep: 10) { try $0.setAttributes(attributes, of: "p") }
      let base = try DeliveryTests.empty()
      try Store(base).pull(Site(published, version: 1))
      let changes = try Store(published).snapshot().listChanges(from: 1, to: 3)
      let pull = try #require(try Store(base).pull(Site(published), changes: changes))
      try DeliveryTests.check(base, .changedSample(seed: 1), version: 3)
      #expect(pull.totals.metadata_bytes < 3_000)
    }

    // MARK: - Lists that do not do

    @Test func wrongBytesAreNotTheList() throws {
      let test = try Case([.sample(seed: 1), .changedSample(seed: 1)])
      let transaction = try Store(test.base).begin()
      let delivery = try #require(try Delivery(test.site, into: transaction))
      #expect(try delivery.use(changes: test.changes))
      guard case .want = try delivery.next() else {
        Issue.record("the list is not wanted")
        return
      }
      var wrong = test.changes, isFinal = true
      wrong[140] ^= 1
      #expect(try status { try delivery.give(wrong, isFinal: &isFinal) } == PKS_CORRUPT && !isFinal)
      try delivery.give(test.changes)
      try delivery.run()
      try delivery.stage()
      _ = try transaction.commit()
      delivery.close(discard: true)
      try DeliveryTests.check(test.base, test.content, version: 2)
    }

    /// Authentic lists with other bytes: what a publisher's mistake, or a hostile publisher, may make. The version comes all the
    /// same, by pages; or, where a list leads to what frames are not, it is refused, and another delivery brings it.
    @Test func anyOtherByte() throws {
      let test = try Case([.sample(seed: 1), .changedSample(seed: 1)])
      var refusals = 0
      for place in 0..<test.changes.count {
        var changes = test.changes
        changes[place] ^= UInt8(truncatingIfNeeded: 1 << (place % 8))
        let disk = test.base.clone()
        let outcome = try status { _ = try Store(disk).pull(test.site, changes: changes) }
        if outcome != PKS_OK {
          #expect(outcome == PKS_CORRUPT, "byte \(place)")
          refusals += 1
          _ = try Store(disk).pull(test.site)
        }
        #expect(try Store(disk).state()["p"]?.content == test.content, "byte \(place)")
      }
      #expect(refusals < test.changes.count / 4, "\(refusals) refusals")
    }

    @Test func everyLength() throws {
      let test = try Case([.sample(seed: 1), .changedSample(seed: 1)])
      for count in stride(from: 136, to: test.changes.count, by: 7) {
        let disk = test.base.clone()
        try Store(disk).pull(test.site, changes: Array(test.changes[..<count]))
        try DeliveryTests.check(disk, test.content, version: 2)
      }
      let disk = test.base.clone()
      try Store(disk).pull(test.site, changes: test.changes + [0])
      try DeliveryTests.check(disk, test.content, version: 2)
    }

    /// A list of another pair of versions, or one that begins with what is not here.
    @Test func anotherList() throws {
      let test = try Case([.sample(seed: 1), .changedSample(seed: 1), .changedSample(seed: 2)])
      let snapshot = try Store(test.published).snapshot()
      for (from, to) in [(1, 2), (2, 3), (3, 1)] as [(UInt64, UInt64)] {
        let disk = test.base.clone()
        let pull = try #require(
          try Store(disk).pull(test.site, changes: try snapshot.listChanges(from: from, to: to)))
        try DeliveryTests.check(disk, test.content, version: 3)
        #expect(pull.wants.contains { test.site.segments[$0.segment].isMetadata }, "pages came")
      }
    }

    @Test func whereNoListCanBeUsed() throws {
      let test = try Case([.sample(seed: 1), .changedSample(seed: 1)])
      let transaction = try Store(test.base).begin()
      let delivery = try #require(try Delivery(test.site, into: transaction))
      for length in [0, 135, (4 << 20) + 1, .max] as [UInt32] {
        #expect(try status { try delivery.use(changes: test.changes) { $0.length = length } } == PKS_INVALID_ARGUMENT)
      }
      try delivery.use(changes: test.changes)
      #expect(try status { try delivery.use(changes: test.changes) } == PKS_INVALID_ARGUMENT, "twice")
      try delivery.run()
      delivery.close(discard: false)
    }

    // MARK: - Making lists

    @Test func aListIsDeterministic() throws {
      let test = try Case.everyChange()
      #expect(try Store(test.published).snapshot().listChanges(from: 1, to: 2) == test.changes)
    }

    /// One lister makes each list as one of its own would, also after one that there is not.
    @Test func listsFromSeveralVersions() throws {
      let everything = try Case.everyChange().published, few = Folder.sample(seed: 4)
      everything.put(few, at: "/few")
      try Store(everything).commit(keep: 10) { try $0.add("p", "/few", map: ["large"]) }
      let snapshot = try Store(everything).snapshot()
      for to: UInt64 in 1...3 {
        let order: [UInt64] = [2, 9, 1, 3, 2, 0, 3, 1]
        for (from, made) in zip(order, try snapshot.listChanges(from: order, to: to)) {
          let alone = Result { try snapshot.listChanges(from: from, to: to) }
          #expect((try? made.get()) == (try? alone.get()), "\(from) to \(to)")
          #expect(((try? made.get()) != nil) == (1...3).contains(from))
        }
      }
    }

    @Test func everyAllocationFails() throws {
      let test = try Case([.sample(seed: 1), .changedSample(seed: 1)], map: ["large"])
      /// Makes a list with an own opening of the store, and says how many allocations that took.
      func make(failingAt ordinal: UInt64) throws -> (status: pks_status, allocations: UInt64) {
        let snapshot = try Store(test.published).snapshot(), before = pks__memory_counts_now().allocations
        pks__memory_fail_at(ordinal, false)
        let status = try status { _ = try snapshot.listChanges(from: 1, to: 2) }
        pks__memory_fail_at(.max, false)
        return (status, pks__memory_counts_now().allocations - before)
      }
      let open = pks__memory_counts_now().open, whole = try make(failingAt: .max)
      #expect(whole.status == PKS_OK && whole.allocations > 20)
      for ordinal in 0..<whole.allocations {
        // Which assets of the earlier version are map assets does not matter; of the new one, a part that is not read shows.
        let status = try make(failingAt: ordinal).status
        #expect([PKS_OUT_OF_MEMORY, PKS_CORRUPT, PKS_OK].contains(status), "allocation \(ordinal)")
        #expect(pks__memory_counts_now().open == open, "allocation \(ordinal)")
        #expect(!test.published.hasLeaks && test.published.list("/store/tmp") == [], "allocation \(ordinal)")
      }
    }

    @Test func whatHasNoList() throws {
      let test = try Case([.sample(seed: 1), .changedSample(seed: 1)])
      let snapshot = try Store(test.published).snapshot()
      #expect(try status { _ = try snapshot.listChanges(from: 1, to: 9) } == PKS_NOT_FOUND)
      #expect(try status { _ = try snapshot.listChanges(from: 9, to: 1) } == PKS_NOT_FOUND)
      #expect(try status { _ = try snapshot.listChanges(of: 7, from: 1, to: 2) } == PKS_NOT_FOUND)
      #expect(try status { _ = try snapshot.listChanges(from: 1, to: 2, stopAfter: 1) } == PKS_CANCELLED)
      #expect(test.published.list("/store/tmp") == [])
    }
  }
}
