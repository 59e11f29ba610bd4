import CPackStore
import CPackStoreTesting
import Testing

extension Core {
  /// Deltas of which each goes on where the one before ends, applied as one.
  @Suite struct DeltaChainTests {
    /// A publisher's store with versions of one pack, the deltas from each to the next, and a client's that has the first.
    struct Case {
      let disk = Disk(seed: 31)
      let target: Store
      let chain: [Delta]
      let content: Folder
      let catalog: [UInt8]

      init(_ folders: [Folder], map: [String] = [], adjust: (Transaction) throws -> Void = { _ in }) throws {
        let source = try Store("/source", vfs: disk.vfs, create: true, home: disk)
        target = try Store("/target", vfs: disk.vfs, create: true, home: disk)
        for (index, folder) in folders.enumerated() {
          disk.put(folder, at: "/\(index + 1)")
          try source.commit(keep: 20) { try $0.add("p", "/\(index + 1)", map: map) }
        }
        let snapshot = try source.snapshot()
        chain = try (1..<UInt64(folders.count)).map { try snapshot.delta(of: "p", from: $0, to: $0 + 1, level: 3) }
        content = folders.last!
        catalog = DeliveryTests.id(snapshot.packs[0].current)
        try target.commit {
          try adjust($0)
          try $0.add("p", "/1", map: map)
        }
      }

      @discardableResult
      func apply(
        keep: UInt32 = 2, _ deltas: [Delta]? = nil, adjust: (inout pks_apply_request) -> Void = { _ in }
      ) throws -> pks_add_result {
        var result = pks_add_result()
        try target.commit(keep: keep) {
          result = try $0.apply(chain: (deltas ?? chain).map(\.bytes), adjust: adjust)
        }
        return result
      }

      /// The target shows the last version, is whole, and has nothing lying about.
      func check(_ comment: Comment? = nil) throws {
        let snapshot = try target.snapshot(), now = snapshot.packs[0].current
        #expect(DeliveryTests.id(now) == catalog && now.number == chain.last?.info.to_version, comment)
        #expect(try target.state()["p"]?.content == content, comment)
        #expect(try snapshot.faults(deep: true) == [], comment)
        #expect(disk.list("/target/tmp") == [], comment)
      }
    }

    /// Versions of a folder: in each something is new that is in the next one only, or from then on.
    static func releases(_ count: Int, seed: UInt64 = 1, noise: Int = 7_000) -> [Folder] {
      var random = Random(seed), folder = Folder.sample(seed: seed), folders = [folder]
      for release in 1..<count {
        folder["only \(release)"] = .file(random.bytes(noise))
        folder["only \(release - 1)"] = nil
        folder["from \(release)"] = .file(random.text(5_000))
        if case .file(var bytes, _) = folder["large"] {
          let place = 10_000 * (release % 6)
          bytes.replaceSubrange(place..<place + 30, with: random.bytes(40))
          folder["large"] = .file(bytes)
        }
        folders.append(folder)
      }
      return folders
    }

    @Test(arguments: 2...5) func theLastVersionAlone(count: Int) throws {
      let test = try Case(Self.releases(count))
      let before = try test.target.snapshot().generation
      let result = try test.apply()
      try test.check()
      #expect(try test.target.snapshot().generation == before + 1)
      #expect(try test.target.snapshot().packs[0].version_count == 2, "the first, and the last")
      #expect(result.version.number == UInt64(count))
      // What is in versions between alone was not stored: it is as much as by a delta that leaves them out.
      let other = try Case([Self.releases(count)[0], Self.releases(count)[count - 1]])
      let direct = try other.apply()
      #expect(result.new_raw_bytes == direct.new_raw_bytes && result.new_chunk_count == direct.new_chunk_count)
    }

    @Test func asManyAsMayBe() throws {
      let test = try Case(Self.releases(Int(PKS_DELTA_CHAIN_MAX) + 2, seed: 3).map { $0.filter { $0.key != "large" } })
      #expect(try status { try test.apply() } == PKS_INVALID_ARGUMENT, "one too many")
      try test.apply(Array(test.chain.dropLast()))
      #expect(try test.target.snapshot().packs[0].current.number == UInt64(PKS_DELTA_CHAIN_MAX) + 1)
      #expect(try test.target.snapshot().faults(deep: true) == [])
    }

    /// There and back: what a version between drops is in the base.
    @Test func backAgain() throws {
      let one = Folder.sample(seed: 1), two: Folder = ["other": .file("x")]
      let test = try Case([one, two, one])
      let result = try test.apply()
      try test.check()
      #expect(result.new_chunk_count == 0)
    }

    @Test func mapAssets() throws {
      var folders = Self.releases(4)
      for index in folders.indices { folders[index]["large"] = folders[(index + 1) % 4]["large"] }
      let test = try Case(folders, map: ["large", "from*"])
      try test.apply()
      try test.check()
    }

    @Test func purgeablePacks() throws {
      let test = try Case(Self.releases(4)) { transaction in
        try transaction.chooseCache("/cache")
        try transaction.add("p", "/1") { $0.placement = PKS_PLACE_PURGEABLE }
      }
      try test.apply()
      try test.check()
    }

