import CPackStore
import CPackStoreTesting
import Testing

extension Core {
  /// A walk over a store says of each fault what it is, where it lies, and which assets it hurts.
  @Suite struct VerifyTests {
    /// A pack of two versions, and one beside it; the older version has content that the newer has not.
    private static func disk() throws -> Disk {
      let disk = Disk(seed: 11)
      for (path, folder) in Change.folders { disk.put(folder, at: path) }
      let store = try Store(disk, create: true)
      try store.commit { try $0.add("p", "/other") }
      try store.commit { try $0.add("p", "/two") }
      try store.commit { try $0.add("q", "/one", priority: 3) }
      return disk
    }

    /// Which assets cannot be read, by pack.
    static func unreadable(_ disk: Disk) throws -> Set<String> {
      let snapshot = try Store(disk).snapshot()
      var bad: Set<String> = []
      for (index, pack) in snapshot.packs.enumerated() {
        let name = String(cString: pack.name)
        for path in Change.folders[name == "q" ? "/one" : "/two"]!.keys {
          if (try? snapshot.find(path, in: UInt32(index))) == nil { bad.insert("\(name) \(path)") }
        }
      }
      return bad
    }

    private static func hurt(_ faults: [Fault], of snapshot: Snapshot) -> Set<String> {
      let current = Dictionary(
        uniqueKeysWithValues: snapshot.packs.map { (String(cString: $0.name), $0.current.number) })
      return Set(
        faults.compactMap { fault in
          guard let pack = fault.pack, let asset = fault.asset, current[pack] == fault.version else { return nil }
          return "\(pack) \(asset)"
        })
    }

    /// How many assets the faults name. Only those of current versions were counted once, and so a fault that named an asset
    /// of an older one was said to hurt none.
    private static func named(_ faults: [Fault]) -> UInt64 {
      let assets = faults.compactMap { fault in fault.asset.map { [fault.pack ?? "", "\(fault.version)", $0] } }
      return UInt64(Set(assets).count)
    }

    @Test(arguments: [false, true]) func soundStore(deep: Bool) throws {
      let (faults, totals) = try Store(Self.disk()).snapshot().verify(deep: deep)
      #expect(faults.isEmpty && totals.fault_count == 0 && totals.asset_count == 0 && !totals.may_hide_commit)
    }

    /// One byte in each frame of each segment: the fault names segment, offset and length, and of the current versions
    /// exactly the assets that can no longer be read. What only an older version has is named with that version.
    @Test func everyFrame() throws {
      let base = try Self.disk()
      var olderOnly = 0, pages = 0
      for segment in base.list("/store/segments") {
        let path = "/store/segments/\(segment)"
        for frame in try frames(of: path, on: base) {
          let disk = base.clone()
          sim_corrupt(disk.raw, path, frame.lowerBound, 0x40)
          let snapshot = try Store(disk).snapshot()
          let (faults, totals) = try snapshot.verify(deep: true)
          let place: Comment = "\(segment), frame at \(frame.lowerBound): \(faults)"
          #expect(totals.fault_count == 1 && !faults.isEmpty, place)
          #expect(faults.allSatisfy { $0.file == "segments/\(segment)" && $0.offset == frame.lowerBound }, place)
          #expect(faults.allSatisfy { $0.length == UInt64(frame.count) && $0.text == "checksum mismatch" }, place)
          let bad = try Self.unreadable(disk)
          #expect(Self.hurt(faults, of: snapshot) == bad, place)
          #expect(totals.asset_count == Self.named(faults), place)
          #expect(faults.allSatisfy { $0.pack != nil }, place)
          if bad.isEmpty {
            olderOnly += faults.contains { $0.asset != nil } ? 1 : 0
            pages += faults.contains { $0.asset == nil } ? 1 : 0
          }
        }
      }
      #expect(olderOnly > 0 && pages > 0)
    }

