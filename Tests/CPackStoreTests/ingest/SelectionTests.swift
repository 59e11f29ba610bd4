import CPackStore
import CPackStoreTesting
import Foundation
import Testing

extension Core {
  /// What is selected of a folder is stored as if it lay in a folder of its own.
  @Suite struct SelectionTests {
    /// Where a path of the pack comes from, in a folder that is laid out in another way.
    private static func source(of path: String) -> String {
      let hash = path.utf8.reduce(5381 as UInt32) { $0 &* 33 &+ UInt32($1) }
      return "shelf \(hash % 13)/\(hash)-\(path.utf8.count)"
    }

    private static func entries(_ folder: Folder) -> [(path: String, source: String)] {
      folder.keys.sorted { $0.utf8.lexicographicallyPrecedes($1.utf8) }.map { ($0, source(of: $0)) }
    }

    /// The same nodes where the entries say that they come from.
    private static func moved(_ folder: Folder) -> Folder {
      Folder(uniqueKeysWithValues: folder.map { (source(of: $0.key), $0.value) })
    }

    /// Thousands of files of all sizes, links, empty folders, programs, and names that sort badly.
    private static func large(_ seed: UInt64) -> Folder {
      var random = Random(seed), folder = Folder.sample(seed: seed)
      for number in 0..<2_500 {
        let text = random.chance(1, in: 2), count = random.below(number % 50 == 0 ? 40_000 : 600)
        folder["\(number % 17)/\(number % 5) x/f\(number)"] = .file(
          text ? random.text(count) : random.bytes(count), executable: number % 7 == 0)
        if number % 100 == 0 { folder["\(number % 17)/links/l\(number)"] = .link("../f\(number)") }
        if number % 90 == 0 { folder["\(number % 17)/void \(number)"] = .folder }
      }
      for name in ["x", "x-", "x!", "y z"] { folder[name] = .folder }
      for name in ["x.txt", "x!!/a b", "x0/é", "y"] { folder[name] = .file(random.text(300)) }
      return folder
    }

    /// Installs folders one after another, as versions of a pack. Returns the segments with their bytes, and what each version is.
    private static func install(
      _ folders: [Folder], threads: UInt32, _ add: (Transaction, Folder, TemporaryFolder) throws -> pks_add_result
    ) throws -> [String] {
      let home = try TemporaryFolder()
      let store = try Store(home.path + "/store", create: true, average: 4096, threads: threads)
      var lines: [String] = []
      for folder in folders {
        var result = pks_add_result()
        try store.commit { result = try add($0, folder, home) }
        let version = result.version
        lines += [
          hex(withUnsafeBytes(of: version.catalog) { Array($0) }),
          hex(withUnsafeBytes(of: version.layout) { Array($0) }),
          "\(version.file_count) \(version.link_count) \(version.folder_count) \(version.logical_bytes)",
          "\(result.chunk_count) \(result.new_chunk_count) \(result.mapped_count)",
        ]
        #expect(try store.state()["p"]?.content == folder)
      }
      #expect(try store.snapshot().faults(deep: true) == [])
      return try lines
        + home.list("store/segments").map {
          "\($0) \(hex(pks__id(of: Array(try home.read("store/segments/\($0)"))).array))"
        }
    }

    @Test func equalsAFolderLaidOutSo() throws {
      let map = ["large", "*/0 x/f?50", "tool"]
      var second = Self.large(3)
      for number in stride(from: 0, to: 2_500, by: 9) { second["\(number % 17)/\(number % 5) x/f\(number)"] = nil }
      second["large"] = .file(Array("another".utf8))
      let folders = [Self.large(3), second]
      let plain = try Self.install(folders, threads: 2) { transaction, folder, home in
        try transaction.add("p", home.put(folder, at: "plain"), map: map)
      }
      for threads in [1, 3] as [UInt32] {
        let selected = try Self.install(folders, threads: threads) { transaction, folder, home in
          try transaction.select("p", home.put(Self.moved(folder), at: "moved"), Self.entries(folder), map: map)
        }
        #expect(selected == plain, "\(threads) threads")
      }
    }

    // MARK: What is taken

    private final class Notices { var all: [String] = [] }

