import CPackStore
import CPackStoreTesting
import Testing

extension Core {
  /// Page trees: a function of their items alone, sharing all but a few pages with their like.
  @Suite struct TreeTests {
    typealias Item = (key: [UInt8], value: [UInt8])

    /// Items with keys like paths, in order.
    private static func items(_ count: Int, seed: UInt64) -> [Item] {
      var random = Random(seed), keys: Set<[UInt8]> = []
      while keys.count < count {
        keys.insert(Array("folder\(random.below(30))/name\(random.next() % 1_000_000_007)".utf8))
      }
      return keys.sorted { $0.lexicographicallyPrecedes($1) }.map { ($0, random.bytes(random.below(60))) }
    }

    private static func equal(_ a: [Item], _ b: [Item]) -> Bool {
      a.count == b.count && zip(a, b).allSatisfy { $0 == $1 }
    }

    @Test(arguments: [0, 1, 2, 50, 1_000, 100_000]) func mapsComeBack(count: Int) throws {
      let box = PageBox(), items = Self.items(count, seed: 1)
      let tree = try box.writeMap(items)
      #expect(tree.count == UInt64(count))
      #expect(Self.equal(try box.read(tree, PKS__TREE_MAP), items))
      #expect(box.pages.values.allSatisfy { $0.count <= Int(PKS__TREE_PAGE_LIMIT) })
      #expect((tree.height == 0) == (box.pages.count == 1))
    }

    @Test(arguments: [0, 1, 1_000, 100_000]) func listsComeBack(count: Int) throws {
      let box = PageBox()
      var random = Random(2)
      let rows = (0..<count).map { _ in random.bytes(36) }
      let tree = try box.writeList(rows, rowSize: 36)
      #expect(tree.count == UInt64(count))
      #expect(try box.read(tree, PKS__TREE_LIST, rowSize: 36).map(\.value) == rows)
    }

    /// A list of equal rows gives a hash-split no chance: pages still end.
    @Test func equalRows() throws {
      let box = PageBox(), rows = [[UInt8]](repeating: [UInt8](repeating: 5, count: 36), count: 20_000)
      let tree = try box.writeList(rows, rowSize: 36)
      #expect(try box.read(tree, PKS__TREE_LIST, rowSize: 36).count == rows.count)
      #expect(box.pages.count < 20, "equal pages are one page")
    }

    @Test func largestItems() throws {
      let box = PageBox()
      var random = Random(6)
      let items = (0..<40).map { number -> Item in
        (Array("\(100 + number)".utf8) + [UInt8](repeating: 0x61, count: 4_000), random.bytes(Int(PKS__TREE_VALUE_MAX)))
      }
      let tree = try box.writeMap(items)
      #expect(Self.equal(try box.read(tree, PKS__TREE_MAP), items))
      #expect(box.pages.values.allSatisfy { $0.count <= Int(PKS__TREE_PAGE_LIMIT) })
    }

