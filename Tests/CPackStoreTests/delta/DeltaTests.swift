import CPackStore
import CPackStoreTesting
import Foundation
import Testing

extension Core {
  /// One file that turns a version into the next, built in one store and applied in another.
  @Suite struct DeltaTests {
    /// A publisher's store, and a client's on the same disk.
    struct Pair {
      let disk = Disk(seed: 21)
      let source: Store
      let target: Store

      init(_ folders: [Folder], map: [String] = [], average: UInt32 = 1024) throws {
        source = try Store("/source", vfs: disk.vfs, create: true, average: average, home: disk)
        target = try Store("/target", vfs: disk.vfs, create: true, average: average, home: disk)
        for (index, folder) in folders.enumerated() {
          disk.put(folder, at: "/\(index + 1)")
          try source.commit(keep: 9) { try $0.add("p", "/\(index + 1)", map: map) }
        }
        try target.commit { try $0.add("p", "/1", map: map) }
      }

      func delta(_ from: UInt64 = 1, _ to: UInt64 = 2, level: Int32 = 9) throws -> Delta {
        try source.snapshot().delta(of: "p", from: from, to: to, level: level)
      }

      @discardableResult
      func apply(
        _ delta: [UInt8], _ adjust: (inout pks_apply_request) -> Void = { _ in }
      ) throws -> pks_add_result {
        var result = pks_add_result()
        try target.commit(keep: 9) { result = try $0.apply(delta, adjust: adjust) }
        return result
      }

      var content: Folder? { get throws { try target.state()["p"]?.content } }
    }

    private static func catalog(_ version: pks_pack_version) -> [UInt8] {
      withUnsafeBytes(of: version.catalog, Array.init)
    }

    /// Builds and applies; the target then shows what the source does, and is whole.
    @discardableResult
    static func roundTrip(
      _ before: Folder, _ after: Folder, map: [String] = [], level: Int32 = 9, _ comment: Comment? = nil
    ) throws -> (delta: Delta, result: pks_add_result) {
      let pair = try Pair([before, after], map: map)
      let delta = try pair.delta(level: level)
      #expect(delta.info.length == UInt64(delta.bytes.count), comment)
      let result = try pair.apply(delta.bytes)
      let now = try pair.target.snapshot().packs[0].current, wanted = try pair.source.snapshot().packs[0].current
      #expect(catalog(now) == catalog(wanted) && now.number == wanted.number, comment)
      #expect(now.committed_at_ns == wanted.committed_at_ns && !result.unchanged, comment)
      #expect(try pair.content == after, comment)
      #expect(try pair.target.snapshot().faults(deep: true) == [], comment)
      return (delta, result)
    }

    // MARK: What changes

    @Test func aVersionIsWhatItWas() throws {
      let one = Change.folders["/one"]!, two = Change.folders["/two"]!
      let (delta, result) = try Self.roundTrip(one, two)
      #expect(result.new_raw_bytes == delta.info.new_bytes && result.new_raw_bytes < 10_000)
      #expect(delta.bytes.count < 4_000, "the new file's noise, and little else")
      try Self.roundTrip(two, one)
    }

