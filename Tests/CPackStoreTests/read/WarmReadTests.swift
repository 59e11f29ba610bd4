import CPackStore
import CPackStoreTesting
import Foundation
import Testing

extension Core {
  /// Once warm, reading allocates nothing.
  @Suite struct WarmReadTests {
    private static let files: [String: [UInt8]] = {
      var random = Random(3),
        files: [String: [UInt8]] = [
          "prose": random.prose(900_000), "noise": random.bytes(500_000),
          "both": random.prose(300_000) + random.bytes(90_000),
        ]
      for number in 0..<30 { files["folder/small \(number)"] = random.text(300 + random.below(5_000)) }
      return files
    }()

    /// Rounds are made until many in a row allocate nothing; there are bounds to it. Helpers come when they please, so that
    /// one may make its frame reader later than another; but a path that allocates when it is warm is never quiet for long.
    private static func isQuiet(_ round: () throws -> Void) rethrows -> Bool {
      var quiet = 0
      for _ in 0..<200 where quiet < 20 {
        let before = pks__memory_counts_now().allocations
        try round()
        quiet = pks__memory_counts_now().allocations == before ? quiet + 1 : 0
      }
      return quiet == 20
    }

    private static let homes = [PKS_LAYOUT_RANDOM, PKS_LAYOUT_SEQUENTIAL].map { layout in
      Result {
        let home = try TemporaryFolder(), source = try home.put(files.mapValues { .file($0) }, at: "source")
        try Store(home.path + "/store", create: true).commit { try $0.add("P", source) { $0.layout = layout } }
        return home
      }
    }

    private static func open(layout: pks_layout = PKS_LAYOUT_RANDOM, threads: UInt32) throws -> Snapshot {
      let home = try homes[layout == PKS_LAYOUT_RANDOM ? 0 : 1].get()
      return try Store(home.path + "/store", threads: threads).snapshot()
    }

    /// All that a round needs, taken beforehand: a test's own memory is not counted, but its paths must not be made again.
    private final class Reads {
      let paths: [[CChar]] = files.keys.sorted().map { Array($0.utf8CString) }
      let memory = UnsafeMutableRawBufferPointer.allocate(byteCount: 1_000_000, alignment: 16)
      deinit { memory.deallocate() }

      func find(_ snapshot: Snapshot, _ path: [CChar]) throws -> pks_asset {
        var asset = pks_asset()
        try attempt { pks_snapshot_find(&asset, snapshot.raw, path, path.count - 1, UInt32.max, $0) }
        return asset
      }

      func read(_ asset: pks_asset, _ offset: UInt64, _ count: UInt64) throws {
        var asset = asset
        try attempt { pks_asset_read(&asset, offset, memory.baseAddress, Int(count), $0) }
      }
    }

    @Test(arguments: [PKS_LAYOUT_RANDOM, PKS_LAYOUT_SEQUENTIAL], [1, 4] as [UInt32])
    func finding(layout: pks_layout, threads: UInt32) throws {
      let snapshot = try Self.open(layout: layout, threads: threads), reads = Reads()
      #expect(try Self.isQuiet { for path in reads.paths { _ = try reads.find(snapshot, path) } })
    }

    @Test(arguments: [PKS_LAYOUT_RANDOM, PKS_LAYOUT_SEQUENTIAL], [1, 4] as [UInt32])
    func smallReads(layout: pks_layout, threads: UInt32) throws {
      let snapshot = try Self.open(layout: layout, threads: threads), reads = Reads()
      #expect(
        try Self.isQuiet {
          for path in reads.paths {
            let asset = try reads.find(snapshot, path)
            try reads.read(asset, 0, min(asset.size, 4_096))
            try reads.read(asset, asset.size / 2, min(asset.size / 3, 10_000))
          }
        })
    }

    @Test(arguments: [PKS_LAYOUT_RANDOM, PKS_LAYOUT_SEQUENTIAL], [1, 4] as [UInt32])
    func largeReads(layout: pks_layout, threads: UInt32) throws {
      let snapshot = try Self.open(layout: layout, threads: threads), reads = Reads()
      #expect(
        try Self.isQuiet {
          for path in reads.paths {
            let asset = try reads.find(snapshot, path)
            guard asset.size > 300_000 else { continue }
            try reads.read(asset, 0, asset.size)
            try reads.read(asset, 1_001, 300_000 - 1_001)
          }
        })
    }

    @Test func borrowing() throws {
      let snapshot = try Self.open(threads: 1), reads = Reads()
      var asset = try reads.find(snapshot, Array("noise".utf8CString)), loan = pks_bytes()
      #expect(asset.contiguous)
      #expect(try Self.isQuiet { try attempt { pks_asset_borrow(&loan, &asset, $0) } })
      #expect(loan.count == 500_000)
    }
  }
}
