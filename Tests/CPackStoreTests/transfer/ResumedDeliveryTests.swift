import CPackStore
import CPackStoreTesting
import Foundation
import Testing

extension Core {
  /// Deliveries that are interrupted, and others that go on where those ended.
  @Suite struct ResumedDeliveryTests {
    /// Something of everything: frames that stay as they are and some that do not, map assets, several pages.
    private struct Case {
      let site: Site, first: Site, base: Disk, content: Folder

      init() throws {
        var random = Random(31), old = Folder.sample(seed: 1), new = Folder.changedSample(seed: 1)
        let mapped = random.bytes(60_000)
        old["m.map"] = .file(mapped)
        new["m.map"] = .file(Array(mapped[..<30_000]) + random.bytes(20) + Array(mapped[30_000...]))
        new["new.map"] = .file(random.bytes(50_000))
        for index in 0..<300 { old["many/\(1000 + index)"] = .file(random.text(600)) }
        for index in 0..<300 { new["many/\(1000 + index)"] = .file(random.text(index % 3 == 0 ? 700 : 600)) }
        for index in stride(from: 0, to: 300, by: 2) { new["many/\(1000 + index)"] = old["many/\(1000 + index)"] }
        let published = try DeliveryTests.published([old, new], map: ["*.map"], dictionary: .text)
        site = try Site(published)
        first = try Site(published, version: 1)
        content = new
        base = try DeliveryTests.empty()
        try Store(base).pull(first)
      }
    }