    @Test func kindsOfChanges() throws {
      var random = Random(3)
      let text = random.text(50_000), noise = random.bytes(20_000)
      let backwards = [UInt8](text.reversed())
      let base: Folder = ["a": .file(text), "b/c": .file(noise), "b/d": .file("small"), "z": .link("a")]
      func changed(_ change: (inout Folder) -> Void) -> Folder {
        var folder = base
        change(&folder)
        return folder
      }
      let copies = changed { folder in
        for index in 0..<5 { folder["new\(index)"] = .file(backwards) }
      }
      let cases: [(String, Folder)] = [
        ("a byte at the front", changed { $0["a"] = .file([7] + text) }),
        ("a byte in the middle", changed { $0["a"] = .file(text[..<25_000] + [7] + text[25_000...]) }),
        ("a byte at the end", changed { $0["a"] = .file(text + [7]) }),
        ("bytes taken out", changed { $0["a"] = .file([UInt8](text[..<10_000]) + text[20_000...]) }),
        ("halves swapped", changed { $0["a"] = .file([UInt8](text[25_000...]) + text[..<25_000]) }),
        ("cut short", changed { $0["a"] = .file(Array(text[..<100])) }),
        ("emptied", changed { $0["a"] = .file([]) }),
        ("files swapped", changed { ($0["a"], $0["b/c"]) = ($0["b/c"], $0["a"]) }),
        ("renamed", changed { $0["0"] = $0.removeValue(forKey: "a") }),
        ("moved into a folder", changed { $0["n/e/w"] = $0.removeValue(forKey: "a") }),
        ("put together", changed { $0["both"] = .file(text + noise) }),
        ("doubled", changed { $0["a"] = .file(text + text) }),
        ("copies of something new", copies),
        ("removed", changed { $0["b/c"] = nil }),
        ("executable", changed { $0["b/d"] = .file(Array("small".utf8), executable: true) }),
        ("link to elsewhere", changed { $0["z"] = .link("b") }),
        ("a file for a link", changed { $0["z"] = .file("z") }),
        ("a link for a file", changed { $0["b/d"] = .link("c") }),
        (
          "a folder for a file",
          changed {
            $0["a"] = nil; $0["a/x"] = .file(noise)
          }
        ),
        ("an empty folder", changed { $0["void"] = .folder }),
        ("everything gone", [:]),
        ("something from nothing", base),
      ]
      for (name, after) in cases {
        let before = name == "something from nothing" ? [:] : base
        try Self.roundTrip(before, after, "\(name)")
        if !after.isEmpty, !before.isEmpty { try Self.roundTrip(after, before, "\(name), and back") }
      }
    }

    /// What is renamed, moved or put together is not in the delta.
    @Test func whatWasThereCostsNothing() throws {
      var random = Random(4)
      var before: Folder = [:], after: Folder = [:]
      for index in 0..<50 {
        let bytes = random.bytes(5_000)
        before["old/asset \(index)"] = .file(bytes)
        after["new/place \(index)"] = .file(bytes)
      }
      let (delta, result) = try Self.roundTrip(before, after)
      #expect(result.new_chunk_count == 0 && delta.info.new_bytes == 0)
      #expect(delta.bytes.count < 1_000)
    }

    /// A rewritten header in each of many files that do not compress: their changes share groups, and no ids travel.
    @Test func manySmallChanges() throws {
      var random = Random(5)
      var before: Folder = [:], after: Folder = [:]
      for index in 0..<60 {
        let bytes = random.bytes(20_000)
        before["f\(index)"] = .file(bytes)
        after["f\(index)"] = .file(random.bytes(64) + bytes[64...])
      }
      let (delta, _) = try Self.roundTrip(before, after)
      #expect(delta.bytes.count < 60 * 64 + 60 * 5 + 300)
    }

    /// One changed byte, or one more at the beginning: nearly all of such a delta is two catalog ids and the numbers of the version.
    @Test(arguments: [Int32(9), 18, 22])
    func smallChangesAreSmallDeltas(level: Int32) throws {
      var random = Random(16)
      let bytes = random.bytes(300_000)
      var other = bytes
      other[150_000] ^= 1
      for (after, comment) in [(other, "one byte changed"), ([33] + bytes, "one byte inserted")] {
        let (delta, _) = try Self.roundTrip(["a": .file(bytes)], ["a": .file(after)], level: level)
        #expect(delta.isShort && delta.bytes.count <= 176, "\(comment): \(delta.bytes.count) bytes")
      }
    }

    /// Changes of a few bytes all over a file that does not compress: each takes its bytes, its distance and little else.
    @Test(arguments: [Int32(9), 18])
    func scatteredChangesTakeFewBytes(level: Int32) throws {
      var random = Random(17)
      let before = random.bytes(4_000_000)
      var after = before
      var count = 0
      for area in stride(from: 5_000, to: before.count - 10_000, by: 10_000) {
        let position = area + random.below(4_000)
        after.replaceSubrange(position..<position + 4, with: random.bytes(1 + random.below(7)))
        count += 1
      }
      let (delta, _) = try Self.roundTrip(["a": .file(before)], ["a": .file(after)], level: level)
      #expect(delta.bytes.count < count * (4 + 5) + 300)
      try Self.roundTrip(["a": .file(before)], ["a": .file(Array(after.dropLast(9))), "b": .file(after)], level: level)
    }

