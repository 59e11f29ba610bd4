import CPackHash
import CPackStore
import CPackStoreTesting
import Foundation
import Testing

extension Core {
  /// Chunks are hashed in batches if the caller has a batch function, with the same results as one by one.
  @Suite struct HashBatchTests {
    // MARK: Opening

    /// CPackStore and CPackHash declare the message each for itself; `sha256Many` passes one as the other.
    @Test func messagesOfBothLibrariesHaveOneLayout() {
      typealias Store = pks_message
      typealias Hash = pkh_message
      #expect(MemoryLayout<Store>.size == MemoryLayout<Hash>.size)
      #expect(MemoryLayout<Store>.stride == MemoryLayout<Hash>.stride)
      #expect(MemoryLayout<Store>.alignment == MemoryLayout<Hash>.alignment)
      #expect(MemoryLayout<Store>.offset(of: \.bytes) == MemoryLayout<Hash>.offset(of: \.bytes))
      #expect(MemoryLayout<Store>.offset(of: \.byte_count) == MemoryLayout<Hash>.offset(of: \.byte_count))
      #expect(MemoryLayout<Store>.offset(of: \.digest) == MemoryLayout<Hash>.offset(of: \.digest))
    }

    private static let wrong: [Hashing] = [
      Hashing(testDescription: "computes nothing", one: sha256) { _, _ in },
      Hashing(testDescription: "leaves the last message out", one: sha256) { sha256Many($0, $1 - 1) },
      Hashing(testDescription: "wrong after the first 16", one: sha256) { messages, count in
        sha256Many(messages, count)
        if count > 16 { messages[16].digest[31] ^= 1 }
      },
      Hashing(testDescription: "wrong for one message alone", one: sha256) { messages, count in
        sha256Many(messages, count)
        if count == 1 { messages[0].digest[0] ^= 1 }
      },
      Hashing(testDescription: "wrong for an empty message", one: sha256) { messages, count in
        sha256Many(messages, count)
        for i in 0..<count where messages[i].byte_count == 0 { messages[i].digest[5] = 0 }
      },
      Hashing(testDescription: "wrong if the padding has a block of its own", one: sha256) { messages, count in
        sha256Many(messages, count)
        for i in 0..<count where messages[i].byte_count % 64 > 55 { messages[i].digest[0] ^= 0x80 }
      },
      Hashing(testDescription: "stores digests in the wrong order", one: sha256) { messages, count in
        sha256Many(messages, count)
        guard count > 1 else { return }
        for i in 0..<32 {
          let byte = messages[0].digest[i]
          messages[0].digest[i] = messages[1].digest[i]
          messages[1].digest[i] = byte
        }
      },
      Hashing(testDescription: "hashes one message too many", one: sha256) { messages, count in
        sha256Many(messages, count < 17 ? count + 1 : count)
      },
    ]

    @Test(arguments: wrong) func wrongBatchFunctionIsRefused(hashing: Hashing) throws {
      let disk = Disk()
      let refusal = try #require(throws: Failure.self) { _ = try Store(disk, create: true, hashing: hashing) }
      #expect(refusal.status == PKS_INVALID_ARGUMENT)
      #expect(refusal.text.hasPrefix("'pks_options.sha256_many' computes other digests than 'sha256';"))
      #expect(!disk.exists("/store"), "nothing was made")
      try Store(disk, create: true).commit { _ in }
      #expect(try status { try disk.repair(hashing: hashing) } == PKS_INVALID_ARGUMENT)
    }

    @Test func batchFunctionAloneIsRefused() throws {
      let disk = Disk(), alone = Hashing(testDescription: "", one: nil, many: sha256Many)
      let refusal = try #require(throws: Failure.self) { _ = try Store(disk, create: true, hashing: alone) }
      #expect(refusal.status == PKS_INVALID_ARGUMENT && refusal.text.contains("without 'sha256'; set both"))
    }

    // MARK: Same results

    /// More than one batch of chunks in a block, equal neighbours, many small files and raw assets.
    private static func content(_ seed: UInt64) -> Folder {
      var folder = DeliveryTests.everyKind(), random = Random(seed)
      folder["large"] = .file(random.text(600_000))
      if case .file(var bytes, _) = folder["text/large"] {
        bytes.replaceSubrange(100_000..<100_010, with: random.bytes(30_000))
        folder["text/large"] = .file(bytes)
      }
      return folder
    }

