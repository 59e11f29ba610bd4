import CPackStore
import CPackStoreTesting
import Foundation
import Testing

extension Core {
  /// Stores as the core shows them, beside what a reader in Python makes of them that was written from `Docs/FORMAT.md` alone.
  /// It checks all that the page asks of writers too, cuts every asset again and computes every catalog.
  @Suite struct IndependentReaderTests {
    struct Reading: Codable, Equatable {
      struct Version: Codable, Equatable {
        var number: UInt64
        var catalog: String
        var committed_ns: Int64
        var files, links, folders, bytes: UInt64
        var pinned: Bool
      }
      struct Asset: Codable, Equatable {
        var path, kind: String
        var size: Int?
        var executable: Bool?
        var sha256: String?
        var map: Bool?
        var target: String?
      }
      struct Pack: Codable, Equatable {
        var name: String
        var priority: Int32
        var held, removed: Bool
        var versions: [Version]
        var assets: [Asset]
      }
      var error: String?
      var unmet: [String]?
      var generation: UInt64?
      var packs: [Pack]?
      var visible: [[String]]?
    }

    private static let reader = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
      .deletingLastPathComponent()
      .appending(path: "Reader/packstore_reader.py").path

    private static func run(_ arguments: [String]) throws -> Data {
      let process = Process(), pipe = Pipe()
      process.executableURL = URL(filePath: "/usr/bin/env")
      process.arguments = ["python3", reader] + arguments
      process.standardOutput = pipe
      try process.run()
      let output = try pipe.fileHandleForReading.readToEnd() ?? Data()
      process.waitUntilExit()
      return output
    }

    static func read(_ stores: [String], _ options: [String] = []) throws -> [Reading] {
      let lines = try run(["--json"] + options + stores).split(separator: UInt8(ascii: "\n"))
      return try lines.map { try JSONDecoder().decode(Reading.self, from: $0) }
    }

    // MARK: What the core shows

    static func describe(_ store: Store) throws -> Reading {
      let snapshot = try store.snapshot()
      let count = pks_snapshot_pack_count(snapshot.raw), removed = pks_snapshot_removed_count(snapshot.raw)
      var packs = try (0..<count + removed).map { index in
        let pack = pks_snapshot_pack(snapshot.raw, index)
        let versions = (0..<pack.version_count).map { kept in
          let version = pks_snapshot_version(snapshot.raw, index, kept)
          return Reading.Version(
            number: version.number, catalog: hex(withUnsafeBytes(of: version.catalog) { Array($0) }),
            committed_ns: version.committed_at_ns, files: version.file_count, links: version.link_count,
            folders: version.folder_count, bytes: version.logical_bytes, pinned: version.pinned)
        }
        let entries = try index < count ? snapshot.descendants(in: index) : []
        let assets = entries.map { entry in
          var asset = Reading.Asset(path: entry.path, kind: "folder")
          switch entry.node {
          case .file(let bytes, let executable):
            asset.kind = "file"
            asset.size = bytes.count
            asset.executable = executable
            asset.sha256 = hex(bytes.withUnsafeBytes { pks__id(of: $0) }.array)
            asset.map = entry.mapped
          case .link(let target):
            asset.kind = "link"
            asset.target = hex(Array(target.utf8))
          case .folder: break
          }
          return asset
        }
        return Reading.Pack(
          name: String(cString: pack.name), priority: pack.priority, held: pack.held, removed: pack.removed,
          versions: versions, assets: assets)
      }
      packs = packs.filter { !$0.removed } + packs.filter(\.removed).sorted { $0.name < $1.name }
      let names = snapshot.packNames
      let visible = try snapshot.descendants().map { [$0.path, names[Int($0.pack)]] }
      return Reading(unmet: [], generation: snapshot.generation, packs: packs, visible: visible)
    }

    // MARK: Stores

    private struct Made {
      var path: String
      var reading: Reading
    }

    /// Packs whose names meet in all ways: files, links and empty folders at few paths, many of them within each other.
    private static func contest(_ random: inout Random) -> Folder {
      var folder: Folder = [:]
      for _ in 0..<12 {
        let path = (0...random.below(3)).map { _ in random.pick(["a", "b", "a-", "é"]) }.joined(separator: "/")
        let meets = folder.keys.contains { $0.hasPrefix(path + "/") || path.hasPrefix($0 + "/") }
        guard !meets else { continue }
        folder[path] =
          switch random.below(6) {
          case 0: .link(random.pick(["a", "../b", "/nowhere"]))
          case 1: .folder
          case 2: .file([])
          default: .file(random.text(1 + random.below(3_000)), executable: random.chance(1, in: 4))
          }
      }
      return folder
    }

    private static func makeContest(_ home: TemporaryFolder, seed: UInt64) throws -> Made {
      var random = Random(seed)
      let path = "\(home.path)/contest \(seed)", store = try Store(path, create: true)
      for step in 0..<8 {
        let source = try home.put(contest(&random), at: "source")
        let pack = random.pick(["p", "q", "r", "s"]), priority = Int32(random.below(3)) - 1
        let isThere = try store.snapshot().packNames.contains(pack)
        try store.commit(step == 7 && random.chance(1, in: 2) ? PKS_ATOMIC : PKS_DURABLE, keep: 3) {
          if isThere && random.chance(1, in: 5) {
            try $0.remove(pack, keepHistory: random.chance(1, in: 2))
          } else {
            let dictionary: SampleDictionary? = random.chance(1, in: 2) ? .text : nil
            try $0.add(
              pack, source, priority: random.chance(1, in: 2) ? priority : nil, dictionary: dictionary)
          }
        }
      }
      return Made(path: path, reading: try describe(store))
    }