    /// Blocks in another order: each takes its position and its length, and groups without prefixes are joined.
    @Test func movedBlocksTakeFewBytes() throws {
      var random = Random(18)
      var blocks = (0..<400).map { _ in random.bytes(1_000 + random.below(9_000)) }
      let before = Array(blocks.joined())
      blocks.shuffle(using: &random)
      let (delta, _) = try Self.roundTrip(
        ["a": .file(before)], ["a": .file(Array(blocks.joined()))], level: 18)
      #expect(delta.bytes.count < blocks.count * 11)
      #expect(delta.blocks.count <= 4)
    }

    /// New data without similar data in the old version: no group has a prefix, and all are compressed.
    @Test(arguments: [Int32(9), 18])
    func unrelatedDataIsCompressed(level: Int32) throws {
      var random = Random(19)
      let old = random.bytes(50_000), new = random.text(1_500_000)
      let (delta, _) = try Self.roundTrip(["a": .file(old)], ["a": .file(old), "b": .file(new)], level: level)
      #expect(delta.bytes.count < new.count / 3)
    }

    /// Addresses in a program move by little, everywhere: covers hold their differences. Equal data around them allows copies,
    /// and another choice of prefixes.
    @Test(arguments: [0, 200_000])
    func manyNumbersThatMove(equalBytes: Int) throws {
      var random = Random(6)
      let front = random.bytes(equalBytes), back = random.bytes(equalBytes)
      var before: [UInt8] = [], after: [UInt8] = []
      var address: UInt32 = 0x40_0000
      for _ in 0..<20_000 {
        address += UInt32(random.below(4000))
        let opcode = random.bytes(3)
        func encode(_ address: UInt32) -> [UInt8] {
          opcode + (0..<4).map { UInt8(truncatingIfNeeded: address >> (8 * $0)) }
        }
        before += encode(address)
        after += encode(address + 0x1230)
      }
      let (delta, _) = try Self.roundTrip(
        ["program": .file(front + before + back)], ["program": .file(front + after + back)], level: 19)
      #expect(delta.bytes.count < after.count / 8)
    }

    /// A container whose records stand in another order, and have changed a little: they are found wherever they were. No
    /// chunk is what it was, and each record takes a few bytes.
    @Test func recordsInAnotherOrder() throws {
      var random = Random(14)
      var records = (0..<12_000).map { _ in random.bytes(100 + random.below(400)) }
      let before = Array(records.joined())
      records.shuffle(using: &random)
      for index in records.indices where index % 3 == 0 { records[index][50] ^= 0x55 }
      let (delta, _) = try Self.roundTrip(
        ["container": .file(before)], ["container": .file(Array(records.joined()))], level: 18)
      #expect(delta.bytes.count < records.count * 16)
    }

    /// What repeats itself has many places, of which the longest match counts; and what was put in between moves all that follows.
    @Test func manyPlacesForTheSame() throws {
      var random = Random(15)
      let words = (0..<16).map { _ in random.bytes(48) }
      let before = (0..<8_000).flatMap { _ in words[random.below(words.count)] }
      var after = before
      for index in stride(from: 300_000, to: 0, by: -3_000) { after.insert(contentsOf: [1, 2, 3], at: index) }
      let (delta, _) = try Self.roundTrip(["a": .file(before)], ["a": .file(after)], level: 18)
      #expect(delta.bytes.count < 6_000)
    }

    @Test func manyEntries() throws {
      var random = Random(7)
      var before: Folder = [:], after: Folder = [:]
      for index in 0..<3_000 {
        let file = Node.file(random.text(random.below(60)))
        if !random.chance(1, in: 20) { before["folder \(index % 37)/asset \(index)"] = file }
        if !random.chance(1, in: 20) {
          after["folder \(index % 37)/asset \(index)"] = random.chance(1, in: 9) ? .file(random.text(30)) : file
        }
      }
      try Self.roundTrip(before, after)
    }