    /// All files of a store.
    private static func files(_ disk: Disk, _ root: String = "/store") -> [String: [UInt8]] {
      let files = disk.list(root).compactMap { path in disk.read("\(root)/\(path)").map { (path, $0) } }
      return Dictionary(uniqueKeysWithValues: files)
    }

    /// Damages a byte of the first frame of a segment of each kind.
    private static func damage(_ disk: Disk, kind: UInt8) {
      let path = disk.list("/store/segments").map { "/store/segments/\($0)" }.first { disk.read($0)?[12] == kind }
      if let path { sim_corrupt(disk.raw, path, 40, 1) }
    }

    /// Stores that are written by every path that hashes chunks, with all bytes of their files.
    private static func everyPath(_ hashing: Hashing) throws -> [String: [String: [UInt8]]] {
      var results: [String: [String: [UInt8]]] = [:]
      let publisher = Disk(seed: 5)
      do {
        let store = try Store(publisher, create: true, hashing: hashing)
        for version in 1...2 as ClosedRange<UInt64> {
          publisher.put(content(version), at: "/source")
          try store.commit(keep: 10) { try $0.add("p", "/source", map: ["noise/*", "zeros"], dictionary: .text) }
        }
      }
      results["add"] = files(publisher)
      let snapshot = try Store(publisher, hashing: hashing).snapshot()
      let delta = try snapshot.delta(of: "p", from: 1, to: 2)
      results["delta"] = ["": delta.bytes]
      #expect(try snapshot.faults(deep: true) == [])
      results["frame tables"] = try Dictionary(
        uniqueKeysWithValues: snapshot.segments(of: 0, version: 2).map {
          (hex($0.id), try snapshot.frameTable(of: $0.id))
        })

      let client = Disk(seed: 9)
      try Store(client, create: true, hashing: hashing).pull(Site(publisher, version: 1))
      results["pull"] = files(client)
      let other = client.clone()
      try Store(other, hashing: hashing).pull(Site(publisher))
      results["pull of an update"] = files(other)
      try Store(client, hashing: hashing).commit { try $0.apply(delta.bytes) }
      results["apply"] = files(client)

      for kind: UInt8 in [1, 2] {
        let damaged = publisher.clone()
        damage(damaged, kind: kind)
        let totals = try damaged.repair(hashing: hashing).totals
        #expect(totals.fault_count > 0)
        results["repair \(kind)"] = files(damaged)
      }
      return results
    }

