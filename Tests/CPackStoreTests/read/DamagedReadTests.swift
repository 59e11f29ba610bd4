import CPackStore
import CPackStoreTesting
import Foundation
import Testing

extension Core {
  /// Rot, truncation and failing disks while assets are read: an error that says where, or the right bytes.
  @Suite struct DamagedReadTests {
    private static let store = Result { try SmallStore(seed: testSeed(31)) }

    /// A store of a few dozen frames of both kinds, and where each asset lies in them. The small raw asset has its frame for
    /// itself because its neighbour is large.
    private final class SmallStore: @unchecked Sendable {
      let home: TemporaryFolder
      let path: String
      let seed: UInt64
      let frames: [IndexRun.Frame]
      let pieces: [String: [IndexRun.Piece]]
      let files: [String: [UInt8]]

      init(seed: UInt64) throws {
        self.seed = seed
        home = try TemporaryFolder()
        path = home.path + "/store"
        var random = Random(seed),
          files: [String: [UInt8]] = [
            "prose": random.prose(800_000), "noise": random.bytes(330_000), "a noise": random.bytes(30_000),
            "both": random.prose(200_000) + random.bytes(60_000),
          ]
        for number in 0..<12 { files["small \(number)"] = random.text(500 + random.below(7_000)) }
        self.files = files
        let source = try home.put(files.mapValues { .file($0) }, at: "source")
        try Store(path, create: true, average: 16_384).commit { try $0.add("P", source) }
        let run = try #require(try IndexRun.all(in: path).first)
        frames = try run.frames
        pieces = try run.files().mapValues { try run.pieces(of: $0) }
      }

      func segment(_ name: String) -> String { "\(path)/segments/\(name)" }

      func flip(_ frame: IndexRun.Frame, bit: Int) throws {
        try DamagedReadTests.flip(segment(frame.segment), at: frame.offset, bit: bit)
      }
    }

    // MARK: Flipped bits

    /// One flipped bit in one frame, for every frame: reads that touch it say so and name asset, segment and offset; all
    /// others succeed; no wrong byte comes out.
    @Test(arguments: [1, 4] as [UInt32]) func oneBitInEachFrame(threads: UInt32) throws {
      let store = try Self.store.get()
      var random = Random(store.seed &+ UInt64(threads)), refusals = 0, reads = 0
      #expect(store.frames.count > 30)
      for index in store.frames.indices {
        let frame = store.frames[index], bit = random.below(8 * Int(frame.storedLength))
        try store.flip(frame, bit: bit)
        let snapshot = try Store(store.path, threads: threads).snapshot()
        for (path, pieces) in store.pieces {
          for range in Self.ranges(pieces, around: UInt32(index), &random) {
            let touches = pieces.contains { $0.frame == index && $0.range.overlaps(range) }
            let place: Comment = "seed \(store.seed), \(path) \(range), frame \(index), bit \(bit)"
            reads += 1
            do {
              let read = try snapshot.read(path, range)
              #expect(!touches && read.equals(store.files[path]![range]), place)
            } catch let failure as Failure {
              refusals += 1
              #expect(touches && failure.status == PKS_CORRUPT, "\(place): \(failure)")
              #expect(failure.file == "segments/\(frame.segment), asset \(path)", place)
              #expect(failure.offset == frame.offset, place)
            }
          }
        }
        try store.flip(frame, bit: bit)
      }
      #expect(refusals > 2 * store.frames.count && reads > 2 * refusals)
    }

    /// The whole asset, all before a frame, all behind it, and a little inside of it and across its borders.
    private static func ranges(_ pieces: [IndexRun.Piece], around frame: UInt32, _ random: inout Random)
      -> [Range<Int>]
    {
      let size = pieces.last!.range.upperBound
      guard let piece = pieces.first(where: { $0.frame == frame }) else { return [0..<size] }
      let range = piece.range, inside = range.lowerBound + random.below(range.count)
      return [
        inside..<inside + 1, 0..<range.lowerBound, range.upperBound..<size, max(0, range.lowerBound - 10)..<inside + 1,
        inside..<min(size, range.upperBound + 300_000), 0..<size,
      ].filter { !$0.isEmpty }
    }