    /// Closed, or killed, after every so many wants. Nothing is wanted twice, but after a kill what was gathered and not
    /// written yet.
    @Test(arguments: [(1, false), (2, false), (7, false), (6, true), (11, true)])
    func afterEverySoMany(stride: Int, killed: Bool) throws {
      let test = try Case(), disk = test.base.clone()
      let (wants, attempts) = try disk.deliver(stride: stride, killed: killed) { process in
        let transaction = try Store(disk, process: process).begin()
        return (transaction, try #require(try Delivery(test.site, into: transaction)))
      }
      #expect(attempts > 2)
      try DeliveryTests.check(disk, test.content, version: 2)
      let repeated = wants.count - Set(wants).count
      if killed {
        #expect(repeated <= attempts * 3, "\(repeated) of \(wants.count)")
      } else {
        #expect(repeated == 0, "\(Dictionary(grouping: wants) { $0 }.filter { $1.count > 1 }.keys)")
      }
      #expect(!disk.hasLeaks)
    }

    /// All of it is there when the transaction fails, or is given up after staging.
    @Test func afterStaging() throws {
      let test = try Case(), disk = test.base.clone()
      do {
        let transaction = try Store(disk).begin()
        let delivery = try #require(try Delivery(test.site, into: transaction))
        try delivery.run()
        try delivery.stage()
        transaction.abort()
      }
      let pull = try #require(try Store(disk).pull(test.site))
      #expect(pull.wants.isEmpty && pull.totals.bytes_resumed == pull.totals.bytes_total)
      try DeliveryTests.check(disk, test.content, version: 2)
    }

    /// Another writer changes the pack while it comes: what came stays good for the next attempt.
    @Test func afterConflict() throws {
      let test = try Case(), disk = test.base.clone()
      disk.put(.sample(seed: 77), at: "/own")
      let transaction = try Store(disk).begin()
      let delivery = try #require(try Delivery(test.site, into: transaction))
      try delivery.run()
      try delivery.stage()
      try Store(disk, process: sim_start_process(disk.raw, 2)).commit { try $0.add("p", "/own", version: 9) }
      #expect(try status { _ = try transaction.commit() } == PKS_CONFLICT)
      delivery.close(discard: false)
      // What the version that went had must come now, in addition.
      try Store(disk).commit(keep: 1) { try $0.add("p", "/own", version: 10) { $0.portable = true } }
      let pull = try #require(try Store(disk).pull(test.site))
      #expect(pull.totals.bytes_resumed > 0)
      try DeliveryTests.check(disk, test.content, version: 2)
    }

    /// Chunks that the store had when a delivery began are gone, and others are there.
    @Test func afterTheBaseChanged() throws {
      let test = try Case(), disk = test.base.clone()
      do {
        let transaction = try Store(disk).begin()
        let delivery = try #require(try Delivery(test.site, into: transaction))
        try delivery.run()
      }
      disk.put(test.content.filter { $0.key < "many/1150" }, at: "/own")
      disk.put(["only": .file("only")], at: "/small")
      try Store(disk).commit { try $0.remove("p") }
      for name in ["small", "smaller"] { try Store(disk).commit { try $0.add(name, "/small") } }
      try Store(disk).commit { try $0.add("other", "/own") }
      let pull = try #require(try Store(disk).pull(test.site))
      #expect(pull.totals.bytes_resumed > 0 && !pull.wants.isEmpty)
      try DeliveryTests.check(disk, test.content, version: 2)
    }

    /// The power goes after so many wants. Whatever was not synced may be gone, torn, or there: what is left is taken up,
    /// and the rest wanted again.
    @Test func afterALossOfPower() throws {
      let test = try Case()
      var resumed = 0, lost = 0
      for limit in stride(from: 1, to: 40, by: 3) {
        let disk = test.base.clone()
        let transaction = try Store(disk).begin()
        let delivery = try #require(try Delivery(test.site, into: transaction))
        try delivery.run(limit: limit)
        for left in disk.crashes(budget: 6, seed: UInt64(limit)) {
          let pull = try #require(try Store(left).pull(test.site))
          try DeliveryTests.check(left, test.content, version: 2, "after \(limit)", afterPowerLoss: true)
          resumed += pull.totals.bytes_resumed > 0 ? 1 : 0
          lost += pull.totals.bytes_resumed == 0 ? 1 : 0
        }
      }
      #expect(resumed > 10 && lost > 10)
    }

    /// Bytes of the folder rot, anywhere in any of its files.
    @Test func afterDamage() throws {
      let test = try Case(), base = test.base.clone()
      do {
        let transaction = try Store(base).begin()
        let delivery = try #require(try Delivery(test.site, into: transaction))
        try delivery.run(limit: 30)
      }
      let files = base.list("/store/incoming").filter { !$0.hasSuffix("/") }.map { "/store/incoming/\($0)" }
      #expect(files.count == 3)
      for file in files {
        let length = base.read(file)!.count
        for step in 0..<40 {
          let disk = base.clone()
          #expect(sim_corrupt(disk.raw, file, UInt64(step * (length - 1) / 39), 0x21) == 0)
          try Store(disk).pull(test.site)
          try DeliveryTests.check(disk, test.content, version: 2, "\(file), \(step)")
        }
        let disk = base.clone()
        sim_remove(disk.raw, file)
        try Store(disk).pull(test.site)
        try DeliveryTests.check(disk, test.content, version: 2, "without \(file)")
      }
    }

    /// A segment that was growing here, and is complete and committed, loses its name here before it gets its final one. Else a
    /// loss of power could bring the old name back, and the next delivery of the version, if the pack was removed meanwhile,
    /// would go on writing to a file that another pack needs.
    @Test(arguments: [false, true]) func ghosts(isSyncIgnored: Bool) throws {
      let site = try Site(DeliveryTests.published([.sample(seed: 1)]))
      var random = Random(5), content = Folder.sample(seed: 1)
      content["more"] = .file(random.text(3_000))
      let disk = try DeliveryTests.empty()
      disk.put(content, at: "/own")
      if isSyncIgnored { sim_ignore_syncs_of(disk.raw, "/store/incoming/*") }
      let transaction = try Store(disk).begin()
      let delivery = try #require(try Delivery(site, into: transaction))
      try delivery.run()
      try delivery.stage()
      _ = try transaction.commit()
      var broken = 0, ghosts = 0
      for left in disk.crashes(budget: 300, seed: 3) {
        guard try !Store(left).snapshot().packs.isEmpty else { continue }
        ghosts += left.list("/store/incoming").contains { $0.hasSuffix("/segment-0") } ? 1 : 0
        try Store(left).commit { try $0.add("q", "/own") }
        try Store(left).commit { try $0.remove("p") }
        // Frames that the journal lost are written again, from the beginning.
        for name in left.list("/store/incoming") where name.hasSuffix("/journal") {
          sim_put_file(left.raw, "/store/incoming/\(name)", "", 0)
        }
        do {
          let transaction = try Store(left).begin()
          let delivery = try #require(try Delivery(site, into: transaction))
          try delivery.run(limit: 6)
        }
        broken += try Store(left).snapshot().faults(deep: true).isEmpty ? 0 : 1
      }
      #expect(isSyncIgnored ? ghosts > 0 : ghosts == 0)
      #expect(broken == 0 || isSyncIgnored)
    }

    /// A folder that no process works in goes a week after the last work, with the next transaction; one in use
    /// stays however long it takes.
    @Test func folderGoesAfterAWeek() throws {
      let day: Int64 = 86_400_000_000_000
      let test = try Case(), disk = test.base.clone()
      let other = sim_start_process(disk.raw, 2)!
      do {
        let transaction = try Store(disk).begin()
        let delivery = try #require(try Delivery(test.site, into: transaction))
        try delivery.run(limit: 3)
        sim_advance_clock(disk.raw, 8 * day)
        try Store(disk, process: other).begin().abort()
        #expect(!disk.list("/store/incoming").isEmpty, "a process works there")
        try delivery.run(limit: 1)
      }
      sim_advance_clock(disk.raw, 6 * day)
      try Store(disk, process: other).begin().abort()
      #expect(!disk.list("/store/incoming").isEmpty)
      sim_advance_clock(disk.raw, 2 * day)
      try Store(disk, process: other).begin().abort()
      #expect(disk.list("/store/incoming").isEmpty)
      try Store(disk).pull(test.site)
      try DeliveryTests.check(disk, test.content, version: 2)
    }

    /// What has come of one version goes when another one of the pack is there, and not before; that of other packs stays, and what a
    /// process works in.
    @Test func folderGoesWithAnotherVersion() throws {
      let test = try Case(), disk = test.base.clone(), other = sim_start_process(disk.raw, 2)!
      func folders() -> Int { disk.list("/store/incoming").count { $0.hasSuffix("/") } }
      try Store(disk).commit { try $0.remove("p") }
      do {
        let transaction = try Store(disk).begin()
        let delivery = try #require(try Delivery(test.first, into: transaction))
        try delivery.run(limit: 3)
      }
      #expect(folders() == 1)
      let transaction = try Store(disk, process: other).begin()
      let working = try #require(try Delivery(test.first, into: transaction))
      try working.run(limit: 1)
      try Store(disk).pull(test.site)
      #expect(folders() == 1, "a process works there")
      working.close(discard: false)
      transaction.abort()
      try Store(disk).commit { try $0.remove("p") }
      try Store(disk).pull(test.site)
      #expect(disk.list("/store/incoming").isEmpty)
      try DeliveryTests.check(disk, test.content, version: 2)
    }

    /// A delivery that was given nothing leaves no folder.
    @Test func nothingGivenNothingKept() throws {
      let test = try Case(), disk = test.base.clone()
      do {
        let transaction = try Store(disk).begin()
        let delivery = try #require(try Delivery(test.site, into: transaction))
        _ = try delivery.next()
      }
      #expect(disk.list("/store/incoming") == [])
    }

    // MARK: A full disk

    /// There is not room for all that is to come: that is said before the first frame, with how much it takes, and when there
    /// is room nothing comes twice.
    @Test func noSpaceFromTheBeginning() throws {
      let test = try Case(), disk = test.base.clone()
      var wanted: Set<Want> = []
      do {
        let transaction = try Store(disk).begin()
        let delivery = try #require(try Delivery(test.site, into: transaction))
        sim_set_capacity(disk.raw, sim_used_bytes(disk.raw) + 300_000)
        do {
          try delivery.run()
          Issue.record("there was room")
        } catch let failure as Failure {
          #expect(failure.status == PKS_NO_SPACE && failure.needed > 300_000, "\(failure)")
        }
        #expect(delivery.wanted.allSatisfy { test.site.isMetadata($0) })
        wanted = Set(delivery.wanted)
      }
      sim_set_capacity(disk.raw, UInt64.max)
      let pull = try #require(try Store(disk).pull(test.site))
      #expect(wanted.isDisjoint(with: pull.wants) && !wanted.isEmpty)
      try DeliveryTests.check(disk, test.content, version: 2)
    }

    /// The disk is full at every byte: the store is as it was, and when there is room again the delivery goes on.
    @Test func noSpaceInTheMiddle() throws {
      let test = try Case()
      var refusals = 0, resumed = 0, switched = 0
      for call in stride(from: 0, to: 400, by: 3) {
        let disk = test.base.clone()
        sim_fail(disk.raw, SIM_CALL_MUTATING, nil, UInt64(call), ENOSPC, true)
        let refused = try status { try Store(disk).pull(test.site) }
        sim_clear_faults(disk.raw)
        #expect(refused == PKS_NO_SPACE || refused == PKS_OK, "call \(call)")
        if refused == PKS_OK { break }
        refusals += 1
        guard let pull = try Store(disk).pull(test.site) else {
          // Only the second copy of the control slot could not be written: the version is there.
          switched += 1
          continue
        }
        resumed += pull.totals.bytes_resumed > 0 ? 1 : 0
        try DeliveryTests.check(disk, test.content, version: 2, "call \(call)")
      }
      #expect(refusals > 20 && resumed > 5 && switched <= 1)
    }
  }
}
