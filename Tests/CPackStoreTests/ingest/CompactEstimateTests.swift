import CPackStore
import CPackStoreTesting
import Testing

extension Core {
  /// The estimate of the bytes that the layout for size would store less.
  @Suite struct CompactEstimateTests {
    /// Files of 6 to 20 kB. Each repeats pieces of files in the same folder, which are too far away for shared frames of 32 KiB.
    private static func relatedFiles(byteCount: Int) -> Folder {
      var random = Random(41), folder: Folder = [:], size = 0
      while size < byteCount {
        let pieces = (0..<40).map { _ in random.text(300) + random.bytes(300) }
        for _ in 0..<12 {
          let content = (0..<10 + random.below(20)).flatMap { _ in pieces[random.below(pieces.count)] + random.bytes(20)
          }
          folder["f\(10_000 + folder.count).txt"] = .file(content)
          size += content.count
        }
      }
      return folder
    }

    private static func add(_ folder: Folder, _ layout: pks_layout) throws -> pks_add_result {
      let disk = Disk(seed: 42)
      disk.put(folder, at: "/source")
      let store = try Store(disk, create: true)
      var result = pks_add_result()
      try store.commit { result = try $0.add("p", "/source") { $0.layout = layout } }
      return result
    }

    @Test func estimateMatchesTheLayoutForSize() throws {
      let folder = Self.relatedFiles(byteCount: 6_000_000)
      let random = try Self.add(folder, PKS_LAYOUT_RANDOM), compact = try Self.add(folder, PKS_LAYOUT_COMPACT)
      let saved = Int(random.new_stored_bytes) - Int(compact.new_stored_bytes)
      #expect(saved > Int(random.new_stored_bytes) / 10)
      let estimate = Int(random.compact_saved_bytes)
      #expect((saved * 2 / 3...saved * 3 / 2).contains(estimate), "\(saved) saved, \(estimate) estimated")
      #expect(compact.compact_saved_bytes == 0)
      #expect(try Self.add(folder, PKS_LAYOUT_SEQUENTIAL).compact_saved_bytes == 0)
    }

    @Test func nothingIsEstimatedForNoise() throws {
      var random = Random(43)
      let folder = Folder(
        uniqueKeysWithValues: (0..<400).map { ("f\($0).bin", Node.file(random.bytes(10_000))) })
      // Rows of fewer frames.
      #expect(try Self.add(folder, PKS_LAYOUT_RANDOM).compact_saved_bytes < 40_000)
    }

    /// Too little data for a sample, and an update with little new data.
    @Test func littleNewDataIsNotEstimated() throws {
      #expect(try Self.add(Self.relatedFiles(byteCount: 1_000_000), PKS_LAYOUT_RANDOM).compact_saved_bytes == 0)
      var folder = Self.relatedFiles(byteCount: 4_000_000)
      let disk = Disk(seed: 44)
      disk.put(folder, at: "/1")
      folder["f10003.txt"] = .file("changed")
      disk.put(folder, at: "/2")
      let store = try Store(disk, create: true)
      var result = pks_add_result()
      try store.commit { try $0.add("p", "/1") }
      try store.commit { result = try $0.add("p", "/2") }
      #expect(!result.unchanged && result.compact_saved_bytes == 0)
    }
  }
}
