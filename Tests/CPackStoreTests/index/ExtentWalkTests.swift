import CPackStore
import CPackStoreTesting
import Foundation
import Testing

extension Core {
  /// From a byte of a file to the frame that holds it.
  @Suite struct ExtentWalkTests {
    // MARK: Seeking

    /// A walk that seeks hands out what a walk from the start does, from that byte on.
    @Test func seekAgreesWithAWalkFromTheStart() throws {
      let home = try TemporaryFolder(), seed = testSeed(23), path = home.path + "/store"
      var random = Random(seed),
        files: [String: [UInt8]] = [
          "prose": random.prose(500_000), "noise": random.bytes(90_000), "zeros": [UInt8](repeating: 0, count: 200_000),
        ]
      for number in 0..<10 { files["small \(number)"] = random.text(1 + random.below(4_000)) }
      let store = try Store(path, create: true)
      for _ in 0..<4 {
        let source = try home.put(files.mapValues { .file($0) }, at: "source")
        try store.commit(keep: 1) { try $0.add("P", source) }
        for path in ["prose", "noise"] {
          for _ in 0..<5 {
            files[path]!.insert(contentsOf: random.bytes(1 + random.below(90)), at: random.below(files[path]!.count))
          }
        }
      }
      var seeks = 0
      for run in try IndexRun.all(in: path) {
        for (path, entry) in try run.files() {
          let whole = try run.pieces(of: entry)
          #expect(whole.reduce(0) { $0 + $1.length } == Int(entry.size), "\(path)")
          for (index, piece) in whole.enumerated() {
            let middle = piece.start + UInt64(piece.length / 2)
            for offset in Set([piece.start, piece.start + 1, middle, UInt64(piece.range.upperBound) - 1])
            where offset < piece.range.upperBound {
              var first = piece
              first.begin += UInt32(offset - piece.start)
              first.start = offset
              let found = try run.pieces(of: entry, from: offset, seeks: true, limit: 6)
              let expected = [first] + whole[(index + 1)...].prefix(5)
              #expect(found == expected, "seed \(seed), \(path) at \(offset)")
              seeks += 1
              if found != expected { return }
            }
          }
        }
      }
      #expect(seeks > 500)
    }

    // MARK: Made-up runs

    /// A run of made-up frames and one file.
    private final class Made {
      let run: IndexRun
      let starts: [UInt64]

      init(lengths: [UInt32], size: UInt64 = 1, extents: [(frame: UInt32, skip: UInt32, end: UInt64)] = [(0, 0, 1)])
        throws
      {
        let home = ScratchHome(), hasher = PathHasher()
        var writer = pks__run_writer(), start: UInt64 = 0
        pks__run_writer_init(&writer, home.folder, hasher.raw, 1)
        defer { pks__run_writer_free(&writer) }
        var segment = pks__run_segment_info(), number: UInt32 = 0
        segment.kind = PKS__SEGMENT_DATA.rawValue
        segment.file_length = 1_000
        try attempt { pks__run_writer_add_segment(&writer, &segment, &number, $0) }
        starts = try lengths.map { length in
          defer { start += UInt64(length) }
          var frame = pks__run_frame_info()
          frame.ref.raw_length = length
          frame.ref.stored_length = length
          try attempt { pks__run_writer_add_frame(&writer, &frame, &number, $0) }
          return start
        }
        let stored = extents.map {
          pks__extent(frame: pks__put32($0.frame), skip: pks__put32($0.skip), end: pks__put64($0.end))
        }
        try stored.withUnsafeBufferPointer { stored in
          try "file".withCString { path in
            var item = pks__run_item()
            item.path = path
            item.path_length = 4
            item.kind = PKS__RECORD_FILE
            item.size = size
            item.extents = stored.baseAddress
            item.extent_count = UInt64(stored.count)
            try attempt { pks__run_writer_add(&writer, &item, $0) }
          }
        }
        var length: UInt64 = 0, sum: UInt64 = 0
        try attempt { pks__run_writer_finish(&writer, "run", false, &length, &sum, $0) }
        run = try IndexRun(home.vfs, folder: home.handle, path: "run", home: home)
      }

      func find(_ position: UInt64, from first: UInt32) throws -> UInt32 {
        var index: UInt32 = 0
        try attempt { pks__run_frame_find(run.raw, first, position, &index, $0) }
        return index
      }
    }

