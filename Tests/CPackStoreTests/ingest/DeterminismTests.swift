import CPackStore
import CPackStoreTesting
import Foundation
import Testing

extension Core {
  /// What is stored is a function of the folder, the store and libzstd's version: not of threads, nor of the order in which a system
  /// lists a folder, nor of times.
  @Suite struct DeterminismTests {
    private static func folder(_ seed: UInt64) -> Folder {
      var random = Random(seed), folder: Folder = ["void": .folder, "link": .link("big")]
      folder["big"] = .file(random.text(500_000) + random.bytes(200_000))
      folder["noise"] = .file(random.bytes(400_000))
      // Longer than what lies in memory at a time; programs, and what hardly compresses.
      folder["long"] = .file(random.bytes(9_000_000) + random.text(600_000) + random.bytes(700_000))
      folder["records"] = .file(
        (0..<90_000).flatMap { [UInt8($0 & 0xff), UInt8($0 >> 8 & 0xff), 0x80, UInt8(random.below(9))] })
      folder["hardly"] = .file((0..<300_000).map { _ in UInt8(random.below(205)) })
      for number in 0..<150 {
        folder["s\(number % 7)/f\(number)"] = .file(
          random.chance(1, in: 2) ? random.text(random.below(9_000)) : random.bytes(random.below(9_000)))
      }
      return folder
    }

    /// Segment files by name, and catalogs.
    private static func fingerprint(threads: UInt32) throws -> [String] {
      let home = try TemporaryFolder()
      let store = try Store(home.path + "/store", create: true, average: 4096, threads: threads)
      var lines: [String] = []
      for seed in [1, 2] as [UInt64] {
        let source = try home.put(folder(seed), at: "source")
        var result = pks_add_result()
        try store.commit { result = try $0.add("p", source) }
        lines.append(hex(withUnsafeBytes(of: result.version.catalog) { Array($0) }))
        #expect(try store.state()["p"]?.content == folder(seed))
      }
      for name in try home.list("store/segments") {
        lines.append("\(name) \(hex(pks__id(of: Array(try home.read("store/segments/\(name)"))).array))")
      }
      return lines
    }

    @Test func threads() throws {
      let one = try Self.fingerprint(threads: 1)
      #expect(one.count >= 6)
      for threads in [2, 5] as [UInt32] { #expect(try Self.fingerprint(threads: threads) == one, "\(threads) threads") }
    }

    /// Simulated disks list their folders in an order drawn from their seed, with or without the kinds of entries.
    @Test func orderOfListing() throws {
      var all: Set<[String]> = []
      for seed in 1...6 as ClosedRange<UInt64> {
        let disk = Disk(seed: seed)
        sim_set_vague_lists(disk.raw, seed % 2 == 0)
        sim_advance_clock(disk.raw, Int64(seed) * 1_000_000_000)
        disk.put(.sample(seed: 5), at: "/source")
        let store = try Store(disk, create: true)
        var result = pks_add_result()
        try store.commit { result = try $0.add("p", "/source") }
        all.insert(disk.list("/store/segments") + [hex(withUnsafeBytes(of: result.version.catalog) { Array($0) })])
      }
      #expect(all.count == 1)
    }

    /// A catalog depends on the folder and the chunker alone: not on what the store held before.
    @Test func historyDoesNotChangeCatalogs() throws {
      func catalog(after before: [String], average: UInt32 = 1024) throws -> String {
        let disk = Disk()
        for (path, folder) in Change.folders { disk.put(folder, at: path) }
        let store = try Store("/store", vfs: disk.vfs, create: true, average: average)
        for path in before { try store.commit { try $0.add("p", path) } }
        var result = pks_add_result()
        try store.commit { result = try $0.add("p", "/two") }
        withExtendedLifetime(disk) {}
        return hex(withUnsafeBytes(of: result.version.catalog) { Array($0) })
      }
      let fresh = try catalog(after: [])
      #expect(try catalog(after: ["/one"]) == fresh)
      #expect(try catalog(after: ["/other", "/small", "/one"]) == fresh)
      #expect(try catalog(after: [], average: 2048) != fresh)
    }
  }
}
