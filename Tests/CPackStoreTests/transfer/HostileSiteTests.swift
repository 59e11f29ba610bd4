import CPackStore
import CPackStoreTesting
import Testing

extension Core {
  /// What comes is not what was asked for, or it is and makes no sense: it is CORRUPT, before it does any harm.
  @Suite struct HostileSiteTests {
    private static func contents() -> [String: [UInt8]] {
      var random = Random(41)
      return ["a": random.bytes(900), "b/c": random.text(1_500), "b/d": random.bytes(700), "e": random.bytes(2_048)]
    }

    /// Delivers until something fails. Whether that was for good; `nil` when nothing failed.
    private static func failure(of site: Site) throws -> (status: pks_status, isFinal: Bool)? {
      let disk = try DeliveryTests.empty(), memory = pks__memory_counts_now().open
      let result = try result(of: site, disk)
      #expect(try Store(disk).snapshot().packs.isEmpty || result == nil)
      #expect(!disk.hasLeaks && pks__memory_counts_now().open == memory)
      return result
    }

    private static func result(of site: Site, _ disk: Disk) throws -> (status: pks_status, isFinal: Bool)? {
      let transaction = try Store(disk).begin()
      let delivery = try #require(try Delivery(site, into: transaction))
      var isFinal = true
      do {
        steps: while true {
          switch try delivery.next() {
          case .want(let want): try delivery.give(site.bytes(want), isFinal: &isFinal)
          case .wait, .done: break steps
          }
          isFinal = true
        }
        try delivery.stage()
        _ = try transaction.commit()
        delivery.close(discard: true)
      } catch let failure as Failure {
        return (failure.status, isFinal)
      }
      return nil
    }

    private static func expectNonsense(
      _ name: Comment, _ adjust: (inout SiteBuilder) throws -> Void,
      roots: (inout pks__catalog_info, inout pks__tree, inout pks__layout_root) -> Void = { _, _, _ in }
    ) throws {
      var builder = try SiteBuilder(contents())
      try adjust(&builder)
      let failure = try failure(of: builder.build(roots))
      #expect(failure?.status == PKS_CORRUPT && failure?.isFinal == true, name)
    }

    /// What is built by hand and makes sense arrives.
    @Test func sense() throws {
      let site = try SiteBuilder(Self.contents()).build(), disk = try DeliveryTests.empty()
      try Store(disk).pull(site)
      try DeliveryTests.check(disk, Self.contents().mapValues { .file($0) }, version: 1)
    }

    // MARK: Other bytes

    /// Each want is first given with a bit flipped, at its beginning, middle or end: that is told, and is not final.
    @Test(arguments: [0, 1, 2]) func wrongBytes(place: Int) throws {
      let published = try DeliveryTests.published([.sample(seed: 1), .changedSample(seed: 1)], dictionary: .text)
      let site = try Site(published), disk = try DeliveryTests.empty()
      let transaction = try Store(disk).begin()
      let delivery = try #require(try Delivery(site, into: transaction))
      var count = 0
      steps: while true {
        switch try delivery.next() {
        case .want(let want):
          var bytes = site.bytes(want), isFinal = true
          bytes[place * (bytes.count - 1) / 2] ^= 0x10
          #expect(try status { try delivery.give(bytes, isFinal: &isFinal) } == PKS_CORRUPT, "\(want)")
          #expect(!isFinal, "\(want)")
          try delivery.give(site.bytes(want))
          count += 1
        case .wait, .done: break steps
        }
      }
      #expect(count == delivery.wanted.count && count > 5)
      try delivery.stage()
      _ = try transaction.commit()
      delivery.close(discard: true)
      try DeliveryTests.check(disk, .changedSample(seed: 1), version: 2)
    }