    /// A segment that is gone or cut off, or whose table is damaged: the assets that cannot be read are named, and no
    /// others.
    @Test(arguments: 0..<5) func segments(damage: Int) throws {
      let base = try Self.disk()
      for segment in base.list("/store/segments") {
        let disk = base.clone(), path = "/store/segments/\(segment)"
        var bytes = try #require(disk.read(path))
        switch damage {
        case 0: sim_remove(disk.raw, path)
        case 1: bytes.removeLast(bytes.count / 2)
        case 2: bytes = []
        case 3: bytes[bytes.count - 4_096] ^= 1
        default: bytes[bytes.count - 1] ^= 1
        }
        if damage != 0 { sim_put_file(disk.raw, path, bytes, bytes.count) }
        let snapshot = try Store(disk).snapshot()
        let (faults, totals) = try snapshot.verify(deep: true)
        let bad = try Self.unreadable(disk)
        #expect(totals.asset_count == Self.named(faults), "\(segment): \(faults)")
        #expect(faults.contains { $0.file == "segments/\(segment)" }, "\(segment): \(faults)")
        #expect(Self.hurt(faults, of: snapshot) == bad, "\(segment): \(faults)")
      }
    }

    /// One byte in each page of each index run: the assets that cannot be found are named.
    @Test func indexRuns() throws {
      let base = Disk(seed: 13)
      var random = Random(13), named = 0
      base.put(
        Folder(uniqueKeysWithValues: (0..<300).map { ("folder \($0 % 7)/file \($0)", .file(random.text(50))) }),
        at: "/many")
      try Store(base, create: true).commit { try $0.add("p", "/many") }
      for run in base.list("/store/index") where run.hasSuffix(".run") {
        let path = "/store/index/\(run)", size = try #require(base.read(path)).count
        for offset in stride(from: 0, to: size, by: 1_000) {
          let disk = base.clone()
          sim_corrupt(disk.raw, path, UInt64(offset), 2)
          guard let snapshot = try? Store(disk).snapshot() else { continue }
          let (faults, totals) = try snapshot.verify(deep: true)
          let bad = Set(
            try Store(base).snapshot().descendants().map(\.path).filter { (try? snapshot.find($0)) == nil }.map {
              "p \($0)"
            })
          #expect(totals.fault_count >= 1, "\(run) at \(offset)")
          #expect(totals.asset_count == Self.named(faults), "\(run) at \(offset): \(faults)")
          // Where the run's tables of chunks are hit, catalogs are not found either: then all of the version is named.
          let hurt = Self.hurt(faults, of: snapshot), all = faults.contains { $0.pack == "p" && $0.asset == nil }
          #expect(all || hurt.isSuperset(of: bad), "\(run) at \(offset): \(faults), not \(bad)")
          named += hurt.count
        }
      }
      #expect(named > 0)
    }

    /// A damaged copy of a control slot is a fault, wherever it is damaged, though nothing depends on one; the next commit
    /// mends it.
    @Test func damagedCopies() throws {
      let base = try Self.disk(), newest = try Store(base).snapshot().generation
      for copy in ControlFile.copies {
        for at in [0, 8, 40, 300, 504, 511, 512, 4_095] {
          let disk = base.clone()
          disk.damageControl([copy], at: at)
          #expect(try Store(disk).snapshot().generation == newest, "\(copy), byte \(at)")
          let (faults, totals) = try Store(disk).snapshot().verify(deep: true)
          #expect(faults.count == 1 && totals.damaged_copy_count == 1 && !totals.may_hide_commit, "\(copy): \(faults)")
          #expect(faults.first?.file == "CONTROL" && faults.first?.offset == UInt64(copy.offset), "\(copy): \(faults)")
          try Store(disk).commit { try $0.add("next", "/small") }
          #expect(try Store(disk).snapshot().faults(deep: true).isEmpty)
        }
      }
    }
  }
}

/// Where the frames of a segment file lie.
func frames(of path: String, on disk: Disk) throws -> [Range<UInt64>] {
  let vfs = disk.vfs
  var folder: pks_vfs_file = -1, segment: UnsafeMutablePointer<pks__segment>?
  precondition(vfs.pointee.open_root(vfs.pointee.context, "/", false, &folder) == 0)
  defer { vfs.pointee.close(vfs.pointee.context, folder) }
  var id = pks__segment_id()
  try attempt { pks__segment_open(&segment, vfs, folder, String(path.dropFirst()), &id, $0) }
  defer { pks__segment_close(segment) }
  try attempt { pks__segment_need_table(segment, $0) }
  return try (0..<segment!.pointee.frame_count).map { index in
    var frame = pks__frame()
    try attempt { pks__segment_frame(segment, index, &frame, $0) }
    return frame.ref.offset..<frame.ref.offset + UInt64(frame.ref.stored_length)
  }
}