    @Test(arguments: testSeeds(1...6)) func generated(seed: UInt64) throws {
      var random = Random(seed), folders = [Folder.sample(seed: seed)]
      for _ in 0..<4 {
        var folder = folders[random.below(folders.count)]
        for _ in 0..<random.below(4) { folder["new/\(random.below(6))"] = .file(random.text(random.below(9_000))) }
        if let path = folder.keys.sorted().first, random.chance(1, in: 2) { folder[path] = nil }
        folder["n\(folders.count)"] = .file(random.bytes(random.below(3_000)))
        folders.append(folder)
      }
      let test = try Case(folders)
      try test.apply()
      try test.check("seed \(seed)")
    }

    // MARK: What is refused

    @Test func linksThatDoNotHold() throws {
      let test = try Case(Self.releases(4)), chain = test.chain
      let wrong = [
        [chain[0], chain[2]], [chain[1], chain[0]], [chain[0], chain[0]], [chain[0], chain[1], chain[0]],
        [chain[2], chain[1], chain[0]],
      ]
      for deltas in wrong { #expect(try status { try test.apply(deltas) } == PKS_CORRUPT) }
      #expect(
        try status { try test.apply(Array(chain.dropFirst())) } == PKS_NOT_FOUND, "it has not what they begin with")
      #expect(try test.target.snapshot().packs[0].current.number == 1)
      try test.apply()
      try test.check()
    }

    @Test func anotherPack() throws {
      let test = try Case(Self.releases(3))
      let other = try Store("/other", vfs: test.disk.vfs, create: true, home: test.disk)
      for index in 1...3 { try other.commit(keep: 9) { try $0.add("q", "/\(index)") } }
      let step = try other.snapshot().delta(of: "q", from: 1, to: 2, level: 3)
      #expect(try status { try test.apply([step, test.chain[1]]) } == PKS_CORRUPT)
      try test.apply()
      try test.check()
    }

    @Test func announcedDigests() throws {
      let test = try Case(Self.releases(3))
      let zeros = [UInt8](repeating: 0, count: 32)
      try zeros.withUnsafeBufferPointer { zeros in
        #expect(try status { try test.apply { $0.header_digest = zeros.baseAddress } } == PKS_CORRUPT)
        let refused = try status {
          try test.apply { request in
            // Lent for the time of the call.
            UnsafeMutablePointer(mutating: request.steps!)[0].header_digest = zeros.baseAddress
          }
        }
        #expect(refused == PKS_CORRUPT)
      }
      #expect(try status { try test.apply { $0.steps = nil } } == PKS_INVALID_ARGUMENT)
      try test.apply()
      try test.check()
    }

    /// Every byte of a delta in the middle counts.
    @Test func damagedSteps() throws {
      let test = try Case(Self.releases(3))
      for step in 0..<2 {
        let length = test.chain[step].bytes.count
        for place in stride(from: 0, to: length, by: max(1, length / 40)) {
          // Numbers and dates in a header are for people, and the announced digest covers them. With others, the chain applies.
          if step == 0, 16..<32 ~= place || 96..<104 ~= place { continue }
          var chain = test.chain
          chain[step].bytes[place] ^= 0x10
          #expect(try status { try test.apply(chain) } != PKS_OK, "step \(step), byte \(place)")
          #expect(test.disk.list("/target/tmp") == [])
        }
        for length in stride(from: 0, to: length, by: max(1, length / 20)) {
          var chain = test.chain
          chain[step].bytes.removeLast(chain[step].bytes.count - length)
          #expect(try status { try test.apply(chain) } == PKS_CORRUPT, "step \(step), \(length) bytes")
        }
      }
    }

    @Test func heldPacks() throws {
      let test = try Case(Self.releases(3))
      try test.target.commit { _ = try $0.rollBack("p", to: 1) }
      #expect(try status { try test.apply() } == PKS_HELD)
    }

    // MARK: Progress

    /// To the caller it is one piece of work: what is done rises to what there is to do, once.
    @Test func progressIsOfAll() throws {
      let test = try Case(Self.releases(4))
      let seen = Seen()
      try test.apply { request in
        request.context = Unmanaged.passUnretained(seen).toOpaque()
        request.progress = { context, progress in
          Unmanaged<Seen>.fromOpaque(context!).takeUnretainedValue().reports.append(progress.pointee)
          return true
        }
      }
      let done = seen.reports.map(\.bytes_done)
      #expect(done == done.sorted() && seen.reports.allSatisfy { $0.bytes_done <= $0.bytes_total })
      #expect(Set(seen.reports.map(\.bytes_total)) == [test.chain.reduce(0) { $0 + $1.info.logical_bytes }])
      #expect(seen.reports.last?.bytes_done == seen.reports.last?.bytes_total)
      let phases = seen.reports.map(\.phase.rawValue)
      #expect(phases == phases.sorted())
    }

    @Test(arguments: [1, 3, 5]) func cancelled(after calls: Int) throws {
      let test = try Case(Self.releases(4))
      let seen = Seen(calls)
      let failure = try status {
        try test.apply { request in
          request.context = Unmanaged.passUnretained(seen).toOpaque()
          request.progress = { context, _ in
            let seen = Unmanaged<Seen>.fromOpaque(context!).takeUnretainedValue()
            seen.left -= 1
            return seen.left > 0
          }
        }
      }
      #expect(failure == PKS_CANCELLED)
      #expect(test.disk.list("/target/tmp") == [])
      try test.apply()
      try test.check()
    }

    private final class Seen {
      var reports: [pks_progress] = []
      var left: Int
      init(_ left: Int = .max) { self.left = left }
    }
  }
}