    /// After nonsense a delivery has ended.
    @Test func endsWithNonsense() throws {
      var builder = try SiteBuilder(Self.contents())
      builder.files[0].size += 1
      let site = try builder.build(), disk = try DeliveryTests.empty()
      let transaction = try Store(disk).begin()
      let delivery = try #require(try Delivery(site, into: transaction))
      for _ in 0..<2 { #expect(try status { try delivery.run() } == PKS_CORRUPT) }
      #expect(try status { try delivery.stage() } == PKS_CORRUPT)
      var isFinal = false
      #expect(try status { try delivery.give([], isFinal: &isFinal) } == PKS_CORRUPT && isFinal)
    }

    // MARK: Nonsense

    @Test func tablesOfOtherSegments() throws {
      for index in 0..<2 {
        let site = try SiteBuilder(Self.contents()).build()
        site.tables.swapAt(0, 1)
        #expect(try Self.failure(of: site)?.status == PKS_CORRUPT)
        let other = try SiteBuilder(Self.contents()).build()
        other.tables[index][20] ^= 1
        let failure = try Self.failure(of: other)
        #expect(failure?.status == PKS_CORRUPT && failure?.isFinal == true)
      }
    }

    /// A byte of a table is another, and the manifest says so: it is refused, or leads nowhere, or changes nothing.
    @Test func everyByteOfTheTables() throws {
      let builder = try SiteBuilder(Self.contents()), sound = try builder.build()
      for index in 0..<2 {
        for at in 0..<sound.tables[index].count {
          for mask: UInt8 in [1, 0x80] {
            let site = try builder.build()
            site.tables[index][at] ^= mask
            let failure = try Self.tolerantFailure(of: site)
            #expect([PKS_CORRUPT, PKS_NEWER_FORMAT, PKS_OTHER_DRAFT].contains(failure), "table \(index), byte \(at)")
          }
        }
      }
    }

    /// As `failure`, with bytes that are not there given as zeros.
    private static func tolerantFailure(of site: Site) throws -> pks_status {
      let disk = try DeliveryTests.empty()
      let transaction = try Store(disk).begin()
      return try status {
        guard let delivery = try Delivery(site, into: transaction) else { return }
        while case .want(let want) = try delivery.next() {
          let file = site.files[want.segment]
          let isThere = want.isTable || want.offset + want.length <= file.count
          try delivery.give(isThere ? site.bytes(want) : [UInt8](repeating: 0, count: want.length))
        }
        try delivery.stage()
      }
    }

    @Test func lengthsThatDoNotAddUp() throws {
      try Self.expectNonsense("a size above its chunks") { $0.files[0].size += 1 }
      try Self.expectNonsense("a size below its chunks") { $0.files[0].size -= 1 }
      try Self.expectNonsense("a huge size") { $0.files[0].size = .max }
      try Self.expectNonsense("a chunk without bytes") { $0.files[0].chunks[0].length = 0 }
      try Self.expectNonsense("a chunk that no chunker makes") {
        $0.files[3].chunks[0].length = 4097
        $0.files[3].size = 4097
        $0.files[3].extents[0].length = 4097
      }
      try Self.expectNonsense("a chunk with two lengths") {
        $0.files[0].chunks[0].id = $0.files[3].chunks[0].id
      }
      try Self.expectNonsense("a chunk of another length than the frame") {
        $0.files[0].chunks[0].length = 100
        $0.files[0].size = 100
        $0.files[0].extents[0].length = 100
      }
    }

    @Test func chunksThatAreNotThere() throws {
      try Self.expectNonsense("another id") { $0.files[0].chunks[0].id = pks__id(of: [1, 2, 3]) }
      try Self.expectNonsense("another frame") { $0.files[0].extents[0].frame = 1 }
      try Self.expectNonsense("a frame that is not there") { $0.files[0].extents[0].frame = 4 }
      try Self.expectNonsense("a frame far away") { $0.files[0].extents[0].frame = .max }
      try Self.expectNonsense("into the frame") { $0.files[0].extents[0].skip = 1 }
      try Self.expectNonsense("past the frame") { $0.files[0].extents[0].skip = 900 }
      try Self.expectNonsense("far past the frame") { $0.files[0].extents[0].skip = .max }
      try Self.expectNonsense("another segment") { $0.files[0].extents[0].segment = [UInt8](repeating: 1, count: 16) }
      try Self.expectNonsense("the last frame, and further") { $0.files[3].extents[0].skip = 1 }
      try Self.expectNonsense("no extent") { $0.files[0].extents = [] }
      try Self.expectNonsense("short extents") { $0.files[0].extents[0].length = 899 }
      try Self.expectNonsense("long extents") { $0.files[0].extents[0].length = 901 }
      try Self.expectNonsense("endless extents") { $0.files[0].extents[0].length = .max }
      try Self.expectNonsense("empty extents") { $0.files[0].extents[0].length = 0 }
      try Self.expectNonsense("more extents than chunks") {
        let first = $0.files[0].extents[0]
        $0.files[0].extents = [first, first]
      }
      try Self.expectNonsense("chunks that overlap") {
        let extent = $0.files[3].extents[0]
        let half = SiteBuilder.Chunk(id: pks__id(of: [9]), length: 1_024)
        $0.files[0].chunks = [half]
        $0.files[0].size = 1_024
        $0.files[0].extents = [.init(segment: extent.segment, frame: 3, skip: 512, length: 1_024)]
      }
    }

    @Test func catalogsThatLie() throws {
      try Self.expectNonsense("an asset in an asset") { $0.files[0].path = "b" }
      try Self.expectNonsense("a path that leads out") { $0.files[0].path = "../a" }
      try Self.expectNonsense("an absolute path") { $0.files[0].path = "/a" }
      try Self.expectNonsense("an asset in a link") { $0.entries["b"] = [2] + Array("target".utf8) }
      try Self.expectNonsense("an asset in an empty folder") { $0.entries["b"] = [3] }
      try Self.expectNonsense("an entry of no kind") { $0.entries["x"] = [0] }
      try Self.expectNonsense("an entry of no length") { $0.entries["x"] = [] }
      try Self.expectNonsense("unknown flags") { $0.entries["x"] = [3 | 32] }
      try Self.expectNonsense("other numbers") { _ in
      } roots: { info, _, _ in
        info.file_count += 1
      }
      try Self.expectNonsense("another sum") { _ in
      } roots: { info, _, _ in
        info.logical_bytes += 1
      }
      try Self.expectNonsense("an impossible average") { $0.average = 1_000 }
      try Self.expectNonsense("another average") {
        $0.average = 2_048
      } roots: { info, _, _ in
        info.chunk_average = 0
      }
      try Self.expectNonsense("a high tree") { _ in
      } roots: { _, map, _ in
        map.height = 12
      }
      try Self.expectNonsense("a higher tree") { _ in
      } roots: { _, map, _ in
        map.height = 1
      }
      try Self.expectNonsense("a very high tree") { _ in
      } roots: { _, map, _ in
        map.height = .max
      }
      try Self.expectNonsense("a page that is nowhere") { _ in
      } roots: { _, map, _ in
        map.root = pks__id(of: [1])
      }
    }

    @Test func layoutsThatLie() throws {
      try Self.expectNonsense("another catalog") { _ in
      } roots: { _, _, root in
        root.catalog = pks__id(of: [1])
      }
      try Self.expectNonsense("a high tree") { _ in
      } roots: { _, _, root in
        root.map.height = 13
      }
      try Self.expectNonsense("a higher tree") { _ in
      } roots: { _, _, root in
        root.map.height = 1
      }
      try Self.expectNonsense("the catalog's tree") { _ in
      } roots: { _, map, root in
        root.map = map
      }
      try Self.expectNonsense("a page that is nowhere") { _ in
      } roots: { _, _, root in
        root.map.root = pks__id(of: [1])
      }
    }

    /// An asset that the layout does not have, at the beginning, in the middle and at the end of it.
    @Test func assetsThatTheLayoutLacks() throws {
      for index in 0..<4 {
        let site = try SiteBuilder(Self.contents()).build()
        var other = try SiteBuilder(Self.contents())
        other.files[index].path += "-"
        let wrong = try other.build { _, _, root in
          withUnsafeBytes(of: site.version.catalog) { bytes in
            withUnsafeMutableBytes(of: &root.catalog) { $0.copyBytes(from: bytes) }
          }
        }
        site.version.layout = wrong.version.layout
        site.segments.append(wrong.segments[1])
        site.tables.append(wrong.tables[1])
        site.files.append(wrong.files[1])
        let failure = try Self.failure(of: site)
        #expect(failure?.status == PKS_CORRUPT && failure?.isFinal == true)
      }
    }

    // MARK: Rows

    /// 14 pages described 10 million chunks: 15 seconds, 152 MB that stayed in the store, and a SIGINT that nothing obeyed. With more
    /// levels they describe billions.
    @Test(arguments: [(2, 500), (3, 300), (5, 500)]) func repeatedPagesAreRefused(levels: Int, children: Int) throws {
      var builder = try SiteBuilder(Self.contents())
      builder.addRepeated("endless", levels: levels, children: children)
      let failure = try Self.failure(of: builder.build())
      #expect(failure?.status == PKS_TOO_MANY_ROWS && failure?.isFinal == true)
    }

    /// Several files that share one list have its rows several times.
    @Test func sharedListsCountForEachFile() throws {
      let disk = try DeliveryTests.empty(), transaction = try Store(disk).begin()
      var builder = try SiteBuilder(Self.contents())
      for index in 0..<4 { builder.addRepeated("f\(index)", levels: 1, children: 100) }
      let delivery = try #require(try Delivery(builder.build(), into: transaction) { $0.max_rows = 20_000 })
      let error = try thrown { try delivery.run() }
      #expect(error.status == PKS_TOO_MANY_ROWS && error.file == "p")
      // Pages of 64 rows and of 100 children, and roots of a few hundred bytes.
      #expect(error.needed > error.limit && (20_000...21_000).contains(error.limit))
    }

    /// Extents count as chunks do, after their pages were received.
    @Test func extentsCount() throws {
      let disk = try DeliveryTests.empty(), transaction = try Store(disk).begin()
      var builder = try SiteBuilder(Self.contents())
      // 100 chunks of a file that is the same chunk again and again, each in an extent of its own.
      let file = builder.files[0]
      builder.files[0].chunks = Array(repeating: file.chunks[0], count: 10_000)
      builder.files[0].extents = Array(repeating: file.extents[0], count: 10_000)
      builder.files[0].size = file.size * 10_000
      let site = try builder.build()
      let pages = UInt64(site.files[1].count) / 16
      let refused = try #require(try Delivery(site, into: transaction) { $0.max_rows = 20_000 - pages - 500 })
      #expect(try thrown { try refused.run() }.status == PKS_TOO_MANY_ROWS)
      refused.close(discard: true)
      let taken = try #require(try Delivery(site, into: transaction) { $0.max_rows = 20_003 })
      try taken.run()
      try taken.stage()
      _ = try transaction.commit()
      taken.close(discard: true)
    }

    /// A page is counted once, whether it was received or was in the store, and however often it is referenced.
    @Test func storedPagesAllowRows() throws {
      var builder = try SiteBuilder(Self.contents())
      builder.addRepeated("sparse", levels: 1, children: 100)
      let site = try builder.build(), disk = try DeliveryTests.empty()
      func open(_ transaction: Transaction) throws -> Delivery {
        try #require(try Delivery(site, into: transaction) { $0.max_rows = 1 })
      }
      // The same limit at first, and when the pages were kept from an attempt that was interrupted.
      for _ in 0..<2 {
        let transaction = try Store(disk).begin(), delivery = try open(transaction)
        let error = try thrown { try delivery.run() }
        #expect(error.status == PKS_TOO_MANY_ROWS && (300...1_000).contains(error.limit))
        delivery.close(discard: false)
      }
    }

    /// Each walk asks whether it goes on, every 65,536 rows.
    @Test func walksAreCancelled() throws {
      final class Count { var asked = 0, limit = Int.max }
      var builder = try SiteBuilder(Self.contents())
      try builder.addRun("sparse", count: 200_000)
      let site = try builder.build(), count = Count()
      var total = 0
      while true {
        let disk = try DeliveryTests.empty(), transaction = try Store(disk).begin()
        count.asked = 0
        count.limit = total
        let delivery = try #require(
          try Delivery(site, into: transaction) {
            $0.context = Unmanaged.passUnretained(count).toOpaque()
            $0.goes_on = { context in
              let count = Unmanaged<Count>.fromOpaque(context!).takeUnretainedValue()
              count.asked += 1
              return count.asked <= count.limit
            }
          })
        let status = try status {
          try delivery.run()
          try delivery.stage()
        }
        delivery.close(discard: true)
        guard status != PKS_OK else { break }
        #expect(status == PKS_CANCELLED && count.asked == total + 1)
        total += 1
      }
      // 200,000 rows: before frames are fetched, and when the version is staged, chunks and extents.
      #expect(total >= 3 * 3)
    }

