import CPackStore
import CPackStoreTesting
import Foundation
import Testing

extension Core {
  /// Map assets: raw, in one piece, from a page on; written again only when they changed.
  @Suite struct MapAssetTests {
    private static func store(_ folder: Folder) throws -> (disk: Disk, store: Store) {
      let disk = Disk(seed: 4)
      disk.put(folder, at: "/source")
      return (disk, try Store(disk, create: true))
    }

    @discardableResult
    private static func add(_ disk: Disk, _ store: Store, _ folder: Folder, map: [String] = ["*.map"]) throws
      -> pks_add_result
    {
      disk.put(folder, at: "/source")
      var result = pks_add_result()
      try store.commit { result = try $0.add("p", "/source", map: map) }
      try check(store, folder)
      return result
    }

    /// That the store shows the folder and is whole, and that every map asset can be borrowed.
    private static func check(_ store: Store, _ folder: Folder) throws {
      let snapshot = try store.snapshot(), state = try snapshot.state()
      #expect(state["p"]?.content == folder)
      #expect(try snapshot.faults(deep: true) == [])
      for path in state["p"]?.mapped ?? [] {
        guard case .file(let bytes, _) = folder[path] else { continue }
        #expect(try borrow(snapshot, path).elementsEqual(bytes), "\(path)")
        let storage = try storage(snapshot, path)
        #expect(storage.mapped && storage.contiguous && storage.extent_count == 1)
        #expect(storage.stored_bytes == bytes.count && storage.raw_frame_count == storage.frame_count)
      }
    }

    private static func find(_ snapshot: Snapshot, _ path: String) throws -> pks_asset {
      var asset = pks_asset()
      try attempt { pks_snapshot_find(&asset, snapshot.raw, path, path.utf8.count, .max, $0) }
      return asset
    }

    private static func borrow(_ snapshot: Snapshot, _ path: String) throws -> UnsafeRawBufferPointer {
      var asset = try find(snapshot, path), loan = pks_bytes()
      try path.withCString { text in
        asset.path = text
        try attempt { pks_asset_borrow(&loan, &asset, $0) }
      }
      return UnsafeRawBufferPointer(start: loan.bytes, count: loan.count)
    }

    private static func storage(_ snapshot: Snapshot, _ path: String) throws -> pks_storage {
      var asset = try find(snapshot, path), storage = pks_storage()
      try path.withCString { text in
        asset.path = text
        try attempt { pks_asset_storage(&storage, &asset, $0) }
      }
      return storage
    }

    private static func text(_ count: Int, _ seed: UInt64 = 1) -> [UInt8] {
      var random = Random(seed)
      return random.text(count)
    }

    private static func noise(_ count: Int, _ seed: UInt64 = 1) -> [UInt8] {
      var random = Random(seed)
      return random.bytes(count)
    }

    // MARK: - First writing

    @Test func compressibleAssetsLieRawAtPages() throws {
      var folder: Folder = ["empty.map": .file([]), "link.map": .link("x"), "plain": .file(Self.text(50_000))]
      for size in [1, 8, 511, 4_095, 4_096, 4_097, 70_000, 300_000] {
        folder["s\(size).map"] = .file(Self.text(size, UInt64(size)))
        folder["t/between-\(size)"] = .file(Self.text(size / 3 + 5, UInt64(size + 1)))
      }
      let (disk, store) = try Self.store(folder)
      let result = try Self.add(disk, store, folder)
      #expect(result.mapped_count == 8 && result.relaid_count == 0)
      #expect(result.mapped_new_bytes == 1 + 8 + 511 + 4_095 + 4_096 + 4_097 + 70_000 + 300_000)
      let snapshot = try store.snapshot()
      #expect(try snapshot.state()["p"]?.mapped.count == 8)
      #expect(try Self.find(snapshot, "empty.map").mapped == false, "nothing to lay out")
      #expect(try Self.storage(snapshot, "plain").mapped == false)
      #expect(try Self.storage(snapshot, "plain").raw_frame_count == 0)
      #expect(try Self.storage(snapshot, "empty.map").frame_count == 0)
      #expect(try status { _ = try Self.storage(snapshot, "link.map") } == PKS_WRONG_KIND)
    }