    /// A large raw asset is checked by all threads before it is lent: none of them lets a flipped bit through, and whole
    /// it is lent as it is.
    @Test(arguments: [1, 4] as [UInt32]) func oneBitInALargeLoan(threads: UInt32) throws {
      let seed = testSeed(37), home = try TemporaryFolder(), path = home.path + "/store"
      var random = Random(seed)
      let bytes = random.bytes(9_000_000), source = try home.put(["large": .file(bytes)], at: "source")
      try Store(path, create: true).commit { try $0.add("P", source) }
      let frames = try #require(try IndexRun.all(in: path).first).frames
      func isWhole(_ snapshot: Snapshot) throws -> Bool {
        try withExtendedLifetime(snapshot) { try $0.borrow("large").equals(bytes[...]) }
      }
      #expect(try isWhole(Store(path, threads: threads).snapshot()), "seed \(seed)")
      for _ in 0..<8 {
        let frame = frames[random.below(frames.count)], bit = random.below(8 * Int(frame.storedLength))
        let segment = "\(path)/segments/\(frame.segment)"
        try Self.flip(segment, at: frame.offset, bit: bit)
        let snapshot = try Store(path, threads: threads).snapshot()
        for _ in 0..<2 {
          #expect("seed \(seed), bit \(bit)") { _ = try snapshot.borrow("large") } throws: {
            ($0 as? Failure)?.status == PKS_CORRUPT && ($0 as? Failure)?.offset == frame.offset
          }
        }
        try Self.flip(segment, at: frame.offset, bit: bit)
        #expect(try isWhole(snapshot), "mended under the reader")
      }
    }

    private static func flip(_ segment: String, at offset: UInt64, bit: Int) throws {
      let file = try FileHandle(forUpdating: URL(filePath: segment))
      try file.seek(toOffset: offset + UInt64(bit / 8))
      let byte = try #require(try file.read(upToCount: 1)?.first)
      try file.seek(toOffset: offset + UInt64(bit / 8))
      try file.write(contentsOf: [byte ^ 1 << UInt8(bit % 8)])
      try file.close()
    }

    /// An index that gives an asset any size is reported at once, without a search for what cannot be there.
    @Test(arguments: [1, 4] as [UInt32]) func anyLengthOfALoan(threads: UInt32) throws {
      let home = try TemporaryFolder(), size = 5 << 20
      var random = Random(testSeed(23))
      let source = try home.put(["noise": .file(random.bytes(size))], at: "source"), path = home.path + "/store"
      try Store(path, create: true).commit { try $0.add("P", source) }
      let snapshot = try Store(path, threads: threads).snapshot()
      try snapshot.withAsset("noise") { asset in
        for size in [.max, .max - (1 << 20), 1 << 60, UInt64(size) + (1 << 20), UInt64(size) + 1] {
          #expect(try status { try attempt { borrowed_record(asset, size, $0) } } == PKS_CORRUPT, "\(size)")
        }
        try attempt { borrowed_record(asset, UInt64(size), $0) }
      }
    }

    /// What hands out raw assets as they lie, sees a flipped bit at the first touch, too.
    @Test func oneBitUnderWhatIsMapped() throws {
      let store = try Self.store.get()
      var random = Random(store.seed)
      for path in ["noise", "a noise"] {
        for piece in store.pieces[path]! {
          let frame = store.frames[Int(piece.frame)], bit = random.below(8 * Int(frame.storedLength))
          try store.flip(frame, bit: bit)
          let snapshot = try Store(store.path).snapshot()
          for call in 0..<3 {
            do {
              switch call {
              case 0: _ = try snapshot.borrow(path)
              case 1: _ = try snapshot.contents(path)
              default: close(try snapshot.openFile(path))
              }
              Issue.record("call \(call) on \(path), frame \(piece.frame)")
            } catch let failure as Failure {
              #expect(failure.status == PKS_CORRUPT && failure.offset == frame.offset)
              #expect(failure.file == "segments/\(frame.segment), asset \(path)")
            }
          }
          try store.flip(frame, bit: bit)
        }
        #expect(try Store(store.path).snapshot().contents(path).equals(store.files[path]!))
      }
    }

    // MARK: Truncation