    @Test(arguments: [Hashing.batches, .loop]) func everyPathWritesTheSameBytes(hashing: Hashing) throws {
      let expected = try Self.everyPath(.single), found = try Self.everyPath(hashing)
      #expect(expected.count == 8 && found.count == 8)
      for (path, files) in expected {
        #expect(!files.isEmpty && files.keys.sorted() == found[path]?.keys.sorted(), "\(path)")
        for (name, bytes) in files { #expect(found[path]?[name] == bytes, "\(path): \(name)") }
      }
    }

    /// Segments have their SHA-256 as a name, so that equal lists are equal files.
    @Test func anyNumberOfThreadsWritesTheSameSegments() throws {
      let folder = try TemporaryFolder(), source = try folder.put(Self.content(1), at: "source")
      var lists: [[String]] = []
      for hashing in [Hashing.single, .batches, .loop] {
        for threads: UInt32 in [1, 2, 5] {
          let name = "store \(lists.count)"
          let store = try Store("\(folder.path)/\(name)", create: true, threads: threads, hashing: hashing)
          try store.commit(PKS_ATOMIC) { try $0.add("p", source) }
          lists.append(try folder.list("\(name)/segments"))
        }
      }
      #expect(lists[0].count > 1 && Set(lists).count == 1)
    }

    // MARK: Damage

    /// `mistaken` stores a chunk with this text under a wrong name; every checksum of the store is right. No chunk ends in it.
    private static let mark = Data("<marked>".utf8)
    private static let mistaken = Hashing(
      testDescription: "mistaken", one: { hashMistakenly($0, $1, $2) },
      many: { messages, count in
        for message in UnsafeBufferPointer(start: messages, count: count) {
          guard let bytes = message.bytes else { continue }
          hashMistakenly(bytes, message.byte_count, message.digest)
        }
      })

    private static func hashMistakenly(_ bytes: UnsafeRawPointer, _ count: Int, _ digest: UnsafeMutablePointer<UInt8>) {
      pkh_sha256(bytes, count, digest)
      let message = Data(bytesNoCopy: UnsafeMutableRawPointer(mutating: bytes), count: count, deallocator: .none)
      if message.range(of: mark) != nil { digest[31] ^= 1 }
    }

    private struct Damaged {
      let disk: Disk
      var segment: String
      var offset: UInt64  // of the frame with the mark
    }

    private static let frameSize = 1 << 20

    /// A file of three frames, each with about 1,000 chunks, and the mark at `position` of the second one.
    private static func damaged(at position: Int) throws -> Damaged {
      var random = Random(31), bytes = random.text(3 * frameSize - 5_000)
      let begin = frameSize + position
      bytes.replaceSubrange(begin..<begin + mark.count, with: mark)
      let disk = Disk(seed: 3)
      disk.put(["before": .file("before"), "file": .file(bytes), "link": .link("file")], at: "/source")
      try Store(disk, create: true, hashing: mistaken).commit {
        try $0.add("p", "/source") { $0.frame_size = UInt32(frameSize) }
      }
      let segment = try #require(disk.list("/store/segments").first { disk.read("/store/segments/\($0)")?[12] == 1 })
      let all = try frames(of: "/store/segments/\(segment)", on: disk)
      #expect(all.count >= 3)
      return Damaged(disk: disk, segment: segment, offset: all[all.count - 2].lowerBound)
    }

    private static let positions = [60_000, frameSize / 2 + 200, frameSize - 60_000]

    @Test(arguments: [Hashing.batches, .single, .loop], positions)
    func verificationNamesTheFrameOfADamagedChunk(hashing: Hashing, position: Int) throws {
      let damaged = try Self.damaged(at: position)
      let (faults, totals) = try Store(damaged.disk, hashing: hashing).snapshot().verify(deep: true)
      #expect(totals.fault_count == 1 && totals.asset_count == 1 && totals.chunks_checked > 2_000)
      #expect(faults.map(\.text) == ["a chunk has other content than its id"])
      #expect(faults.map(\.file) == ["segments/\(damaged.segment)"])
      #expect(faults.map(\.offset) == [damaged.offset])
      #expect(faults.map(\.asset) == ["file"])
      #expect(try Store(damaged.disk, hashing: hashing).snapshot().faults(deep: false) == [])
    }

    @Test(arguments: [Hashing.batches, .single, .loop], positions)
    func pullNamesTheFrameOfADamagedChunk(hashing: Hashing, position: Int) throws {
      let damaged = try Self.damaged(at: position), disk = Disk(seed: 9)
      let site = try Site(damaged.disk), store = try Store(disk, create: true, hashing: hashing)
      let transaction = try store.begin(), delivery = try #require(try Delivery(site, into: transaction))
      let refusal = try #require(throws: Failure.self) { try delivery.run() }
      #expect(
        refusal.status == PKS_CORRUPT && refusal.text == "a frame of the site lacks the chunk that the catalog names")
      #expect(refusal.file == damaged.segment && refusal.offset == damaged.offset)
      delivery.close(discard: true)
      transaction.abort()
      #expect(try store.snapshot().packs.isEmpty && disk.list("/store/segments").isEmpty)
    }

    /// A repair keeps the sound chunks, and reports the asset with the damaged one as lost.
    @Test(arguments: [Hashing.batches, .single]) func repairLeavesADamagedChunkOut(hashing: Hashing) throws {
      let damaged = try Self.damaged(at: Self.positions[1])
      let report = try damaged.disk.repair(hashing: hashing)
      #expect(report.lost.map(\.asset) == ["file"] && report.totals.lost_asset_count == 1)
      let snapshot = try Store(damaged.disk, hashing: hashing).snapshot()
      #expect(try snapshot.faults(deep: true) == [] && snapshot.descendants().map(\.path) == ["before", "link"])
    }
  }
}