    /// On a real disk, where loans are mapped pages.
    @Test func loansBeginAtPages() throws {
      let home = try TemporaryFolder()
      let store = try Store(home.path + "/store", create: true, average: 4096, threads: 3)
      let folder: Folder = ["a": .file(Self.text(9_000)), "b.map": .file("tiny"), "c.map": .file(Self.text(900_000))]
      let source = try home.put(folder, at: "source")
      try store.commit { try $0.add("p", source, map: ["*.map"]) }
      let snapshot = try store.snapshot()
      for path in ["b.map", "c.map"] {
        #expect(UInt(bitPattern: try Self.borrow(snapshot, path).baseAddress) % 4096 == 0, "\(path)")
      }
    }

    /// A segment is cut within an asset once it is much longer than it should be, but never within a map asset.
    @Test func longerThanAnySegment() throws {
      let home = try TemporaryFolder()
      let store = try Store(home.path + "/store", create: true, average: 1 << 20, threads: 2)
      let size = UInt64(264 << 20)  // the limit is 256 MiB
      let source = try home.put(["a": .file(Self.text(200_000)), "z": .file(Self.text(100_000))], at: "source")
      try #require(FileManager.default.createFile(atPath: source + "/long.map", contents: nil))
      let file = try FileHandle(forWritingTo: URL(filePath: source + "/long.map"))
      try file.truncate(atOffset: size)
      try file.seek(toOffset: size - 4)
      try file.write(contentsOf: Array("last".utf8))
      try file.close()
      var result = pks_add_result()
      try store.commit(PKS_ATOMIC) { result = try $0.add("p", source, map: ["*.map"]) }
      #expect(result.mapped_new_bytes == size)
      let snapshot = try store.snapshot(), storage = try Self.storage(snapshot, "long.map")
      #expect(storage.mapped && storage.contiguous && storage.extent_count == 1 && storage.stored_bytes == size)
      var asset = try Self.find(snapshot, "long.map"), end = [UInt8](repeating: 0, count: 4)
      try attempt { pks_asset_read(&asset, size - 4, &end, 4, $0) }
      #expect(end == Array("last".utf8))
    }

    @Test func patternsThatMeanNothing() throws {
      final class Notices { var texts: [String] = [] }
      let notices = Notices()
      let (_, store) = try Self.store(["a.map": .file("a"), "link": .link("a.map"), "empty": .file([])])
      let transaction = try store.begin()
      try transaction.add("p", "/source", map: ["*.map", "*.mpa", "link", "empty", "a.*"]) { request in
        request.context = Unmanaged.passUnretained(notices).toOpaque()
        request.notice = { context, notice in
          let notice = notice.pointee
          let path = String(
            decoding: UnsafeRawBufferPointer(start: notice.path, count: notice.path_length), as: UTF8.self)
          if notice.kind == PKS_NOTICE_UNUSED_GLOB {
            Unmanaged<Notices>.fromOpaque(context!).takeUnretainedValue().texts.append(path)
          }
        }
      }
      #expect(notices.texts == ["*.mpa", "link"])
      #expect(try status { try transaction.add("p", "/source", map: ["a", "[x"]) } == PKS_INVALID_ARGUMENT)
    }

    // MARK: - Updates

    /// A file that did not change is not written again, wherever it is now.
    @Test func unchangedAndMoved() throws {
      let bytes = Self.text(80_000), other = Self.text(60_000, 9)
      let (disk, store) = try Self.store([:])
      try Self.add(disk, store, ["a.map": .file(bytes), "b.map": .file(other), "x": .file("1")])
      let update = try Self.add(disk, store, ["a.map": .file(bytes), "b.map": .file(other), "x": .file("2")])
      #expect(update.mapped_count == 2 && update.mapped_new_bytes == 0 && !update.unchanged)
      let moved = try Self.add(disk, store, ["c/d.map": .file(bytes), "b.map": .file(other), "x": .file("2")])
      #expect(moved.mapped_new_bytes == 0)
      var copy = pks_add_result()
      try store.commit { copy = try $0.add("q", "/source", map: ["*.map"]) }
      #expect(copy.mapped_count == 2 && copy.mapped_new_bytes == 0, "another pack's copy")
      #expect(try store.state()["q"]?.mapped == ["c/d.map", "b.map"])
    }