    /// A segment that another process cut off while it is open here: what is copied is right, or corrupt; no signal.
    @Test(arguments: [1, 4] as [UInt32]) func cutOffWhileOpen(threads: UInt32) throws {
      let store = try Self.store.get(), home = try TemporaryFolder(), copy = home.path + "/store"
      let segment = store.segment(store.frames[0].segment)
      let length = try FileManager.default.attributesOfItem(atPath: segment)[.size] as! Int
      var random = Random(store.seed), refusals = 0, successes = 0
      for cut in [0, 1, 63, 4_095, 4_096] + (0..<12).map({ _ in random.below(length) }) {
        try? FileManager.default.removeItem(atPath: copy)
        try FileManager.default.copyItem(atPath: store.path, toPath: copy)
        let snapshot = try Store(copy, threads: threads).snapshot()
        _ = try snapshot.read("small 0")
        try Self.truncate("\(copy)/segments/\(store.frames[0].segment)", to: cut)
        for (path, bytes) in store.files {
          let isMapped = path == "noise"
          for call in 0..<(isMapped ? 1 : 3) {
            do {
              switch call {
              case 0: #expect(try snapshot.read(path) == bytes, "\(path), cut at \(cut)")
              case 1: #expect(try snapshot.contents(path).equals(bytes), "\(path), cut at \(cut)")
              default:
                let file = FileHandle(fileDescriptor: try snapshot.openFile(path), closeOnDealloc: true)
                #expect(try file.readToEnd() == Data(bytes))
              }
              successes += 1
            } catch let failure as Failure {
              #expect(failure.status == PKS_CORRUPT, "\(path), cut at \(cut): \(failure)")
              #expect(failure.file == "segments/\(store.frames[0].segment), asset \(path)")
              refusals += 1
            }
          }
        }
      }
      #expect(refusals > 100 && successes > 50)
    }

    /// A segment that was cut off before it was opened is corrupt for code that maps it, too.
    @Test func cutOffBeforeItIsMapped() throws {
      let store = try Self.store.get(), home = try TemporaryFolder(), copy = home.path + "/store"
      let last = store.pieces["noise"]!.map { store.frames[Int($0.frame)] }.max { $0.offset < $1.offset }!
      for cut in [0, 1, 4_096, Int(last.offset) - 1, Int(last.offset) + Int(last.storedLength) - 1] {
        try? FileManager.default.removeItem(atPath: copy)
        try FileManager.default.copyItem(atPath: store.path, toPath: copy)
        try Self.truncate("\(copy)/segments/\(last.segment)", to: cut)
        let snapshot = try Store(copy).snapshot()
        #expect(try status { _ = try snapshot.borrow("noise") } == PKS_CORRUPT, "cut at \(cut)")
        #expect(try status { _ = try snapshot.contents("noise") } == PKS_CORRUPT, "cut at \(cut)")
      }
    }

    @Test func aSegmentThatIsGone() throws {
      let store = try Self.store.get(), home = try TemporaryFolder(), copy = home.path + "/store"
      try FileManager.default.copyItem(atPath: store.path, toPath: copy)
      try FileManager.default.removeItem(atPath: "\(copy)/segments/\(store.frames[0].segment)")
      let snapshot = try Store(copy, threads: 4).snapshot()
      for path in store.files.keys {
        #expect(try status { _ = try snapshot.read(path) } == PKS_PURGED)
        #expect(try status { _ = try snapshot.contents(path) } == PKS_PURGED)
        #expect(try status { _ = try snapshot.openFile(path) } == PKS_PURGED)
      }
    }

    private static func truncate(_ path: String, to length: Int) throws {
      let file = try FileHandle(forUpdating: URL(filePath: path))
      try file.truncate(atOffset: UInt64(length))
      try file.close()
    }

    // MARK: Failing reads

    /// Each read of a segment fails once, whichever thread makes it: an I/O error that names the asset; afterwards all is
    /// well.
    @Test(arguments: [1, 4] as [UInt32]) func everyReadFails(threads: UInt32) throws {
      let store = try Self.store.get()
      let seam = Seam(), fuse = Fuse()
      let snapshot = try Store(store.path, seam: seam, threads: threads).snapshot()
      seam.onCallOfAnyThread = { $0 == .read && fuse.burns() ? EIO : 0 }
      var failures = 0
      for path in ["prose", "noise", "both", "small 3"] {
        for number in 0... {
          fuse.light(after: number)
          let result = Result { try snapshot.read(path) }
          guard fuse.hasBurnt else {
            #expect(try result.get().equals(store.files[path]![...]))
            break
          }
          failures += 1
          let failure = try #require(throws: Failure.self) { try result.get() }
          #expect(failure.status == PKS_IO_ERROR && failure.system == EIO)
          #expect(failure.file.hasPrefix("segments/") && failure.file.hasSuffix(", asset \(path)"))
        }
      }
      #expect(failures > 10)
      seam.onCallOfAnyThread = nil
      for (path, bytes) in store.files { #expect(try snapshot.read(path) == bytes) }
    }
  }
}