    /// Selects of `/source`, and says what came of it.
    private static func select(
      _ store: Store, _ entries: [(String, String)], _ pack: String = "p",
      adjust: (inout pks_add_request) -> Void = { _ in }
    ) throws -> (status: pks_status, notices: [String]) {
      let notices = Notices()
      let status = try status {
        try store.commit { transaction in
          try transaction.select(pack, "/source", entries) { request in
            request.context = Unmanaged.passUnretained(notices).toOpaque()
            request.notice = { context, notice in
              let notice = notice.pointee
              let path = String(
                decoding: UnsafeRawBufferPointer(start: notice.path, count: notice.path_length), as: UTF8.self)
              let twin = String(
                decoding: UnsafeRawBufferPointer(start: notice.twin, count: notice.twin_length), as: UTF8.self)
              Unmanaged<Notices>.fromOpaque(context!).takeUnretainedValue().all.append(
                "\(notice.kind.rawValue) \(path)" + (twin.isEmpty ? "" : " \(twin)"))
            }
            adjust(&request)
          }
        }
      }
      return (status, notices.all)
    }

    private static func store(_ folder: Folder) throws -> (Disk, Store) {
      let disk = Disk()
      disk.put(folder, at: "/source")
      return (disk, try Store(disk, create: true))
    }

    /// One source may be taken under many paths. A folder is an empty one, whatever it holds, but where something lies below.
    @Test func sourcesAndFolders() throws {
      let (disk, store) = try Self.store(["a/b/file": .file("1"), "tool": .file([2], executable: true)])
      let entries = [
        ("bare", "a"), ("full", "a"), ("full/x", "a/b/file"), ("full.txt", "a/b/file"), ("tool", "tool"),
      ].sorted { $0.0 < $1.0 }
      #expect(try Self.select(store, entries).status == PKS_OK)
      #expect(
        try store.state()["p"]?.content == [
          "bare": .folder, "full/x": .file("1"), "full.txt": .file("1"), "tool": .file([2], executable: true),
        ])
      #expect(try store.snapshot().faults(deep: true) == [])
      withExtendedLifetime(disk) {}
    }

    @Test func twinsByCase() throws {
      let (disk, store) = try Self.store(["f": .file("1")])
      let entries = ["Dir/x", "DIR/x", "dir/x", "n/A", "n/a", "n/b"].sorted().map { ($0, "f") }
      let warned = try Self.select(store, entries)
      #expect(warned.status == PKS_OK)
      #expect(warned.notices == ["Dir DIR", "dir DIR", "n/a n/A"].map { "\(PKS_NOTICE_TWIN.rawValue) \($0)" })
      #expect(try Self.select(store, entries, "q") { $0.portable = true }.status == PKS_REFUSED)
      withExtendedLifetime(disk) {}
    }

