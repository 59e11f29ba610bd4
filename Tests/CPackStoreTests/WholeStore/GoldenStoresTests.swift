import CPackStore
import CPackStoreTesting
import Foundation
import Testing

extension Core {
  /// Stores that an earlier version of this library wrote, in `Tests/Golden` by the version of the format: this one reads them,
  /// goes on with them, and loses nothing.
  @Suite struct GoldenStoresTests {
    private static let version = "1"
    private static let names = ["kinds", "history", "pulled", "purgeable", "above"]
    private static let golden = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
      .deletingLastPathComponent().appending(path: "Golden/\(version)")

    private static func expected(_ name: String) throws -> Data {
      try Data(contentsOf: golden.appending(path: "\(name).json"))
    }

    /// The stores of `Golden` in a folder of their own, which may be changed.
    private struct Copy {
      let home = try! TemporaryFolder()
      private let folder: String

      init() throws {
        folder = home.path + "/golden"
        try FileManager.default.copyItem(atPath: GoldenStoresTests.golden.path, toPath: folder)
      }

      func open(_ name: String, readOnly: Bool = false) throws -> Store {
        try Store("\(folder)/\(name)", readOnly: readOnly, base: name == "above" ? "\(folder)/base" : nil)
      }

      /// As it was made: a cache folder is named by an absolute path, and in it the store's own by its id and inode.
      func openWhole(_ name: String) throws -> Store {
        let store = try open(name)
        guard name == "purgeable" else { return store }
        let files = FileManager.default
        let inode = try #require(
          files.attributesOfItem(atPath: "\(folder)/\(name)")[.systemFileNumber] as? NSNumber)
        let own = try #require(files.contentsOfDirectory(atPath: "\(folder)/cache").first)
        let digits = String(inode.uint64Value, radix: 16)
        let here = own.prefix(33) + String(repeating: "0", count: 16 - digits.count) + digits
        try files.moveItem(atPath: "\(folder)/cache/\(own)", toPath: "\(folder)/cache/\(here)")
        try store.commit(gcPercent: 0) { try $0.chooseCache("\(folder)/cache") }
        return store
      }
    }

    // MARK: Tests

    @Test(.disabled(if: isMaking), arguments: names) func isReadAsItWasWritten(_ name: String) throws {
      let copy = try Copy(), store = try copy.openWhole(name), snapshot = try store.snapshot()
      var shown = try IndependentReaderTests.describe(store)
      let expected = try JSONDecoder().decode(IndependentReaderTests.Reading.self, from: Self.expected(name))
      shown.generation = expected.generation  // a cache folder may have been chosen again
      #expect(shown == expected)
      #expect(try snapshot.faults(deep: true) == [])
    }

    @Test(.disabled(if: isMaking), arguments: names) func isReadWithoutWriting(_ name: String) throws {
      let copy = try Copy(), snapshot = try copy.open(name, readOnly: true).snapshot()
      let expected = try JSONDecoder().decode(IndependentReaderTests.Reading.self, from: Self.expected(name))
      #expect(snapshot.generation == expected.generation)
      for pack in snapshot.packs {
        let (content, purged) = try snapshot.readable(String(cString: pack.name))
        let assets = expected.packs?.first { $0.name == String(cString: pack.name) }?.assets ?? []
        #expect(Set(content.keys).union(purged) == Set(assets.map(\.path)) && (purged.isEmpty || name == "purgeable"))
      }
    }