    /// More new bytes than a group holds, in chunks that are known by nothing but their content.
    @Test func manyGroups() throws {
      var random = Random(8)
      let old = random.text(1_500_000), other = random.text(1_300_000)
      let mixed = Array(other[..<600_000]) + old[700_000..<900_000] + random.bytes(300_000) + other[600_000...]
      let (delta, _) = try Self.roundTrip(["a": .file(old)], ["a": .file(mixed), "b": .file(old)])
      #expect(delta.blocks.count > 3)
    }

    @Test(arguments: testSeeds(1...12))
    func generatedPairs(seed: UInt64) throws {
      var random = Random(seed)
      var before: Folder = [:], after: Folder = [:]
      for index in 0..<random.below(30) {
        let path = "d\(random.below(4))/f\(index)"
        let bytes = random.chance(1, in: 3) ? random.bytes(random.below(40_000)) : random.text(random.below(40_000))
        before[path] = .file(bytes, executable: random.chance(1, in: 8))
        var changed = bytes
        for _ in 0..<random.below(4) where !changed.isEmpty {
          let at = random.below(changed.count), end = min(at + random.below(3_000), changed.count)
          changed.replaceSubrange(at..<end, with: random.chance(1, in: 2) ? random.bytes(random.below(500)) : [])
        }
        switch random.below(6) {
        case 0: break
        case 1: after["moved/\(index)"] = .file(changed)
        default: after[path] = .file(changed, executable: random.chance(1, in: 8))
        }
      }
      try Self.roundTrip(before, after, map: random.chance(1, in: 2) ? ["d1/*"] : [], "seed \(seed)")
    }

    // MARK: Map assets

