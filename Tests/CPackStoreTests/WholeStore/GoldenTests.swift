import CPackStore
import CPackStoreTesting
import Foundation
import Testing

extension Core {
  /// A tiny store whose bytes are pinned: what an older version of this library wrote must be what this one writes.
  ///
  /// `PACKSTORE_REGENERATE_GOLDEN=1` rewrites `GoldenStore.swift`, for a change of the format that is meant.
  @Suite struct GoldenTests {
    private static func folder(version: Int) -> Folder {
      var random = Random(0x601d)
      var folder: Folder = [
        "README": .file("a golden store\n"), "bin/tool": .file(random.bytes(700), executable: true),
        "data/noise": .file(random.bytes(70_000)),
        "data/text": .file(random.text(50_000)), "data/zeros": .file([UInt8](repeating: 0, count: 30_000)),
        "empty": .file([]),
        "empty folder": .folder, "link": .link("data/text"),
      ]
      for number in 0..<40 { folder["small/\(number)"] = .file(random.text(20 + 13 * number)) }
      if version == 2 {
        folder["data/text"] = .file(random.text(51_000))
        folder["small/7"] = nil
        folder["new"] = .file("new\n")
      }
      return folder
    }

    /// The lines that describe the store: names that depend on contents alone, and others that depend on libzstd as well.
    private static func describe() throws -> (catalogs: [String], segments: [String]) {
      let disk = Disk(seed: 0x601d)
      let store = try Store(disk, create: true)
      for version in 1...2 {
        disk.put(folder(version: version), at: "/source")
        try store.commit { try $0.add("golden", "/source", priority: 1, dictionary: version == 2 ? .text : nil) }
      }
      let snapshot = try store.snapshot()
      #expect(try snapshot.state()["golden"]?.content == folder(version: 2))
      var catalogs: [String] = []
      for kept in 0..<snapshot.packs[0].version_count {
        let version = pks_snapshot_version(snapshot.raw, 0, kept)
        catalogs.append("version \(version.number) \(hex(withUnsafeBytes(of: version.catalog) { Array($0) }))")
      }
      let segments = disk.list("/store/segments").map { name in
        "\(name) \(hex(pks__id(of: disk.read("/store/segments/\(name)")!).array))"
      }
      return (catalogs, segments.sorted())
    }

    @Test func bytesArePinned() throws {
      let (catalogs, segments) = try Self.describe()
      if ProcessInfo.processInfo.environment["PACKSTORE_REGENERATE_GOLDEN"] == "1" {
        try Self.rewrite(catalogs, segments)
      } else {
        #expect(catalogs == GoldenStore.catalogs)
        if ZSTD_versionNumber() == GoldenStore.zstdVersion { #expect(segments == GoldenStore.segments) }
      }
    }

    private static func rewrite(_ catalogs: [String], _ segments: [String]) throws {
      func list(_ lines: [String]) -> String { lines.map { "    \"\($0)\",\n" }.joined() }
      let text = """
        /// Written by `GoldenTests`: what the golden store is made of.
        enum GoldenStore {
          /// Versions with the SHA-256 of their catalogs' root pages, which depend on the folder and the chunker alone.
          static let catalogs: [String] = [
        \(list(catalogs))  ]
          /// Segments with the SHA-256 of their files, as this version of libzstd makes them.
          static let zstdVersion: UInt32 = \(ZSTD_versionNumber())
          static let segments: [String] = [
        \(list(segments))  ]
        }

        """
      try text.write(
        to: URL(filePath: #filePath).deletingLastPathComponent().appending(path: "GoldenStore.swift"), atomically: true,
        encoding: .utf8)
    }
  }
}