    /// One byte more or less, anywhere: the whole is laid out again. A file that was cut where a chunk ends is an exception:
    /// it lies at the beginning of what it was.
    @Test(arguments: ["front", "middle", "appended", "truncated", "replaced", "emptied"])
    func changed(_ how: String) throws {
      let before = Self.text(90_000)
      var after = before
      switch how {
      case "front": after.insert(0, at: 0)
      case "middle": after.insert(0, at: 45_000)
      case "appended": after.append(0)
      case "truncated": after.removeLast(1_000)
      case "replaced": after[70_000] ^= 1
      default: after = []
      }
      let (disk, store) = try Self.store([:])
      try Self.add(disk, store, ["a.map": .file(before), "other": .file(Self.text(30_000, 2))])
      let result = try Self.add(disk, store, ["a.map": .file(after), "other": .file(Self.text(30_000, 2))])
      #expect(result.mapped_new_bytes == UInt64(after.count))
      #expect(result.new_raw_bytes < 10_000, "few chunks are new")
      let back = try Self.add(disk, store, ["a.map": .file(before), "other": .file(Self.text(30_000, 2))])
      #expect(back.new_chunk_count == 0)
      #expect(back.mapped_new_bytes == 0, "the previous version's copy is still there")
    }

    /// Files that begin alike are not taken for each other, and none is written again because another one is.
    @Test func filesThatBeginAlike() throws {
      let head = Self.text(20_000)
      var folder: Folder = [:]
      for number in 0..<40 as Range<UInt64> { folder["\(number).map"] = .file(head + Self.noise(5_000, number)) }
      folder["zeros.map"] = .file([UInt8](repeating: 0, count: 100_000))
      let (disk, store) = try Self.store([:])
      #expect(try Self.add(disk, store, folder).mapped_new_bytes == 40 * 25_000 + 100_000)
      folder["7.map"] = .file(head + Self.noise(5_001, 7))
      #expect(try Self.add(disk, store, folder).mapped_new_bytes == 25_001)
    }

    /// Two equal files share one place; others find chunks in it.
    @Test func sharing() throws {
      let bytes = Self.text(60_000)
      let (disk, store) = try Self.store([:])
      let result = try Self.add(
        disk, store, ["a.map": .file(bytes), "b.map": .file(bytes), "c": .file(bytes), "d": .file([1, 2] + bytes)])
      #expect(result.mapped_count == 2 && result.mapped_new_bytes == 60_000)
      #expect(result.new_raw_bytes < 70_000)
      #expect(try Self.find(store.snapshot(), "c").contiguous, "it lies where the map assets do")
      #expect(try !Self.find(store.snapshot(), "c").mapped, "by chance, not by contract")
    }

    // MARK: - Without a new version

    @Test func newlyMapped() throws {
      let folder: Folder = [
        "text": .file(Self.text(90_000)), "noise": .file(Self.noise(90_000)), "small": .file("small"),
      ]
      let (disk, store) = try Self.store([:])
      let first = try Self.add(disk, store, folder, map: [])
      #expect(try store.state()["p"]?.mapped == [])
      let before = try store.snapshot()
      let second = try Self.add(disk, store, folder, map: ["*"])
      #expect(second.unchanged && second.relaid_count == 3 && second.version.number == first.version.number)
      #expect(second.mapped_new_bytes == 90_005, "what lay raw at a page stays there")
      #expect(try store.state()["p"]?.mapped == ["text", "noise", "small"])
      #expect(try store.snapshot().packs[0].version_count == 1)
      #expect(try store.snapshot().generation == before.generation + 1)
      #expect(try before.state()["p"]?.content == folder, "a reader of the old layout goes on")
      let third = try Self.add(disk, store, folder, map: ["*"])
      #expect(third.unchanged && third.relaid_count == 0 && third.mapped_new_bytes == 0)
      #expect(try store.snapshot().generation == before.generation + 1, "nothing to commit")
    }