    /// Every kept version can be gone back to, and all that the store has outlives new versions and a collection.
    @Test(.disabled(if: isMaking), arguments: names) func isGoneOnWith(_ name: String) throws {
      let copy = try Copy(), store = try copy.openWhole(name)
      let before = try IndependentReaderTests.describe(store)
      let source = try copy.home.put(Change.folders["/two"]!, at: "source")
      try store.commit(keep: 9) { try $0.add("new", source, dictionary: .text) }
      for pack in try #require(before.packs) where !pack.removed {
        for version in pack.versions.dropFirst() {
          try store.commit(keep: 9) { try $0.rollBack(pack.name, to: version.number) }
        }
        try store.commit(keep: 9) { try $0.rollBack(pack.name, to: pack.versions[0].number) }
      }
      _ = try store.collect()
      let after = try IndependentReaderTests.describe(store)
      for pack in try #require(before.packs) {
        let other = try #require(after.packs?.first { $0.name == pack.name })
        #expect(other.assets == pack.assets && Set(other.versions.map(\.number)) == Set(pack.versions.map(\.number)))
      }
      #expect(try store.snapshot().faults(deep: true) == [])
    }

    /// By the second reader; not those of which a part lies elsewhere.
    @Test(.disabled(if: isMaking)) func areReadAlike() throws {
      let names = ["kinds", "history", "pulled"]
      for (name, reading) in zip(
        names, try IndependentReaderTests.read(names.map { Self.golden.appending(path: $0).path }, ["--cuts"]))
      {
        #expect(
          try reading == JSONDecoder().decode(IndependentReaderTests.Reading.self, from: Self.expected(name)), "\(name)"
        )
      }
    }

    // MARK: Making them

    private static var isMaking: Bool { ProcessInfo.processInfo.environment["PACKSTORE_REGENERATE_GOLDEN"] == "1" }

    @Test(.enabled(if: isMaking)) func makeThoseThatAreMissing() throws {
      for name in Self.names where !FileManager.default.fileExists(atPath: Self.golden.appending(path: name).path) {
        try Self.make(name)
      }
    }

    private static func make(_ name: String) throws {
      let disk = Disk(seed: 0x601d)
      for (path, folder) in Change.folders { disk.put(folder, at: path) }
      disk.put(kinds, at: "/kinds")
      switch name {
      case "kinds": try makeKinds(disk)
      case "history": try makeHistory(disk)
      case "pulled": try makePulled(disk)
      case "purgeable": try makePurgeable(disk)
      default: try makeAbove(disk)
      }
      try write(disk, "/store", to: name)
      if name == "purgeable" { try write(disk, "/cache", to: "cache") }
      if name == "above" { try write(disk, "/base", to: "base") }
      let encoder = JSONEncoder()
      encoder.outputFormatting = [.sortedKeys, .prettyPrinted, .withoutEscapingSlashes]
      let reading = try IndependentReaderTests.describe(Store(disk, base: name == "above" ? "/base" : nil))
      try encoder.encode(reading).write(to: golden.appending(path: "\(name).json"))
    }

    private static func write(_ disk: Disk, _ root: String, to name: String) throws {
      for path in disk.list(root) {
        guard let bytes = disk.read("\(root)/\(path)") else { continue }
        let file = golden.appending(path: "\(name)/\(path)")
        try FileManager.default.createDirectory(at: file.deletingLastPathComponent(), withIntermediateDirectories: true)
        try Data(bytes).write(to: file)
      }
    }

    private static let kinds: Folder = {
      var random = Random(0x601d)
      var folder: Folder = [
        "README": .file("a golden store\n"), "bin/tool": .file(random.bytes(700), executable: true),
        "data/list": .file(random.prose(150_000)), "data/noise": .file(random.bytes(9_000)),
        "data/zeros": .file([UInt8](repeating: 0, count: 90_000)), "empty": .file([]), "empty folder": .folder,
        "link": .link("data/list"), "map/noise.map": .file(random.bytes(5_000)),
        "map/text.map": .file(random.text(9_000)), "map/empty.map": .file([]),
        "näme/ /\u{1F33F}": .file("a name of many bytes\n"),
      ]
      for number in 0..<40 { folder["small/\(number)"] = .file(random.text(20 + 29 * number)) }
      return folder
    }()

    private static func makeKinds(_ disk: Disk) throws {
      let store = try Store(disk, create: true)
      try store.commit { try $0.add("random", "/kinds", priority: -3, map: ["*.map"], dictionary: .text) }
      try store.commit { try $0.add("sequential", "/one") { $0.layout = PKS_LAYOUT_SEQUENTIAL } }
      try store.commit { try $0.add("compact", "/other", priority: 7) { $0.layout = PKS_LAYOUT_COMPACT } }
      try store.commit { try $0.add("small", "/small", dictionary: .other) }
    }

    private static func makeHistory(_ disk: Disk) throws {
      let store = try Store(disk, create: true)
      for folder in ["/one", "/two", "/other", "/two"] { try store.commit(keep: 4) { try $0.add("p", folder) } }
      try store.commit(keep: 4) {
        try $0.pin("p", 2)
        try $0.rollBack("p", to: 1)
      }
      for folder in ["/small", "/one"] { try store.commit { try $0.add("gone", folder) } }
      try store.commit { try $0.remove("gone", keepHistory: true) }
      for number in 0..<4 { try store.commit { try $0.add("run-\(number)", "/small") } }
    }

    private static func makePulled(_ disk: Disk) throws {
      let publisher = Disk(seed: 0x601e)
      for (path, folder) in Change.folders { publisher.put(folder, at: path) }
      let published = try Store(publisher, create: true)
      for folder in ["/one", "/two"] { try published.commit(keep: 9) { try $0.add("p", folder, dictionary: .text) } }
      let store = try Store(disk, create: true)
      try store.commit { try $0.add("q", "/one") }
      for (version, sequence) in [(1, 5), (2, 9), (1, 12)] as [(UInt64, UInt64)] {
        let transaction = try store.begin(keep: 4)
        let delivery = try Delivery(try Site(publisher, version: version), into: transaction) {
          $0.provenance = ProvenanceTests.by(1, "game", serial: 3, q: sequence)
        }
        try delivery?.run()
        try delivery?.stage()
        _ = try transaction.commit()
        delivery?.close(discard: true)
      }
    }

    private static func makePurgeable(_ disk: Disk) throws {
      let store = try Store(disk, create: true)
      try store.commit { try $0.chooseCache("/cache", budget: 1 << 30) }
      try store.commit { try $0.add("q", "/two") { $0.placement = PKS_PLACE_DURABLE } }
      try store.commit {
        try $0.add("p", "/other", dictionary: .text) { $0.placement = PKS_PLACE_PURGEABLE }
      }
      try store.commit { try $0.add("p", "/one") { $0.placement = PKS_PLACE_KEEP } }
    }

    private static func makeAbove(_ disk: Disk) throws {
      try disk.makeBase("/base") { try $0.add("b", "/one", map: ["large"], dictionary: .text) }
      let store = try Store(disk, create: true, base: "/base")
      try store.adoptBase()
      try store.commit { try $0.add("b", "/two") }
      try store.commit { try $0.add("own", "/other") }
    }
  }
}
