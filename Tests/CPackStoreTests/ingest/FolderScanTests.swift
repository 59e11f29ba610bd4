import CPackStore
import CPackStoreTesting
import Foundation
import Testing

extension Core {
  /// Folders as they come: order, links, names, what cannot be stored.
  @Suite struct FolderScanTests {
    struct Notice: Equatable { var kind: UInt32, path: String, twin = "" }

    private final class Notices { var all: [Notice] = [] }

    private static func add(
      _ disk: Disk, _ store: Store, _ pack: String = "p", adjust: (inout pks_add_request) -> Void = { _ in }
    ) throws -> (status: pks_status, notices: [Notice]) {
      let notices = Notices()
      let status = try status {
        try store.commit { transaction in
          try transaction.add(pack, "/source") { request in
            request.context = Unmanaged.passUnretained(notices).toOpaque()
            request.notice = { context, notice in
              let notice = notice.pointee
              func text(_ start: UnsafePointer<CChar>?, _ count: Int) -> String {
                String(decoding: UnsafeRawBufferPointer(start: start, count: count), as: UTF8.self)
              }
              Unmanaged<Notices>.fromOpaque(context!).takeUnretainedValue().all.append(
                Notice(
                  kind: notice.kind.rawValue, path: text(notice.path, notice.path_length),
                  twin: text(notice.twin, notice.twin_length)))
            }
            adjust(&request)
          }
        }
      }
      return (status, notices.all.sorted { $0.path < $1.path })
    }

    private static func store(_ folder: Folder) throws -> (Disk, Store) {
      let disk = Disk()
      disk.put(folder, at: "/source")
      return (disk, try Store(disk, create: true))
    }

    /// An empty folder was listed where what is in it would stand, behind "x/". With a sibling such as "x.txt", whose name lies between
    /// "x" and "x/", the catalog's keys did not rise and the process was stopped.
    @Test func emptyFoldersBesideLongerNames() throws {
      let folder: Folder = [
        "x": .folder, "x.txt": .file("1"), "x-": .folder, "x--": .folder, "x!": .folder, "x!!/a": .folder,
        "x!!/a b": .file("2"), "y": .file("3"),
        "y z": .folder, "z": .folder, "z0": .folder,
      ]
      let (disk, store) = try Self.store(folder)
      #expect(try Self.add(disk, store).status == PKS_OK)
      #expect(try store.state()["p"]?.content == folder)
      let snapshot = try store.snapshot()
      #expect(try snapshot.descendants().map(\.path) == folder.keys.sorted())
      #expect(try snapshot.faults(deep: true) == [])
    }

    @Test func emptySource() throws {
      let (disk, store) = try Self.store([:])
      #expect(try Self.add(disk, store).status == PKS_OK)
      #expect(try store.state()["p"]?.content == [:])
      #expect(try store.snapshot().children() == [])
    }

    @Test func linksStoredFollowedRefused() throws {
      let folder: Folder = [
        "a/file": .file("text"), "link": .link("a/file"), "folder": .link("a"), "dangling": .link("nowhere"),
      ]
      let (disk, store) = try Self.store(folder)
      #expect(try Self.add(disk, store).status == PKS_OK)
      #expect(try store.state()["p"]?.content == folder)

      let refused = try Self.add(disk, store, "q") { $0.links = PKS_LINKS_REFUSE }
      #expect(refused.status == PKS_REFUSED)
      #expect(
        refused.notices
          == ["dangling", "folder", "link"].map { Notice(kind: PKS_NOTICE_LINK_REFUSED.rawValue, path: $0) },
        "all are listed")