    /// What is not asked for again stays, unless it changed.
    @Test func notAskedForAgain() throws {
      var folder: Folder = ["a.map": .file(Self.text(90_000)), "b.map": .file(Self.text(40_000, 2)), "x": .file("1")]
      let (disk, store) = try Self.store([:])
      try Self.add(disk, store, folder)
      folder["x"] = .file("2")
      try Self.add(disk, store, folder, map: [])
      #expect(try store.state()["p"]?.mapped == ["a.map", "b.map"])
      folder["b.map"] = .file(Self.text(40_001, 2))
      try Self.add(disk, store, folder, map: [])
      #expect(try store.state()["p"]?.mapped == ["a.map"])
    }

    @Test func placesWithoutNewVersionsAreCollected() throws {
      let folder: Folder = ["a": .file(Self.text(90_000))]
      let (disk, store) = try Self.store([:])
      try Self.add(disk, store, folder, map: [])
      let old = Set(disk.list("/store/segments"))
      try Self.add(disk, store, folder, map: ["a"])
      for number in 1...3 as ClosedRange<Int32> { try store.commit { try $0.prioritise("p", number) } }
      #expect(old.subtracting(disk.list("/store/segments")).count >= 1, "the old layout's data is gone")
      try Self.check(store, folder)
    }

    /// Another writer moved the assets meanwhile: what was staged on the old layout must not be committed.
    @Test func layoutsConflict() throws {
      let folder: Folder = ["a": .file(Self.text(90_000)), "b": .file("b")]
      let (disk, store) = try Self.store(folder)
      try Self.add(disk, store, folder, map: [])
      let other = try Store(disk, process: sim_start_process(disk.raw, 2))
      disk.put(folder.merging(["b": .file("c")]) { $1 }, at: "/changed")
      let first = try store.begin(), second = try other.begin()
      try first.add("p", "/changed")
      try second.add("p", "/source", map: ["a"])
      _ = try second.commit()
      #expect(try status { _ = try first.commit() } == PKS_CONFLICT)
      try Self.check(store, folder)
    }

    // MARK: - Trouble

    /// What was passed over while the file still was as before is read again: it must not have changed since.
    @Test func fileThatChangesBetweenItsReadings() throws {
      final class Meddler {
        let disk: Disk
        var bytes: [UInt8]
        init(_ disk: Disk, _ bytes: [UInt8]) { (self.disk, self.bytes) = (disk, bytes) }
      }
      let size = 5 << 20, before = Self.noise(size)
      let (disk, store) = try Self.store([:])
      try Self.add(disk, store, ["a.map": .file(before)])
      disk.put(["a.map": .file(before + [1])], at: "/source")
      let meddler = Meddler(disk, before + [1])
      meddler.bytes[100] ^= 1
      let transaction = try store.begin()
      var error = ""
      do {
        try transaction.add("p", "/source", map: ["*.map"]) { request in
          request.context = Unmanaged.passUnretained(meddler).toOpaque()
          request.progress = { context, progress in
            let meddler = Unmanaged<Meddler>.fromOpaque(context!).takeUnretainedValue()
            // By now all of the file was read once.
            if progress.pointee.bytes_done > 4 << 20 {
              sim_put_file(meddler.disk.raw, "/source/a.map", meddler.bytes, meddler.bytes.count)
            }
            return true
          }
        }
      } catch let failure as Failure {
        #expect(failure.status == PKS_SOURCE_CHANGED)
        error = failure.description
      }
      #expect(error.hasSuffix("a.map"), "\(error)")
    }