    // MARK: Chosen ids

    /// The ids in a frame table are the site's choice. One of 12.8 MB that names one page again and again, or pages whose
    /// ids begin alike, took 23 seconds, one of the longest allowed 11 minutes, in a call that nothing ends.
    @Test(arguments: [0, 8, 28]) func tableOfChosenIds(differAt: Int) throws {
      let rows = 20_000, site = try SiteBuilder(Self.contents()).build(), disk = try DeliveryTests.empty()
      let id = [UInt8](repeating: 7, count: 16)
      var table =
        Array("PKSFRAM0".utf8) + SiteBuilder.number(UInt64(pks_draft_format()), 4) + SiteBuilder.number(2, 4) + id
      table += SiteBuilder.number(UInt64(64 + rows), 8) + SiteBuilder.number(UInt64(rows), 4) + SiteBuilder.number(0, 4)
      for row in 0..<rows {
        table += SiteBuilder.number(UInt64(64 + row), 8) + SiteBuilder.number(1, 4) + SiteBuilder.number(1, 4)
        table += [UInt8](repeating: 0, count: 32)
      }
      for row in 0..<rows {
        var page = [UInt8](repeating: 9, count: 32)
        // From byte 28 on all ids are the same one.
        if differAt < 28 { page.replaceSubrange(differAt..<differAt + 4, with: SiteBuilder.number(UInt64(row), 4)) }
        table += page
      }
      site.segments.append(PublishedSegment(id: id, isMetadata: true, length: UInt64(64 + rows)))
      site.tables.append(table)
      site.files.append([UInt8](repeating: 0, count: 64 + rows))
      let transaction = try Store(disk).begin()
      let delivery = try #require(try Delivery(site, into: transaction))
      while case .want(let want) = try delivery.next() { try delivery.give(site.bytes(want)) }
      let work = delivery.mapWork
      #expect(differAt == 28 ? work.entries < 100 : work.entries >= rows)
      #expect(work.steps < 6 * max(work.entries, 100))
      try delivery.stage()
      _ = try transaction.commit()
      delivery.close(discard: true)
      try DeliveryTests.check(disk, Self.contents().mapValues { .file($0) }, version: 1)
    }