    /// However uneven frames are, the guess by their average ends at the right one.
    @Test(arguments: 0..<6) func unevenFrames(kind: Int) throws {
      let seed = testSeed(UInt64(kind) + 40), largest = UInt32(PKS__FRAME_RAW_MAX)
      var random = Random(seed)
      let lengths: [UInt32] = (0..<700).map { index in
        switch kind {
        case 0: 1
        case 1: index == 0 ? largest : 1
        case 2: index == 699 ? largest : 1
        case 3: index % 100 == 50 ? largest : 3
        case 4: UInt32(1) << UInt32(index % 25)
        default: 1 + UInt32(random.below(random.pick([2, 300, 70_000, Int(largest)])))
        }
      }
      let made = try Made(lengths: lengths)
      for index in lengths.indices {
        let start = made.starts[index], end = start + UInt64(lengths[index])
        for first in [0, UInt32(index), UInt32(random.below(index + 1))] {
          #expect(try made.find(start, from: first) == index, "seed \(seed)")
          #expect(try made.find(end - 1, from: first) == index, "seed \(seed)")
        }
        if index > 0 { #expect(try status { _ = try made.find(start - 1, from: UInt32(index)) } == PKS_CORRUPT) }
      }
      let end = made.starts.last! + UInt64(lengths.last!)
      for position in [end, end + 1, .max] {
        #expect(try status { _ = try made.find(position, from: 0) } == PKS_CORRUPT)
      }
    }

    /// Extents that skip out of their frame, end backwards, cover too little or too much, name frames that are not there, or
    /// whose positions add up past 2^64, are corrupt: from the start and from any byte.
    @Test func hostileExtents() throws {
      let huge = UInt64.max,
        cases: [(String, UInt64, [(frame: UInt32, skip: UInt32, end: UInt64)])] = [
          ("a size that wraps with the skip", huge, [(0, 5, huge)]),
          ("a size that wraps with the position", huge - 2, [(2, 9, huge - 2)]),
          ("an extent that wraps after a sound one", huge, [(0, 0, 10), (1, 7, huge)]),
          ("a skip past the frame", 10, [(0, 100, 10)]),
          ("a skip past all frames", 10, [(0, .max, 10)]),
          ("no such frame", 10, [(3, 0, 10)]),
          ("more bytes than frames", 301, [(0, 0, 301)]),
          ("an extent of nothing", 20, [(0, 0, 10), (1, 0, 10)]),
          ("an extent that ends before it begins", 20, [(0, 0, 10), (1, 0, 5)]),
          ("an extent past the end", 20, [(0, 0, 10), (1, 0, 30)]),
          ("too few extents", 20, [(0, 0, 10), (1, 0, 15)]),
          ("no extents", 20, []),
        ]
      for (name, size, extents) in cases {
        let made = try Made(lengths: [100, 100, 100], size: size, extents: extents)
        let entry = try #require(try made.run.files()["file"])
        // From the start: whatever is handed out before the fault is seen lies in its frame.
        #expect(try Self.walkEndsCorrupt(made, entry, from: nil), "\(name)")
        for offset in Set([0, 1, 9, 10, 11, size / 2, size - 1]) where offset < size {
          #expect(try Self.walkEndsCorrupt(made, entry, from: offset), "\(name), from \(offset)")
        }
      }
    }

    /// Whether a walk ends as corrupt, with sound pieces before.
    private static func walkEndsCorrupt(_ made: Made, _ entry: pks__run_entry, from offset: UInt64?) throws -> Bool {
      try withUnsafePointer(to: entry) { entry in
        var walk = pks__extent_walk_make(made.run.raw, entry)
        if let offset {
          let result = try status { try attempt { pks__extent_walk_seek(&walk, offset, $0) } }
          guard result == PKS_OK else { return result == PKS_CORRUPT }
        }
        for _ in 0..<10 {
          var piece = pks__extent_part(), more = false
          let result = try status { try attempt { pks__extent_walk_next(&walk, &piece, &more, $0) } }
          guard result == PKS_OK else { return result == PKS_CORRUPT }
          guard more, piece.begin < piece.end, piece.end <= piece.frame.ref.raw_length else { return false }
        }
        return false
      }
    }
  }
}