    /// Whatever a map went through, the same items make the same root; a writer that is used again too.
    @Test func historyDoesNotMatter() throws {
      let seed = testSeed(11)
      var random = Random(seed)
      var items = Dictionary(uniqueKeysWithValues: Self.items(800, seed: 3).map { ($0.key, $0.value) })
      let box = PageBox()
      func root(_ items: [[UInt8]: [UInt8]]) throws -> [UInt8] {
        try box.writeMap(items.sorted { $0.key.lexicographicallyPrecedes($1.key) }.map { ($0.key, $0.value) }).root
          .array
      }
      let first = try root(items)
      var undo: [([UInt8], [UInt8]?)] = []
      for _ in 0..<60 {
        let key =
          random.chance(1, in: 2)
          ? items.keys.sorted { $0.lexicographicallyPrecedes($1) }[random.below(items.count)] : random.bytes(12)
        undo.append((key, items[key]))
        items[key] = random.chance(1, in: 3) ? nil : random.bytes(20)
        if random.chance(1, in: 6) { #expect(try root(items) != first, "seed \(seed)") }
      }
      for (key, value) in undo.reversed() { items[key] = value }
      #expect(try root(items) == first, "seed \(seed)")
    }

    /// One changed, added or removed item shares all pages but those near the way to it.
    @Test func neighboursSharePages() throws {
      let items = Self.items(30_000, seed: 4), old = PageBox()
      let tree = try old.writeMap(items)
      #expect(old.pages.count > 100 && tree.height >= 1)
      var random = Random(5)
      for round in 0..<15 {
        var changed = items
        let at = random.below(items.count)
        switch round % 3 {
        case 0: changed[at].value = random.bytes(30)
        case 1: changed.remove(at: at)
        default: changed.insert((items[at].key + [0x21], random.bytes(30)), at: at + 1)
        }
        let new = PageBox()
        _ = try new.writeMap(changed)
        let fresh = new.pages.keys.filter { old.pages[$0] == nil }.count
        #expect(fresh >= 1 && fresh <= 4 * (Int(tree.height) + 1), "round \(round): \(fresh) new pages")
      }
    }

    /// Pages are named by their bytes, so damage shows there; but a page that was made to order must not harm the reader: it is
    /// CORRUPT, or reads as some map in order. It never hangs.
    @Test func hostilePages() throws {
      let seed = testSeed(21)
      var random = Random(seed)
      let box = PageBox(), memory = pks__memory_counts_now().open
      let tree = try box.writeMap(Self.items(3_000, seed: 9))
      var refused = 0
      for round in 0..<400 {
        let hostile = PageBox()
        hostile.pages = box.pages
        let id =
          random.chance(1, in: 3)
          ? tree.root.array : box.pages.keys.sorted { $0.lexicographicallyPrecedes($1) }[random.below(box.pages.count)]
        var page = box.pages[id]!
        switch round % 4 {
        case 0: page[random.below(page.count)] = UInt8(truncatingIfNeeded: random.next())
        case 1: page[random.below(min(page.count, 24))] ^= 1 << random.below(8)
        case 2: page.removeLast(1 + random.below(page.count))
        default: page += random.bytes(1 + random.below(50))
        }
        hostile.pages[id] = page
        do { _ = try hostile.read(tree, PKS__TREE_MAP) } catch let failure as Failure {
          refused += 1
          #expect(failure.status == PKS_CORRUPT, "seed \(seed), round \(round)")
        }
      }
      #expect(refused > 200)
      #expect(pks__memory_counts_now().open == memory)
    }

    /// A walk that leaves out what is lost once forgot where it was after a leaf that did not fit: leaves whose keys fall came
    /// through, and tripped an assertion of the code that wrote them to another tree.
    @Test func keysRiseBeyondLostLeaves() throws {
      let box = PageBox(), items = Self.items(3_000, seed: 9)
      let tree = try box.writeMap(items)
      #expect(tree.height == 1)
      var seen: [[UInt8]] = []
      let ids = try box.children(of: tree)
      #expect(ids.count > 4)
      box.pages[ids[2]]![1] = 7
      box.pages[ids[3]] = box.pages[ids[0]]
      var cursor = pks__tree_cursor(), copy = tree, more = true
      pks__tree_cursor_init(&cursor, box.source, PKS__TREE_MAP, 0, &copy)
      cursor.skips_lost = true
      defer { pks__tree_cursor_free(&cursor) }
      let status = try status {
        while true {
          try attempt { pks__tree_cursor_next(&cursor, &more, $0) }
          guard more else { break }
          var length = 0
          let key = pks__tree_cursor_key(&cursor, &length)
          seen.append(Array(UnsafeRawBufferPointer(start: key, count: length)))
        }
      }
      #expect(status == PKS_CORRUPT)
      #expect(zip(seen, seen.dropFirst()).allSatisfy { $0.lexicographicallyPrecedes($1) })
    }

    /// A page that is its own child.
    @Test func loops() throws {
      let box = PageBox()
      var tree = try box.writeMap(Self.items(5_000, seed: 10))
      let root = tree.root.array
      for id in box.pages.keys where id != root { box.pages[id] = box.pages[root] }
      #expect(try status { _ = try box.read(tree, PKS__TREE_MAP) } == PKS_CORRUPT)
      tree.height = 40
      #expect(try status { _ = try box.read(tree, PKS__TREE_MAP) } == PKS_CORRUPT)
    }
  }
}
