import CPackStore
import CPackStoreTesting
import Foundation
import Testing

extension Core {
  /// Any range of any asset is the range of the source, however the asset is stored and however many threads read.
  @Suite struct ReadRangeTests {
    /// A store whose assets are stored in every way: compressed, raw, both; in shared frames; in large frames; and, after
    /// updates with insertions, in many pieces of several segments.
    private final class Library: @unchecked Sendable {
      let home: TemporaryFolder
      let path: String
      let seed: UInt64
      private(set) var files: [String: [UInt8]] = [:]

      init(seed: UInt64) throws {
        self.seed = seed
        home = try TemporaryFolder()
        path = home.path + "/store"
        var random = Random(seed)
        files["prose"] = random.prose(1_500_000)
        files["noise"] = random.bytes(700_000)
        files["loud noise"] = random.bytes(3_500_000)
        files["both"] = random.prose(300_000) + random.bytes(200_000) + random.prose(150_001)
        files["edited prose"] = random.prose(900_000)
        files["edited noise"] = random.bytes(400_000)
        files["zeros"] = [UInt8](repeating: 0, count: 600_000)
        files["empty"] = []
        for number in 0..<40 { files["small/\(number)"] = random.text(1 + random.below(9_000)) }
        for number in 0..<6 { files["small noise/\(number)"] = random.bytes(1 + random.below(5_000)) }
        let store = try Store(path, create: true)
        try install(store, "P")
        for _ in 0..<3 {
          edit("edited prose", &random)
          edit("edited noise", &random)
          try install(store, "P")
        }
        try installLargeFrames(store, &random)
      }

      private func install(_ store: Store, _ pack: String) throws {
        let source = try home.put(files.mapValues { .file($0) }, at: "source")
        try store.commit(keep: 1) { try $0.add(pack, source) }
      }

      private func edit(_ path: String, _ random: inout Random) {
        for _ in 0..<8 {
          let at = random.below(files[path]!.count), length = random.below(3_000)
          files[path]!.insert(contentsOf: random.bytes(random.below(200)), at: at)
          if random.chance(1, in: 2) { files[path]!.removeSubrange(at..<min(at + length, files[path]!.count)) }
        }
      }

      private func installLargeFrames(_ store: Store, _ random: inout Random) throws {
        files["sequential"] = random.prose(2_500_000)
        let source = try home.put(["sequential": .file(files["sequential"]!)], at: "large")
        try store.commit { try $0.add("Q", source) { $0.layout = PKS_LAYOUT_SEQUENTIAL } }
      }

      /// A range of a file that may be interesting: short or long, at a border or anywhere.
      func range(of path: String, _ random: inout Random) -> Range<Int> {
        let size = files[path]!.count
        let borders = [0, 1, size, max(size - 1, 0), 65_536, 65_535, 131_072, 131_073, 262_144]
        let begin = min(random.chance(1, in: 3) ? random.pick(borders) : random.below(size + 1), size)
        let lengths = [0, 1, 4_096, random.below(20_000), 262_143, 262_144, random.below(1_200_000), size]
        return begin..<min(begin + random.pick(lengths), size)
      }
    }

    private static let library = Result { try Library(seed: testSeed(11)) }

    @Test(arguments: [1, 4] as [UInt32]) func randomRanges(threads: UInt32) throws {
      let library = try Self.library.get()
      var random = Random(library.seed &+ UInt64(threads))
      let snapshot = try Store(library.path, threads: threads).snapshot(), paths = library.files.keys.sorted()
      for _ in 0..<900 {
        let path = random.chance(1, in: 3) ? random.pick(paths) : random.pick(paths.filter { !$0.contains("/") })
        let range = library.range(of: path, &random)
        let read = try snapshot.read(path, range)
        let isRight = read.equals(library.files[path]![range])
        #expect(isRight, "seed \(library.seed), \(path) \(range), \(threads) threads")
        if !isRight { return }
      }
    }

    /// The updates did what the other tests rely on: there are assets of many pieces, some of them parts of frames.
    @Test func theLibraryHasEverything() throws {
      let library = try Self.library.get(), runs = try IndexRun.all(in: library.path)
      var compressed = 0, raw = 0, partial = 0, jumps = 0, mostSharers = 0
      for run in runs {
        var sharers: [UInt32: Int] = [:]
        for (_, entry) in try run.files() {
          let pieces = try run.pieces(of: entry)
          for (piece, next) in zip(pieces, pieces.dropFirst()) where next.frame != piece.frame + 1 { jumps += 1 }
          for piece in pieces {
            let frame = try run.frame(piece.frame)
            if frame.isRaw { raw += 1 } else { compressed += 1 }
            if piece.length < frame.rawLength { partial += 1 }
          }
          for frame in Set(pieces.map(\.frame)) { sharers[frame, default: 0] += 1 }
        }
        mostSharers = max(mostSharers, sharers.values.max() ?? 0)
      }
      #expect(compressed > 30 && raw > 30 && partial > 30 && jumps > 20 && mostSharers > 3)
    }