      let dangling = try Self.add(disk, store, "q") { $0.links = PKS_LINKS_FOLLOW }
      #expect(
        dangling.status == PKS_REFUSED
          && dangling.notices == [Notice(kind: PKS_NOTICE_LINK_LOOP.rawValue, path: "dangling")])
      _ = sim_remove(disk.raw, "/source/dangling")
      #expect(try Self.add(disk, store, "q") { $0.links = PKS_LINKS_FOLLOW }.status == PKS_OK)
      #expect(
        try store.state()["q"]?.content == [
          "a/file": .file("text"), "link": .file("text"), "folder/file": .file("text"),
        ])
    }

    @Test func loopsOfLinks() throws {
      let (disk, store) = try Self.store(["a/b/up": .link("../.."), "self": .link("self")])
      let result = try Self.add(disk, store) { $0.links = PKS_LINKS_FOLLOW }
      #expect(result.status == PKS_REFUSED)
      #expect(result.notices.map(\.path) == ["a/b/up", "self"])
    }

    /// Links that were followed out of the folder brought in what was not meant, up to all of the machine.
    @Test func linksThatLeadOut() throws {
      let folder: Folder = [
        "a/inside": .link("../b/file"), "a/dots": .link("./../a//../b"), "b/file": .file("text"),
        "absolute": .link("/source/b"), "all": .link("/"), "a/above": .link("../../other"), "nowhere": .link("../none"),
        "chain": .link("a/above/x"), "b/back": .link("../../source/b/file"), "through": .link("a/dots/../../../other"),
      ]
      let out = ["a/above", "a/dots/back", "absolute", "all", "b/back", "chain", "nowhere", "through"]
      let (disk, store) = try Self.store(folder)
      disk.put(["x": .file("secret")], at: "/other")
      let refused = try Self.add(disk, store) { $0.links = PKS_LINKS_FOLLOW }
      #expect(refused.status == PKS_REFUSED)
      #expect(refused.notices == out.map { Notice(kind: PKS_NOTICE_LINK_OUT.rawValue, path: $0) })
      for path in ["all", "nowhere"] { _ = sim_remove(disk.raw, "/source/\(path)") }
      let unsafe = try Self.add(disk, store) {
        $0.links = PKS_LINKS_FOLLOW
        $0.unsafe_links = true
      }
      #expect(unsafe.status == PKS_OK, "\(unsafe.notices)")
      #expect(try store.state()["p"]?.content["a/above/x"] == .file("secret"))
      for path in out { _ = sim_remove(disk.raw, "/source/\(path)") }
      #expect(try Self.add(disk, store, "q") { $0.links = PKS_LINKS_FOLLOW }.status == PKS_OK)
      #expect(
        try store.state()["q"]?.content == [
          "a/inside": .file("text"), "a/dots/file": .file("text"), "b/file": .file("text"),
        ])
    }

    /// A listing may be as long as it likes: what it takes of private memory stays the same.
    @Test func memoryOfAListing() throws {
      func peak(_ count: Int) throws -> Int {
        let source = try TemporaryFolder()
        for index in 0..<count {
          let folder = source.path + "/some folder \(index / 100)"
          if index % 100 == 0 {
            try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
          }
          try Data().write(to: URL(fileURLWithPath: "\(folder)/a file with a name of some length \(index)"))
        }
        let home = try TemporaryFolder(), store = try Store(home.path + "/store", create: true)
        final class Peak { var bytes = 0 }
        let peak = Peak()
        try store.commit { transaction in
          try transaction.add("p", source.path) { request in
            request.context = Unmanaged.passUnretained(peak).toOpaque()
            request.progress = { context, progress in
              let peak = Unmanaged<Peak>.fromOpaque(context!).takeUnretainedValue()
              if progress.pointee.phase == PKS_PHASE_SCAN {
                peak.bytes = max(peak.bytes, Int(memory_in_use()))
              }
              return true
            }
          }
        }
        return peak.bytes
      }
      _ = try peak(100)
      let few = try peak(3_000), many = try peak(9_000)
      #expect(many <= few + (64 << 10), "\(few) and \(many) bytes")
    }

    @Test func twinsByCase() throws {
      let (disk, store) = try Self.store(["Name": .file("1"), "name": .file("2"), "a/X": .file("3"), "b/x": .file("4")])
      let warned = try Self.add(disk, store)
      #expect(warned.status == PKS_OK && warned.notices.map(\.kind) == [PKS_NOTICE_TWIN.rawValue])
      #expect(try Self.add(disk, store, "q") { $0.portable = true }.status == PKS_REFUSED)
    }

    /// Siblings that differ by case or normal form are reported with the first of them.
    @Test func twinsByFolding() throws {
      let folder: Folder = [
        "caf\u{e9}": .file("1"), "CAF\u{c9}": .file("3"), "x/Stra\u{df}e/a": .file("4"),
        "x/STRASSE/b": .file("5"), "y/caf\u{e9}": .file("6"), "z": .link("x"), "Z/a": .file("7"),
      ]
      let (disk, store) = try Self.store(folder)
      // To Swift's dictionaries both forms are one key.
      sim_put_file(disk.raw, "/source/cafe\u{301}", [2], 1)
      let warned = try Self.add(disk, store)
      #expect(warned.status == PKS_OK && warned.notices.allSatisfy { $0.kind == PKS_NOTICE_TWIN.rawValue })
      let expected = [
        ("cafe\u{301}", "CAF\u{c9}"), ("caf\u{e9}", "CAF\u{c9}"), ("x/Stra\u{df}e", "x/STRASSE"), ("z", "Z"),
      ]
      #expect(
        Set(warned.notices.map { Array("\($0.path) \($0.twin)".utf8) })
          == Set(expected.map { Array("\($0) \($1)".utf8) }))
      #expect(try Self.add(disk, store, "q") { $0.portable = true }.status == PKS_REFUSED)
    }

    /// A file with a secret is refused at any path, of any length and with any ends of lines, and nothing is stored.
    @Test(arguments: [
      "secret 1", "secret 1\n", "secret 1\r\nkey\r\n", "\u{feff}secret 1\nkey\n",
      "secret 1\n" + String(repeating: "k", count: 100_000), "secret 1\n" + String(repeating: "key ", count: 500_000),
    ])
    func secretsAreRefused(_ text: String) throws {
      for place in ["a", "deep/down/key", "z"] {
        var folder: Folder = ["b": .file("1"), "deep/large": .file([UInt8](repeating: 1, count: 3 << 20))]
        folder[place] = .file(text)
        let (disk, store) = try Self.store(folder)
        for map in [false, true] {
          let refused = try "*".withCString { glob in
            try "secret 1".withCString { line in
              try withUnsafePointer(to: UnsafePointer<CChar>(glob)) { globs in
                try Self.add(disk, store) {
                  $0.refused_first_line = line
                  $0.map_globs = map ? globs : nil
                  $0.map_glob_count = map ? 1 : 0
                }
              }
            }
          }
          #expect(refused.status == PKS_REFUSED)
          #expect(refused.notices == [Notice(kind: PKS_NOTICE_SECRET.rawValue, path: place)])
        }
        #expect(try store.state().isEmpty)
        #expect(try Self.add(disk, store).status == PKS_OK, "without the line nothing is refused")
      }
    }

    @Test(arguments: ["secret 12", "secret", " secret 1\n", "a\nsecret 1\n", ""]) func othersAreNoSecrets(
      _ text: String
    ) throws {
      let (disk, store) = try Self.store(["a": .file(text)])
      let result = try "secret 1".withCString { line in try Self.add(disk, store) { $0.refused_first_line = line } }
      #expect(result.status == PKS_OK)
    }

    @Test func aStoreInsideItsSourceIsLeftOut() throws {
      let disk = Disk()
      disk.put(["file": .file("1")], at: "/source")
      let store = try Store("/source/store", vfs: disk.vfs, create: true)
      let transaction = try store.begin()
      try transaction.add("p", "/source")
      _ = try transaction.commit()
      let content = try store.state()["p"]?.content
      #expect(content == ["file": .file("1")])
      let named = try Self.add(disk, store, "q")
      #expect(named.notices == [Notice(kind: PKS_NOTICE_OWN_STORE.rawValue, path: "store")])
      withExtendedLifetime(disk) {}
    }

    @Test func deepAndLongPaths() throws {
      let deep = (0..<150).map { _ in "d" }.joined(separator: "/") + "/file"
      let long = (0..<15).map { _ in String(repeating: "n", count: 250) }.joined(separator: "/")
      let folder: Folder = [
        deep: .file("deep"), long: .file("long"), String(repeating: "é", count: 120): .file("umlauts"),
      ]
      let (disk, store) = try Self.store(folder)
      #expect(try Self.add(disk, store).status == PKS_OK)
      #expect(try store.state()["p"]?.content == folder)
      #expect(try store.snapshot().find(deep).node == .file("deep"))
    }

    /// Assets of every size around the borders of chunks, frames and batches.
    @Test func sizesAroundBorders() throws {
      var random = Random(3), folder: Folder = [:]
      for border in [0, 1, 511, 512, 1_024, 4_095, 4_096, 32_768, 65_536, 131_072, 262_144] {
        for size in [border - 1, border, border + 1] where size >= 0 {
          folder["noise-\(size)"] = .file(random.bytes(size))
          folder["text-\(size)"] = .file(random.text(size))
        }
      }
      folder["zeros"] = .file([UInt8](repeating: 0, count: 600_000))
      folder["repeated"] = .file(
        (0..<40).flatMap { _ in Array("the same few bytes".utf8) + [UInt8](repeating: 1, count: 5_000) })
      let (disk, store) = try Self.store(folder)
      #expect(try Self.add(disk, store).status == PKS_OK)
      #expect(try store.state()["p"]?.content == folder)
      #expect(try store.snapshot().faults(deep: true) == [])
      try Self.checkReads(store.snapshot(), folder, &random)
    }

    /// Reads of any range, and borrowed whole assets, give the file's bytes.
    private static func checkReads(_ snapshot: Snapshot, _ folder: Folder, _ random: inout Random) throws {
      var borrowed = 0
      for (path, node) in folder {
        guard case .file(let bytes, _) = node else { continue }
        // The asset's path is the text that it was found with.
        borrowed += try path.withCString { try checkReads(snapshot, $0, bytes, &random) } ? 1 : 0
      }
      #expect(borrowed > 10)
    }

    /// Whether the asset could be borrowed.
    private static func checkReads(
      _ snapshot: Snapshot, _ path: UnsafePointer<CChar>, _ bytes: [UInt8], _ random: inout Random
    ) throws -> Bool {
      var asset = pks_asset(), loan = pks_bytes(), byte: UInt8 = 0
      let name: Comment = "\(String(cString: path))"
      try attempt { pks_snapshot_find(&asset, snapshot.raw, path, strlen(path), .max, $0) }
      for _ in 0..<5 {
        let offset = random.below(bytes.count + 1), length = random.below(bytes.count - offset + 1)
        var out = [UInt8](repeating: 0xee, count: length)
        try attempt { pks_asset_read(&asset, UInt64(offset), &out, length, $0) }
        #expect(out == Array(bytes[offset..<(offset + length)]), "\(name) from \(offset), \(length) bytes")
      }
      let beyond = try status { try attempt { pks_asset_read(&asset, UInt64(bytes.count), &byte, 1, $0) } }
      #expect(beyond == PKS_INVALID_ARGUMENT, name)
      let borrowed = try status { try attempt { pks_asset_borrow(&loan, &asset, $0) } }
      #expect(borrowed == (asset.contiguous || bytes.isEmpty ? PKS_OK : PKS_NOT_CONTIGUOUS), name)
      guard borrowed == PKS_OK else { return false }
      #expect(UnsafeRawBufferPointer(start: loan.bytes, count: loan.count).elementsEqual(bytes), name)
      return true
    }

    /// A file that changes while it is read is told, not stored half.
    @Test func vanishedFile() throws {
      let (disk, store) = try Self.store(["a": .file("1"), "b": .file("2")])
      sim_fail(disk.raw, SIM_CALL_OPEN, "/source/b", 0, ENOENT, false)
      #expect(try Self.add(disk, store).status == PKS_SOURCE_CHANGED)
      #expect(try Self.add(disk, store).status == PKS_OK)
    }
  }
}