    // MARK: Any damage

    /// Each byte of each page is another, and everything above says so: there is nothing that takes it for what it was.
    @Test func everyByteOfThePages() throws {
      let builder = try SiteBuilder(Self.contents()), sound = try builder.build()
      let pages = builder.box.pages
      var random = Random(43), refused = 0
      for _ in 0..<300 {
        // A tree of which one page is another: what names it names the other one.
        let (key, page) = pages.sorted { $0.key.lexicographicallyPrecedes($1.key) }[random.below(pages.count)]
        var other = page
        other[random.below(other.count)] ^= UInt8(1 << random.below(8))
        var substitutes = [key: pks__id(of: other).array], all = pages
        all[pks__id(of: other).array] = other
        for _ in 0..<3 {
          for (oldKey, old) in all {
            var changed = old
            for (from, to) in substitutes {
              for at in 0..<max(0, changed.count - 31) where Array(changed[at..<at + 32]) == from {
                changed.replaceSubrange(at..<at + 32, with: to)
              }
            }
            if changed != old {
              substitutes[oldKey] = pks__id(of: changed).array
              all[pks__id(of: changed).array] = changed
            }
          }
        }
        let ordered = all.sorted { $0.key.lexicographicallyPrecedes($1.key) }.map(\.value)
        let (id, file, table) = try SiteBuilder.segment(ordered, PKS__SEGMENT_METADATA)
        let site = try builder.build()
        site.segments[1] = PublishedSegment(id: id, isMetadata: true, length: UInt64(file.count))
        site.tables[1] = table
        site.files[1] = file
        func follow(_ id: [UInt8]) -> [UInt8] { substitutes[id].map(follow) ?? id }
        let catalog = follow(withUnsafeBytes(of: sound.version.catalog) { Array($0) })
        let layout = follow(withUnsafeBytes(of: sound.version.layout) { Array($0) })
        withUnsafeMutableBytes(of: &site.version.catalog) { $0.copyBytes(from: catalog) }
        withUnsafeMutableBytes(of: &site.version.layout) { $0.copyBytes(from: layout) }
        if let failure = try Self.failure(of: site) {
          #expect([PKS_CORRUPT, PKS_NEWER_FORMAT, PKS_OTHER_DRAFT].contains(failure.status) && failure.isFinal)
          refused += 1
        }
      }
      #expect(refused > 150, "the rest are other catalogs or layouts of the same sense")
    }
  }
}