    /// Map assets are laid out in one piece, be their chunks kept, new, or new before.
    @Test func mapAssets() throws {
      var random = Random(9)
      let old = random.bytes(30_000), new = random.bytes(20_000)
      let before: Folder = ["m/a": .file(old), "m/b": .file(new.reversed())]
      let after: Folder = [
        "m/a": .file(old[..<15_000] + new + old[15_000...]), "m/b": .file(new.reversed()), "m/c": .file(new + old),
        "m/d": .file(new + new), "m/e": .file(new + [1]), "z": .file(new),
      ]
      let pair = try Pair([before, after], map: ["m/*"])
      try pair.apply(pair.delta().bytes)
      #expect(try pair.content == after)
      let snapshot = try pair.target.snapshot()
      for path in after.keys where path.hasPrefix("m/") {
        try snapshot.withAsset(path) { #expect($0.pointee.mapped, "\(path)") }
      }
      #expect(try snapshot.faults(deep: true) == [])
    }

    /// Which files are map assets is the publisher's word, be they equal or not, and whatever was said before.
    @Test func whatIsMappedIsSaid() throws {
      var random = Random(10)
      let folder: Folder = ["m": .file(random.text(30_000)), "n": .file("n")]
      let pair = try Pair([folder])
      pair.disk.put(["m": folder["m"]!, "n": .file("other")], at: "/2")
      // Version 1 stays as it is, and is laid out afresh at its publisher's.
      try pair.source.commit(keep: 9) { try $0.add("p", "/1", map: ["m"]) }
      try pair.source.commit(keep: 9) { try $0.add("p", "/2", map: ["m"]) }
      try pair.apply(pair.delta().bytes)
      try pair.target.snapshot().withAsset("m") { #expect($0.pointee.mapped) }
      #expect(try pair.target.snapshot().faults(deep: true) == [])
      pair.disk.put(["m": folder["m"]!, "n": .file("a third")], at: "/3")
      try pair.source.commit(keep: 9) { try $0.add("p", "/2") }
      try pair.source.commit(keep: 9) { try $0.add("p", "/3") }
      let mapped = try pair.source.snapshot().withAsset("m") { $0.pointee.mapped }
      try pair.apply(pair.delta(2, 3).bytes)
      try pair.target.snapshot().withAsset("m") { #expect($0.pointee.mapped == mapped) }
      #expect(try pair.target.snapshot().faults(deep: true) == [])
    }

    // MARK: Which versions

    @Test func whatIsCurrentStaysAsItIs() throws {
      let pair = try Pair([Change.folders["/one"]!, Change.folders["/two"]!])
      let delta = try pair.delta()
      try pair.apply(delta.bytes)
      let generation = try pair.target.snapshot().generation
      let again = try pair.apply(delta.bytes)
      #expect(again.unchanged && again.version.number == 2 && again.new_stored_bytes == 0)
      #expect(try pair.target.snapshot().generation == generation)
      try pair.apply(delta.bytes) { request in
        request.set_priority = true
        request.priority = 5
      }
      #expect(try pair.target.snapshot().packs[0].priority == 5)
    }

    /// The version that it begins with need not be the current one, nor the pack be there.
    @Test func fromAnOlderVersion() throws {
      let pair = try Pair([Change.folders["/one"]!, Change.folders["/two"]!, Change.folders["/other"]!])
      try pair.apply(pair.delta(1, 2).bytes)
      try pair.apply(pair.delta(1, 3).bytes)
      #expect(try pair.content == Change.folders["/other"])
      try pair.apply(pair.delta(3, 1).bytes)
      #expect(try pair.content == Change.folders["/one"])
      try pair.target.commit { try $0.remove("p", keepHistory: true) }
      try pair.apply(pair.delta(1, 2).bytes)
      #expect(try pair.content == Change.folders["/two"])
      #expect(try pair.target.snapshot().faults(deep: true) == [])
    }

    @Test func theWrongBase() throws {
      let pair = try Pair([Change.folders["/one"]!, Change.folders["/two"]!, Change.folders["/other"]!])
      let delta = try pair.delta(2, 3)
      let transaction = try pair.target.begin()
      do {
        try transaction.apply(delta.bytes)
        Issue.record("a delta was applied to what it does not begin with")
      } catch let failure as Failure {
        #expect(failure.status == PKS_NOT_FOUND && failure.description.contains("p@2"))
      }
      try transaction.add("q", "/1")
      _ = try transaction.commit()
      #expect(try pair.target.snapshot().packNames == ["p", "q"])
    }

    @Test func heldAndTakenNumbers() throws {
      let pair = try Pair([Change.folders["/one"]!, Change.folders["/two"]!])
      let delta = try pair.delta()
      try pair.target.commit(keep: 9) { try $0.add("p", "/2", version: 7) }
      try pair.target.commit { try $0.rollBack("p", to: 1) }
      #expect(try status { try pair.apply(delta.bytes) } == PKS_HELD)
      try pair.target.commit { try $0.unpin("p") }
      pair.disk.put(["x": .file("x")], at: "/x")
      try pair.target.commit(keep: 9) { try $0.add("p", "/x", version: 2) { $0.downgrade = true } }
      #expect(try status { try pair.apply(delta.bytes) } == PKS_EXISTS)
    }

    @Test func anotherDelta() throws {
      let pair = try Pair([Change.folders["/one"]!, Change.folders["/two"]!])
      let delta = try pair.delta()
      var digest = withUnsafeBytes(of: delta.info.header_digest, Array.init)
      #expect(withUnsafeBytes(of: try inspect(delta.bytes).header_digest, Array.init) == digest)
      digest.withUnsafeBufferPointer { lent in
        #expect(throws: Never.self) {
          let transaction = try pair.target.begin()
          try transaction.apply(delta.bytes) { $0.header_digest = lent.baseAddress }
          transaction.abort()
        }
      }
      digest[31] ^= 1
      _ = digest.withUnsafeBufferPointer { lent in
        #expect(throws: Failure.self) { try pair.apply(delta.bytes) { $0.header_digest = lent.baseAddress } }
      }
    }

    @Test func requestsThatMakeNoSense() throws {
      let pair = try Pair([Change.folders["/one"]!, Change.folders["/two"]!])
      let snapshot = try pair.source.snapshot()
      #expect(try status { _ = try snapshot.delta(of: "q", from: 1, to: 2) } == PKS_NOT_FOUND)
      #expect(try status { _ = try snapshot.delta(of: "p", from: 1, to: 3) } == PKS_NOT_FOUND)
      #expect(try status { _ = try snapshot.delta(of: "p", from: 1, to: 2, level: 23) } == PKS_INVALID_ARGUMENT)
      #expect(try status { _ = try inspect(Array("no delta at all, but long enough".utf8)) } == PKS_CORRUPT)
      let delta = try pair.delta()
      #expect(try status { try pair.apply(delta.bytes) { $0.level = 23 } } == PKS_INVALID_ARGUMENT)
      for (format, expected) in otherDrafts {
        var other = delta.bytes
        other.replaceSubrange(8..<12, with: format)
        #expect(try status { _ = try inspect(other) } == expected)
      }
    }

    // MARK: Damage

    /// A bit turned anywhere: in the header, in each block, and at its ends.
    @Test(arguments: [0, 40_000]) func everyPlace(moreBytes: Int) throws {
      var random = Random(22)
      let two = Change.folders["/two"]!.merging(["noise": .file(random.bytes(moreBytes))]) { $1 }
      let pair = try Pair([Change.folders["/one"]!, two])
      let delta = try pair.delta()
      #expect(delta.isShort == (moreBytes == 0))
      let header = Int(delta.info.header_length)
      var places = Set(stride(from: 0, to: header, by: 3))
      for block in delta.blocks {
        places.formUnion([block.lowerBound, block.upperBound - 1])
        places.formUnion(stride(from: block.lowerBound, to: block.upperBound, by: 97 + moreBytes / 20))
      }
      let generation = try pair.target.snapshot().generation
      for place in places.sorted() {
        var bytes = delta.bytes
        bytes[place] ^= 0x10
        let failure = try status {
          let transaction = try pair.target.begin()
          defer { transaction.abort() }
          try transaction.apply(bytes)
        }
        // What only says how the version is to be called, or how much memory applying takes at most, may be anything: the
        // root's signature is for that.
        let isFree = (16..<32).contains(place) || (96..<104).contains(place) || (160..<169).contains(place)
        #expect(failure != PKS_OK || isFree && !delta.isShort, "byte \(place)")
      }
      #expect(try pair.target.snapshot().generation == generation)
      #expect(try pair.target.snapshot().faults(deep: true) == [])
    }

    @Test func everyLength() throws {
      let pair = try Pair([Change.folders["/one"]!, Change.folders["/two"]!])
      let delta = try pair.delta()
      for length in stride(from: 0, to: delta.bytes.count, by: 61) {
        #expect(try status { try pair.apply(Array(delta.bytes[..<length])) } == PKS_CORRUPT, "\(length) bytes")
      }
      try pair.apply(delta.bytes + [1, 2, 3])
      #expect(try pair.content == Change.folders["/two"])
    }

    // MARK: Building

    /// The bytes depend on the versions and the level alone.
    /// From the default level on, the index of the old version is an exact one.
    @Test(arguments: [Int32(9), 18])
    func determinism(level: Int32) throws {
      var random = Random(11)
      var before: Folder = [:], after: Folder = [:]
      for index in 0..<20 {
        let bytes = random.text(90_000)
        before["f\(index)"] = .file(bytes)
        after["f\(index)"] = .file(bytes[..<40_000] + random.text(20_000) + bytes[50_000...])
      }
      let deltas = try [UInt32(1), 2, 5].map { threads in
        let home = try TemporaryFolder()
        let old = try home.put(before, at: "before"), new = try home.put(after, at: "after")
        let source = try Store(home.path + "/source", create: true, threads: threads)
        for folder in [old, new] { try source.commit(keep: 9) { try $0.add("p", folder) } }
        let target = try Store(home.path + "/target", create: true, threads: threads)
        try target.commit { try $0.add("p", old) }
        var delta = try source.snapshot().delta(of: "p", from: 1, to: 2, level: level)
        try target.commit { try $0.apply(delta.bytes) }
        #expect(try target.state()["p"]?.content == after)
        // The date of the version is in the header.
        delta.bytes.replaceSubrange(96..<104, with: repeatElement(0, count: 8))
        return delta.bytes
      }
      #expect(deltas[0] == deltas[1] && deltas[0] == deltas[2])
    }

    @Test func levels() throws {
      var random = Random(12)
      let bytes = random.text(400_000)
      let after = bytes[..<100_000] + random.text(50_000) + bytes[200_000...].reversed()
      let sizes = try [1, 9, 18, 22].map { level in
        try Self.roundTrip(["a": .file(bytes)], ["a": .file(Array(after))], level: level).delta.bytes.count
      }
      #expect(sizes == sizes.sorted(by: >))
    }

    @Test func cancelling() throws {
      let pair = try Pair([Change.folders["/one"]!, Change.folders["/two"]!])
      let snapshot = try pair.source.snapshot()
      #expect(try status { _ = try snapshot.delta(of: "p", from: 1, to: 2, cancelAfter: 1) } == PKS_CANCELLED)
      #expect(try status { _ = try snapshot.delta(of: "p", from: 1, to: 2, cancelAfter: 2) } == PKS_CANCELLED)
      #expect(try status { _ = try snapshot.delta(of: "p", from: 1, to: 2, failAfter: 0) } == PKS_IO_ERROR)
      #expect(pair.disk.list("/source/tmp").isEmpty)
    }

    @Test func failingWritesOfLongDeltas() throws {
      var random = Random(23)
      let pair = try Pair([Change.folders["/one"]!, ["noise": .file(random.bytes(40_000))]])
      let snapshot = try pair.source.snapshot()
      for writes in 0..<3 {
        #expect(try status { _ = try snapshot.delta(of: "p", from: 1, to: 2, failAfter: writes) } == PKS_IO_ERROR)
      }
      #expect(pair.disk.list("/source/tmp").isEmpty)
    }

    /// A store that may not be written to is a source, too.
    @Test func fromReadOnlyMedia() throws {
      let pair = try Pair([Change.folders["/one"]!, Change.folders["/two"]!])
      let delta = try pair.delta()
      sim_set_capacity(pair.disk.raw, 1)
      #expect(throws: Failure.self) { try pair.delta() }
      sim_set_capacity(pair.disk.raw, .max)
      #expect(try pair.delta().bytes == delta.bytes)
    }

    /// A failure of the machine while one is built is told. What it leaves is cleared up by the next that commits.
    @Test func failuresWhileBuilding() throws {
      let pair = try Pair([Change.folders["/one"]!, Change.folders["/two"]!])
      let expected = try pair.delta().bytes
      var calls = UInt64.max, call: UInt64 = 0, failures = 0
      while call < calls {
        let disk = pair.disk.clone()
        let store = try Store("/source", vfs: disk.vfs, home: disk), snapshot = try store.snapshot()
        let before = sim_call_count(disk.raw, SIM_CALL_ANY)
        if calls == .max {
          #expect(try snapshot.delta(of: "p", from: 1, to: 2, level: 9).bytes == expected)
          calls = sim_call_count(disk.raw, SIM_CALL_ANY) - before
          continue
        }
        defer { call += 1 }
        sim_fail(disk.raw, SIM_CALL_ANY, nil, call, EIO, false)
        do {
          // What fails may be something that is not needed.
          #expect(try snapshot.delta(of: "p", from: 1, to: 2, level: 9).bytes == expected, "call \(call)")
        } catch let failure as Failure {
          #expect(failure.status == PKS_IO_ERROR, "call \(call)")
          failures += 1
        }
        sim_clear_faults(disk.raw)
        #expect(try snapshot.delta(of: "p", from: 1, to: 2, level: 9).bytes == expected, "after call \(call)")
        try store.commit(keep: 9) { try $0.add("q", "/1") }
        #expect(disk.list("/source/tmp") == [], "call \(call)")
      }
      #expect(failures > 10)
    }
  }
}