    /// Threads that read large assets of one store at once share its helpers; each gets its own bytes.
    @Test(arguments: [2, 4] as [UInt32]) func manyLargeReadsAtOnce(threads: UInt32) throws {
      let library = try Self.library.get(), findings = Findings()
      let snapshot = try Store(library.path, threads: threads).snapshot()
      DispatchQueue.concurrentPerform(iterations: 6) { thread in
        findings.run {
          var random = Random(library.seed &+ 100 &+ UInt64(thread))
          for _ in 0..<12 {
            let path = random.pick([
              "prose", "noise", "loud noise", "both", "edited prose", "edited noise", "sequential", "zeros",
            ])
            let size = library.files[path]!.count, begin = random.below(size / 3)
            let read = try snapshot.read(path, begin..<size)
            if !read.equals(library.files[path]![begin..<size]) { findings.note("\(path) from \(begin)") }
          }
        }
      }
      #expect(findings.all == [], "seed \(library.seed)")
    }

    @Test func rangesPastTheEnd() throws {
      let library = try Self.library.get(), snapshot = try Store(library.path).snapshot()
      var byte: UInt8 = 0
      for path in ["prose", "empty", "small/1"] {
        let size = UInt64(library.files[path]!.count)
        for (offset, length) in [(size, 1), (size + 1, 0), (UInt64.max, 1), (0, Int(size) + 1), (1, .max)] {
          let result = try status {
            try snapshot.withAsset(path) { asset in try attempt { pks_asset_read(asset, offset, &byte, length, $0) } }
          }
          #expect(result == PKS_INVALID_ARGUMENT, "\(path) \(offset)+\(length)")
        }
        try snapshot.withAsset(path) { asset in
          try attempt { pks_asset_read(asset, size, nil, 0, $0) }
          guard size > 0 else { return }
          #expect(try status { try attempt { pks_asset_read(asset, 0, nil, 1, $0) } } == PKS_INVALID_ARGUMENT)
        }
      }
    }

    /// Small assets may share frames that are larger than those of large assets.
    @Test func sharedFramesAboveTheFrameSize() throws {
      let home = try TemporaryFolder()
      var random = Random(testSeed(5)), files: [String: [UInt8]] = ["large": random.prose(300_000)]
      for number in 0..<120 { files["small \(number)"] = random.text(200 + random.below(6_000)) }
      let store = try Store(home.path + "/store", create: true)
      let source = try home.put(files.mapValues { .file($0) }, at: "source")
      try store.commit {
        try $0.add("P", source) {
          $0.frame_size = 65_536
          $0.shared_frame_size = 1 << 20
        }
      }
      let frames = try IndexRun.all(in: home.path + "/store").flatMap { try $0.frames }
      #expect(frames.contains { $0.rawLength > 200_000 }, "shared frames are as large as was asked for")
      let snapshot = try store.snapshot()
      for (path, bytes) in files { #expect(try snapshot.read(path) == bytes, "\(path)") }
      #expect(try snapshot.faults(deep: true) == [])
    }

    /// A little of a very large asset costs a frame, or two where it lies across a border.
    @Test func aLittleOfALot() throws {
      let home = try TemporaryFolder(), size = 24 << 20, seed = testSeed(17)
      var random = Random(seed)
      let prose = random.prose(size)
      let source = try home.put(["prose": .file(prose), "noise": .file(random.bytes(2 << 20))], at: "source")
      let path = home.path + "/store"
      try Store(path, create: true, average: 16_384).commit { try $0.add("P", source) }
      let seam = Seam()
      var reads = 0, most = 0
      seam.onCall = {
        if $0 == .read { reads += 1 }
        return 0
      }
      let snapshot = try Store(path, seam: seam).snapshot()
      for (path, size) in [("prose", size), ("noise", 2 << 20)] {
        for _ in 0..<40 {
          let begin = random.below(size - 4_096)
          reads = 0
          let read = try snapshot.read(path, begin..<(begin + 4_096))
          // None when the reader remembers the frame.
          #expect(reads <= 2, "seed \(seed), \(path) at \(begin): \(reads) reads")
          most = max(most, reads)
          if path == "prose" { #expect(read.equals(prose[begin..<(begin + 4_096)])) }
        }
      }
      #expect(most > 0)
    }

    /// What lies raw in one piece, and was checked before, takes one call for each batch of 64 KiB, wherever it begins and
    /// ends; before that, the frames at both ends are read whole, apart.
    @Test func rawRangesAreReadAtOnce() throws {
      let home = try TemporaryFolder(), size = 1 << 20, seed = testSeed(18)
      var random = Random(seed)
      let noise = random.bytes(size), path = home.path + "/store"
      try Store(path, create: true, average: 8_192).commit {
        try $0.add("P", home.put(["noise": .file(noise)], at: "source"))
      }
      let seam = Seam()
      var reads = 0
      seam.onCall = {
        if $0 == .read { reads += 1 }
        return 0
      }
      let snapshot = try Store(path, seam: seam).snapshot()
      for isChecked in [false, true] {
        for _ in 0..<60 {
          let begin = random.below(size - 30_000), range = begin..<(begin + 20_000 + random.below(10_000))
          reads = 0
          #expect(try snapshot.read("noise", range).equals(noise[range]), "seed \(seed), \(range)")
          #expect(isChecked ? reads == 1 : reads <= 3, "seed \(seed), \(range): \(reads) reads")
        }
        _ = try snapshot.read("noise")
      }
    }
  }
}