    @Test func twinsByNormalForm() throws {
      let (disk, store) = try Self.store(["f": .file("1")])
      let entries = ["caf\u{e9}/x", "cafe\u{301}/x", "x/\u{c9}", "x/\u{e9}"].sorted {
        $0.utf8.lexicographicallyPrecedes($1.utf8)
      }
      .map { ($0, "f") }
      let warned = try Self.select(store, entries)
      #expect(warned.status == PKS_OK)
      #expect(
        warned.notices
          == ["caf\u{e9} cafe\u{301}", "x/\u{e9} x/\u{c9}"].map { "\(PKS_NOTICE_TWIN.rawValue) \($0)" })
      #expect(try Self.select(store, entries, "q") { $0.portable = true }.status == PKS_REFUSED)
      withExtendedLifetime(disk) {}
    }

    /// The notice names the source, under whatever path it would be stored.
    @Test func secretsAreRefused() throws {
      let (disk, store) = try Self.store(["keys/site.key": .file("secret 1\nkey\n"), "f": .file("1")])
      try "secret 1".withCString { line in
        let refused = try Self.select(store, [("a", "f"), ("b", "keys/site.key")]) { $0.refused_first_line = line }
        #expect(refused.status == PKS_REFUSED)
        #expect(refused.notices == ["\(PKS_NOTICE_SECRET.rawValue) keys/site.key"])
      }
      withExtendedLifetime(disk) {}
    }

    // MARK: Links

    @Test func noLinkIsFollowedOnTheWay() throws {
      let (disk, store) = try Self.store([
        "in/file": .file("1"), "out": .link("/other"), "self": .link("in"), "in/up": .link("../file"),
      ])
      disk.put(["secret": .file("2"), "pointer": .link("secret")], at: "/other")
      for source in ["out/secret", "out/pointer", "self/file", "self/up"] {
        let refused = try Self.select(store, [("x", source)])
        #expect(refused.status == PKS_REFUSED, "\(source)")
        #expect(refused.notices == ["\(PKS_NOTICE_UNREADABLE.rawValue) \(source)"])
      }
      #expect(try Self.select(store, [("l", "self"), ("up", "in/up")]).status == PKS_OK)
      #expect(try store.state()["p"]?.content == ["l": .link("in"), "up": .link("../file")])
    }

    @Test func followedLinksStayInside() throws {
      let (disk, store) = try Self.store([
        "in/file": .file("1"), "out": .link("/other"), "near": .link("in"), "link": .link("near/file"),
        "none": .link("nowhere"),
      ])
      disk.put(["secret": .file("2")], at: "/other")
      let follow = { (request: inout pks_add_request) in request.links = PKS_LINKS_FOLLOW }
      let refused = try Self.select(store, [("a", "out/secret"), ("b", "none")], adjust: follow)
      #expect(refused.status == PKS_REFUSED)
      #expect(
        refused.notices
          == ["\(PKS_NOTICE_LINK_OUT.rawValue) out/secret", "\(PKS_NOTICE_LINK_LOOP.rawValue) none"])
      #expect(try Self.select(store, [("a", "near")], adjust: follow).status == PKS_WRONG_KIND)
      #expect(try Self.select(store, [("a", "near/file"), ("b", "link")], adjust: follow).status == PKS_OK)
      #expect(try store.state()["p"]?.content == ["a": .file("1"), "b": .file("1")])
      let all = try Self.select(store, [("a", "link")]) { $0.links = PKS_LINKS_REFUSE }
      #expect(all.status == PKS_REFUSED && all.notices == ["\(PKS_NOTICE_LINK_REFUSED.rawValue) link"])
      withExtendedLifetime(disk) {}
    }

    // MARK: Bad lists

    @Test func hostileLists() throws {
      let (disk, store) = try Self.store(["f": .file("1"), "d/f": .file("2")])
      let long = String(repeating: "n/", count: 2_000) + "n"
      let bad: [[(String, String)]] = [
        [("a", "f"), ("a", "d/f")], [("b", "f"), ("a", "f")], [("a", "f"), ("a/b", "f")],
        [("a", "f"), ("a.txt", "f"), ("a/b/c", "f")], [("", "f")], [("/a", "f")], [("a/", "f")], [("a//b", "f")],
        [("../a", "f")], [("a/./b", "f")], [("..", "f")], [(long, "f")],
        [(String(repeating: "n", count: 256), "f")], [("a", "")], [("a", "/source/f")], [("a", "../source/f")],
        [("a", "d/../f")], [("a", ".")], [("a", long)],
      ]
      for entries in bad { #expect(try Self.select(store, entries).status == PKS_INVALID_ARGUMENT, "\(entries)") }
      let missing = try Self.select(store, [("a", "f"), ("b", "g"), ("c", "d/g"), ("d", "f/g")])
      #expect(missing.status == PKS_REFUSED)
      #expect(missing.notices == ["g", "d/g", "f/g"].map { "\(PKS_NOTICE_UNREADABLE.rawValue) \($0)" })
      let none = try Self.select(store, [("a", "f")]) { $0.entry_count = 0 }
      #expect(none.status == PKS_INVALID_ARGUMENT)
      #expect(try Self.select(store, [("a", "f")]) { $0.entries = nil }.status == PKS_INVALID_ARGUMENT)
      #expect(try store.snapshot().packs.isEmpty)
      withExtendedLifetime(disk) {}
    }

    /// Names that an author chose so that they differ by case alone cost no more than others.
    @Test func manyTwins() throws {
      let (disk, store) = try Self.store(["f": .file("1")])
      let entries = (0..<4_096).map { bits in
        String(decoding: (0..<12).map { bits >> $0 & 1 == 0 ? UInt8(ascii: "a") : UInt8(ascii: "A") }, as: UTF8.self)
      }.sorted().map { ($0, "f") }
      let result = try Self.select(store, entries)
      #expect(result.status == PKS_OK && result.notices.count == 4_095)
      withExtendedLifetime(disk) {}
    }

    /// A file that is replaced between the listing and the reading is an error, named as it lies in the folder.
    @Test func sourcesThatChange() throws {
      let (disk, store) = try Self.store(["in/f": .file("1")])
      sim_fail(disk.raw, SIM_CALL_OPEN, "/source/in/f", 0, ENOENT, false)
      do {
        try store.commit { try $0.select("p", "/source", [("a", "in/f")]) }
        Issue.record("the file was gone")
      } catch let failure as Failure {
        #expect(failure.status == PKS_SOURCE_CHANGED)
        #expect("\(failure)".contains("in/f"))
      }
    }
  }
}