    /// Damage of what is stored is no reason to fail: the asset is laid out from its file.
    @Test func damagedTable() throws {
      let folder: Folder = ["a.map": .file(Self.text(50_000))]
      let disk = try Self.store([:]).disk
      try Self.add(disk, try Store(disk), folder)
      for name in disk.list("/store/segments") {
        let length = disk.read("/store/segments/\(name)")!.count
        if length > 50_000 { #expect(sim_corrupt(disk.raw, "/store/segments/\(name)", UInt64(length) - 4_100, 1) == 0) }
      }
      let store = try Store(disk)
      disk.put(folder, at: "/source")
      var result = pks_add_result()
      try store.commit { result = try $0.add("p", "/source", map: ["*.map"]) }
      #expect(result.unchanged && result.relaid_count == 1 && result.mapped_new_bytes == 50_000, "\(result)")
      #expect(try store.state()["p"]?.content == folder)
    }

    /// A record that promises what is not so is a fault, although all sums are right.
    @Test(
      arguments: [
        ("text", 0x0e, "a record marks a split asset as contiguous"),
        ("small", 0x0e, "a map asset does not begin at a page"), ("a.map", 0x0a, "bad record"), ("a.map", 0x0e, nil),
      ] as [(String, UInt8, String?)])
    func falsePromises(_ path: String, _ flags: UInt8, _ fault: String?) throws {
      let folder: Folder = [path: .file(path == "text" ? Self.text(20_000) : Self.noise(100))]
      let disk = try Self.store([:]).disk
      try Self.add(disk, try Store(disk), folder)
      try Forgery.setFlagsOfFirstRecord(disk, flags)
      let faults = try Store(disk).snapshot().faults(deep: true)
      #expect(faults.map { $0.hasPrefix(fault ?? "?") } == (fault == nil ? [] : [true]), "\(faults)")
      if path == "text" { #expect(try status { _ = try Self.borrow(Store(disk).snapshot(), path) } == PKS_CORRUPT) }
    }

    /// A segment's table is the only thing that says where an asset may lie already. One whose sums fit and whose rows lie must
    /// lead to nothing worse than an error, or a place that is not used.
    @Test func aTableThatLies() throws {
      let folder: Folder = [
        "a.map": .file(Self.noise(30_000)), "b.map": .file(Self.text(9_000)), "c": .file(Self.noise(700)),
      ]
      let (base, store) = try Self.store(folder)
      try store.commit { try $0.add("p", "/source", map: ["*.map"]) }
      base.put(["a.map": folder["a.map"]!, "d.map": folder["b.map"]!, "c": folder["c"]!], at: "/moved")
      var refusals = 0
      for path in base.list("/store/segments") {
        let length = Forgery.tableLength(base, "/store/segments/\(path)")
        for offset in stride(from: 0, to: length, by: 4) {
          for value in [0, 1, 0x7fff_ffff, UInt32.max] as [UInt32] {
            let disk = base.clone(), memory = pks__memory_counts_now().open
            Forgery.setWordOfTable(disk, "/store/segments/\(path)", offset, value)
            for pack in ["p", "q"] {
              refusals +=
                try status { try Store(disk).commit { try $0.add(pack, "/moved", map: ["*.map"]) } } == PKS_OK ? 0 : 1
            }
            _ = try? Store(disk).state()
            #expect(!disk.hasLeaks && pks__memory_counts_now().open == memory, "\(path), word at \(offset), \(value)")
          }
        }
      }
      #expect(refusals > 0)
    }

    /// Neither threads nor the order of listing show.
    @Test func determinism() throws {
      func segments(threads: UInt32) throws -> [String] {
        let home = try TemporaryFolder()
        let store = try Store(home.path + "/store", create: true, average: 4096, threads: threads)
        var folder: Folder = [:]
        for number in 0..<30 {
          folder["\(number).map"] = .file(Self.text(number * 3_000, UInt64(number % 9)))
          folder["\(number)"] = .file(Self.text(number * 2_000, UInt64(number % 7)))
        }
        for _ in 1...2 {
          let source = try home.put(folder, at: "source")
          try store.commit { try $0.add("p", source, map: ["*.map"]) }
          folder["29.map"] = .file(Self.text(90_000, 77))
        }
        return try home.list("store/segments")
      }
      let one = try segments(threads: 1)
      #expect(try segments(threads: 4) == one)
    }

    /// Random edits of random files, with and without the pattern, and runs that are joined meanwhile.
    @Test func randomHistories() throws {
      for seed in testSeeds(1...6) {
        var random = Random(seed), folder: Folder = [:], mapped: Set<String> = []
        let (disk, store) = try Self.store([:])
        for step in 0..<14 {
          var changed: Set<String> = []
          for _ in 0...random.below(3) {
            let path = "f\(random.below(6))"
            var bytes: [UInt8] = []
            if case .file(let old, _) = folder[path] { bytes = old }
            switch random.below(5) {
            case 0: bytes = random.text(random.below(60_000))
            case 1:
              bytes = random.pick(folder.values.compactMap { if case .file(let b, _) = $0 { b } else { nil } } + [[]])
            case 2: bytes.insert(contentsOf: random.bytes(3), at: random.below(bytes.count + 1))
            case 3: bytes.removeLast(random.below(bytes.count + 1))
            default: bytes += random.bytes(random.below(5_000))
            }
            if folder[path] != .file(bytes) { changed.insert(path) }
            folder[path] = .file(bytes)
          }
          let globs = random.pick([["f[0-3]"], ["f?"], []])
          let meant = globs.isEmpty ? [] : Set(folder.keys.filter { globs == ["f?"] || $0 < "f4" })
          mapped = mapped.subtracting(changed).union(meant).filter { folder[$0] != .file([]) }
          try Self.add(disk, store, folder, map: globs)
          #expect(try store.state()["p"]?.mapped == mapped, "seed \(seed), step \(step)")
        }
      }
    }
  }
}

/// Changes a store's index and makes all sums right again, as only an attacker would.
private enum Forgery {
  /// Of the one run of a store in its second generation.
  static func setFlagsOfFirstRecord(_ disk: Disk, _ flags: UInt8) throws {
    let name = try #require(disk.list("/store/index").first { $0.hasSuffix(".run") })
    let old = disk.read("/store/index/\(name)")!
    let run = resummed(old) { body in body[Int(word(body, 48)) + 1] = flags }
    disk.write(run, to: "/store/index/\(name)")

    let path = "/store/index/0000000000000002.generation"
    var generation = disk.read(path)!
    generation.replace(Array(old.suffix(8)), with: Array(run.suffix(8)))
    generation.replaceSubrange((generation.count - 8)..., with: sum(generation.dropLast(8)))
    disk.write(generation, to: path)

    var control = disk.read("/store/CONTROL")!
    for at in ControlFile.copies.map(\.offset) where word(control, at + 32) == 2 {
      control.replaceSubrange((at + 48)..<(at + 56), with: sum(generation[...]))
      control.replaceSubrange((at + 504)..<(at + 512), with: sum(control[at..<(at + 504)]))
    }
    disk.write(control, to: "/store/CONTROL")
  }