    /// Trees of several levels, long lists of chunks, runs of equal ones, shared and sequential frames, map assets that move.
    private static func makeLarge(_ home: TemporaryFolder, seed: UInt64) throws -> Made {
      var random = Random(seed)
      let path = "\(home.path)/large", store = try Store(path, create: true, threads: 2)
      var folder: Folder = [
        "list": .file(random.prose(700_000)), "noise": .file(random.bytes(200_000)),
        "zeros": .file([UInt8](repeating: 0, count: 300_000)), "x/texture.map": .file(random.bytes(90_000)),
        "x/text.map": .file(random.text(20_000)), "x/empty.map": .file([]),
      ]
      for number in 0..<700 {
        folder["many/\(number % 13)/a name that takes some room in pages \(number)"] = .file(
          random.text(20 + number % 90))
      }
      try store.commit { try $0.add("large", home.put(folder, at: "source"), map: ["*.map"]) }
      guard case .file(var list, _) = folder["list"] else { fatalError() }
      list.replaceSubrange(300_000..<300_100, with: random.bytes(150))
      folder["list"] = .file(list)
      folder["x/text.map"] = .file(random.text(20_500))
      for number in stride(from: 0, to: 700, by: 50) {
        folder["many/\(number % 13)/a name that takes some room in pages \(number)"] = nil
      }
      try store.commit { try $0.add("large", home.put(folder, at: "source"), map: ["*.map"]) }
      folder["noise"] = .file(random.bytes(100_000))
      let source = try home.put(folder, at: "source")
      try store.commit { try $0.add("sequential", source) { $0.layout = PKS_LAYOUT_SEQUENTIAL } }
      folder["list"] = .file(random.prose(600_000))
      let changed = try home.put(folder, at: "source")
      try store.commit { try $0.add("compact", changed) { $0.layout = PKS_LAYOUT_COMPACT } }
      try store.commit {
        try $0.pin("large", 2)
        try $0.rollBack("large", to: 1)
      }
      for number in 0..<6 {
        try store.commit {
          try $0.add("run \(number)".replacing(" ", with: "-"), home.put(["n\(number)": .file("n")], at: "s"))
        }
      }
      return Made(path: path, reading: try describe(store))
    }

    // MARK: Tests

    @Test func readAlike() throws {
      let seed = testSeed(41), home = try TemporaryFolder()
      var made = try (0..<12).map { try Self.makeContest(home, seed: seed &+ $0) }
      made.append(try Self.makeLarge(home, seed: seed))
      let empty = home.path + "/empty"
      made.append(Made(path: empty, reading: try Self.describe(Store(empty, create: true))))
      let readings = try Self.read(made.map(\.path), ["--cuts"])
      #expect(readings.count == made.count)
      for (reading, made) in zip(readings, made) {
        #expect(reading.error == nil && reading.unmet == [], "seed \(seed), \(made.path): \(reading.error ?? "")")
        #expect(
          reading.generation == made.reading.generation && reading.visible == made.reading.visible, "seed \(seed)")
        #expect(reading.packs == made.reading.packs, "seed \(seed), \(made.path)")
      }
    }

    /// The identity of a folder, from the folder alone.
    @Test func catalogOfAFolder() throws {
      let home = try TemporaryFolder(), source = try home.put(Folder.sample(seed: 3), at: "source")
      let store = try Store(home.path + "/store", create: true, average: 4_096)
      let result = try store.begin().add("p", source)
      let catalog = hex(withUnsafeBytes(of: result.version.catalog) { Array($0) })
      let computed = try Self.run(["--catalog", source, "--average", "4096"])
      #expect(String(decoding: computed, as: UTF8.self) == catalog + "\n")
    }

    /// Damaged stores: both call the same ones whole.
    @Test func damageIsSeenAlike() throws {
      let seed = testSeed(43), home = try TemporaryFolder()
      var random = Random(seed)
      let original = try Self.makeContest(home, seed: seed).path
      let files = try FileManager.default.subpathsOfDirectory(atPath: original).sorted().filter { name in
        name != "LOCK" && name != "READERS" && (try? home.read("contest \(seed)/\(name)")) != nil
      }
      var stores: [String] = []
      for number in 0..<40 {
        let copy = "\(home.path)/copy \(number)", file = "\(copy)/\(files[number % files.count])"
        try FileManager.default.copyItem(atPath: original, toPath: copy)
        var bytes = try Data(contentsOf: URL(filePath: file))
        let at = random.below(bytes.count)
        if random.chance(1, in: 5) {
          bytes.removeLast(bytes.count - at)
        } else {
          bytes[at] ^= 1 << UInt8(random.below(8))
        }
        try bytes.write(to: URL(filePath: file))
        stores.append(copy)
      }
      var damaged = 0
      for (path, reading) in zip(stores, try Self.read(stores)) {
        let faults = Result { try Store(path).snapshot().verify(deep: true) }
        let isWhole = (try? faults.get()).map { $0.faults.isEmpty } ?? false
        #expect(
          isWhole == (reading.error == nil && reading.unmet == []),
          "seed \(seed), \(path): \(faults), \(reading.error ?? "\(reading.unmet ?? [])")")
        damaged += isWhole ? 0 : 1
      }
      #expect(damaged > 20)
    }
  }
}