  /// Bytes of a file's table that are columns: up to the last that is no padding.
  static func tableLength(_ disk: Disk, _ path: String) -> Int {
    let file = disk.read(path)!, trailer = Array(file.suffix(64)), start = Int(word(trailer, 16))
    let body = file[start..<(start + Int(word(trailer, 24)))]
    return body.count - body.reversed().prefix { $0 == 0 }.count
  }

  static func setWordOfTable(_ disk: Disk, _ path: String, _ offset: Int, _ value: UInt32) {
    let forged = resummed(disk.read(path)!) { body in
      withUnsafeBytes(of: value.littleEndian) { for (at, byte) in $0.enumerated() { body[offset + at] = byte } }
    }
    disk.write(forged, to: path)
  }

  /// A table whose body fills one group.
  private static func resummed(_ file: [UInt8], _ change: (inout [UInt8]) -> Void) -> [UInt8] {
    let trailer = Array(file.suffix(64)), start = Int(word(trailer, 16)), length = Int(word(trailer, 24))
    var body = Array(file[start..<(start + length)])
    change(&body)
    let pages = stride(from: 0, to: length, by: 4096).flatMap { sum(body[$0..<($0 + 4096)]) }
    let group = sum(pages[...])
    let head = Array(trailer[..<40]) + sum(group[...]) + [UInt8](repeating: 0, count: 8)
    return file[..<start] + body + pages + group + head + sum(head[...])
  }

  private static func sum(_ bytes: ArraySlice<UInt8>) -> [UInt8] {
    withUnsafeBytes(of: bytes.withUnsafeBytes { pks__checksum($0.baseAddress, $0.count) }.littleEndian) { Array($0) }
  }

  private static func word(_ bytes: [UInt8], _ offset: Int) -> UInt64 {
    bytes[offset..<(offset + 8)].reversed().reduce(0) { $0 << 8 | UInt64($1) }
  }
}

extension Disk {
}
