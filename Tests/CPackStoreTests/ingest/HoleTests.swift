import CPackStore
import CPackStoreTesting
import Foundation
import Testing

extension Core {
  /// Sparse files: holes are not read and cost a row for each chunk. The store is the same as if the zeros were read.
  @Suite struct HoleTests {
    /// A file with holes: its size, and where its data is.
    struct Sparse {
      var size: Int
      var data: [(offset: Int, bytes: [UInt8])]

      var dense: [UInt8] {
        var bytes = [UInt8](repeating: 0, count: size)
        for piece in data { bytes.replaceSubrange(piece.offset..<piece.offset + piece.bytes.count, with: piece.bytes) }
        return bytes
      }
    }

    private static func files() -> [Sparse] {
      var random = Random(51)
      func piece(_ offset: Int, _ count: Int) -> (offset: Int, bytes: [UInt8]) { (offset, random.bytes(count)) }
      var files = [
        Sparse(size: 3_000_000, data: []),  // only a hole
        Sparse(size: 4_096 * 400, data: []),  // as many longest chunks as fit
        Sparse(size: 4_096 * 400 - 1, data: []),
        Sparse(size: 4_096 * 400 + 1, data: []),
        Sparse(size: 2_000_000, data: [piece(0, 1)]),
        Sparse(size: 2_000_000, data: [piece(1_999_999, 1)]),
        Sparse(size: 5_000_001, data: [piece(1_234_567, 300_001), piece(4_000_000, 4_096)]),
        Sparse(size: 700_000, data: [piece(4_096, 4_096), piece(12_288, 1), piece(20_480, 4_096)]),  // tiny holes
        Sparse(size: 2_500_000, data: [piece(1_048_000, 1_000), piece(1_056_768, 300_000)]),  // about a block's end
        // Zeros as data.
        Sparse(size: 1_500_000, data: [(offset: 500_000, bytes: [UInt8](repeating: 0, count: 90_000))]),
        Sparse(size: 262_145, data: []), Sparse(size: 262_144, data: []), Sparse(size: 1, data: []),
      ]
      for _ in 0..<40 {
        let size = random.below(3_000_000) + 1
        let data = (0..<random.below(6)).map { _ in
          let offset = random.below(size)
          return piece(offset, min(random.below(60_000), size - offset))
        }
        files.append(Sparse(size: size, data: data))
      }
      return files
    }

    private static func put(_ file: Sparse, _ disk: Disk, at path: String) {
      sim_put_file(disk.raw, path, nil, 0)
      for piece in file.data { sim_put_part(disk.raw, path, UInt64(piece.offset), piece.bytes, piece.bytes.count) }
      sim_put_part(disk.raw, path, UInt64(file.size), nil, 0)
    }

    /// Adds a folder to a store with short chunks on a new disk.
    private static func added(
      _ put: (Disk) -> Void, map: [String] = [], seam: (Seam) -> Void = { _ in }
    ) throws -> (disk: Disk, result: pks_add_result) {
      let disk = Disk(seed: 3), behind = Seam(disk)
      put(disk)
      seam(behind)
      let store = try Store("/store", vfs: behind.vfs, create: true, average: 1024, home: behind)
      var result = pks_add_result()
      try store.commit { result = try $0.add("p", "/source", map: map) }
      #expect(try store.snapshot().faults(deep: true) == [])
      return (disk, result)
    }

    private static func fingerprint(_ added: (disk: Disk, result: pks_add_result)) -> String {
      let catalog = withUnsafeBytes(of: added.result.version.catalog) { hex(Array($0)) }
      return catalog + withUnsafeBytes(of: added.result.version.layout) { hex(Array($0)) }
        + " \(sim_fingerprint_of(added.disk.raw, "/store/segments"))"
    }

    /// Each file alone, and all of them together, are stored as if their zeros had been read: catalog, layout and segments.
    @Test func sparseAndDenseAreTheSame() throws {
      let files = Self.files()
      for group in files.map({ [$0] }) + [files] {
        let sparse = try Self.added { disk in
          for (index, file) in group.enumerated() { Self.put(file, disk, at: "/source/f\(index)") }
        }
        let dense = try Self.added { disk in
          for (index, file) in group.enumerated() { disk.write(file.dense, to: "/source/f\(index)") }
        }
        let same = Self.fingerprint(sparse) == Self.fingerprint(dense)
        #expect(same, "\(group.map { ($0.size, $0.data.map { ($0.offset, $0.bytes.count) }) })")
      }
    }

    /// As a map asset, which is stored whole.
    @Test func mappedFiles() throws {
      let file = Self.files()[6]
      let sparse = try Self.added({ Self.put(file, $0, at: "/source/f") }, map: ["f"])
      let dense = try Self.added({ $0.write(file.dense, to: "/source/f") }, map: ["f"])
      #expect(Self.fingerprint(sparse) == Self.fingerprint(dense))
    }

    /// 64 MiB with 8 KiB of data: these are read, and little of the store.
    @Test func holesAreNotRead() throws {
      let disk = Disk(seed: 3)
      Self.put(
        Sparse(size: 64 << 20, data: [(40_001_536, [UInt8](repeating: 7, count: 8_192))]), disk, at: "/source/f")
      let store = try Store("/store", vfs: disk.vfs, create: true, home: disk)
      let before = disk.counts
      try store.commit { try $0.add("p", "/source") }
      #expect(disk.counts.bytes_read - before.bytes_read < 50_000)
    }

    /// The second version of a file that grew by a hole finds the hole's chunk in the store.
    @Test func holesThatAreStored() throws {
      let disk = Disk(seed: 3)
      let store = try Store("/store", vfs: disk.vfs, create: true, average: 1024, home: disk)
      var results: [pks_add_result] = []
      for size in [4 << 20, 9 << 20] {
        Self.put(Sparse(size: size, data: [(5_000, [1, 2, 3])]), disk, at: "/source/f")
        try store.commit { results.append(try $0.add("p", "/source")) }
      }
      #expect(results[1].new_chunk_count == 0 && results[1].chunk_count > 2_000)
      #expect(try store.state()["p"]?.content["f"] == .file(Sparse(size: 9 << 20, data: [(5_000, [1, 2, 3])]).dense))
    }

    /// A file system without holes, a failing call, and answers that contradict themselves: everything is read.
    @Test func fileSystemsWithoutHoles() throws {
      let file = Self.files()[6]
      let expected = Self.fingerprint(try Self.added { Self.put(file, $0, at: "/source/f") })
      typealias Answer = (UInt64, UnsafeMutablePointer<UInt64>, UnsafeMutablePointer<UInt64>) -> Int32
      let answers: [Answer] = [
        { _, _, _ in ENOTSUP },
        { _, _, _ in EIO },
        { _, begin, end in
          (begin.pointee, end.pointee) = (0, 0); return 0
        },
        { offset, begin, end in
          (begin.pointee, end.pointee) = (offset, offset); return 0
        },
        { offset, begin, end in
          (begin.pointee, end.pointee) = (offset, offset + 1); return 0
        },
        { offset, begin, end in
          (begin.pointee, end.pointee) = (offset, .max); return 0
        },
      ]
      for (index, answer) in answers.enumerated() {
        let added = try Self.added({ Self.put(file, $0, at: "/source/f") }, seam: { $0.onHole = answer })
        #expect(Self.fingerprint(added) == expected, "answer \(index)")
      }
    }

    /// A hole that is filled while the file is read: the time shows it.
    @Test func holesThatAreFilledMeanwhile() throws {
      let disk = Disk(seed: 3), seam = Seam(disk)
      Self.put(Sparse(size: 4 << 20, data: [(3 << 20, [1])]), disk, at: "/source/f")
      let store = try Store("/store", vfs: seam.vfs, create: true, home: seam)
      var isDone = false
      seam.onHole = { _, _, _ in
        if !isDone {
          sim_advance_clock(disk.raw, 1_000_000)
          sim_put_part(disk.raw, "/source/f", 1 << 20, [9], 1)
        }
        isDone = true
        return nil
      }
      #expect(try status { try store.commit { try $0.add("p", "/source") } } == PKS_SOURCE_CHANGED && isDone)
    }

    // MARK: Rows

    /// A version that pulls would refuse is not added. 16 MiB of chunks of 4 KiB are 4,096 chunks, and as many extents. Their distinct
    /// pages allow 3,100 rows, and 5,200 rows with the pages of the layout.
    @Test func tooManyRowsAreRefused() throws {
      let disk = Disk(seed: 3)
      Self.put(Sparse(size: 16 << 20, data: []), disk, at: "/source/f")
      let store = try Store("/store", vfs: disk.vfs, create: true, average: 1024, home: disk)
      let error = try thrown { try store.commit { try $0.add("p", "/source") { $0.max_rows = 500 } } }
      #expect(error.status == PKS_TOO_MANY_ROWS && error.file == "p")
      #expect(error.needed == 4_096 && (500..<4_096).contains(error.limit))
      let extents = try thrown { try store.commit { try $0.add("p", "/source") { $0.max_rows = 2_000 } } }
      #expect(extents.status == PKS_TOO_MANY_ROWS && extents.needed == 8_192)
      try store.commit { try $0.add("p", "/source") { $0.max_rows = 4_096 } }
      #expect(try store.snapshot().packs.count == 1)
    }

    /// A delta of a few hundred bytes that takes the same new chunk again and again.
    @Test func deltasOfManyRowsAreRefused() throws {
      let disk = Disk(seed: 21), home = disk
      let source = try Store("/source", vfs: disk.vfs, create: true, average: 1024, home: home)
      let target = try Store("/target", vfs: disk.vfs, create: true, average: 1024, home: home)
      disk.put(["small": .file([1])], at: "/1")
      disk.put(["small": .file([1])], at: "/2")
      Self.put(Sparse(size: 400 << 20, data: [(5_000, [1, 2, 3])]), disk, at: "/2/sparse")
      for folder in ["/1", "/2"] { try source.commit(keep: 9) { try $0.add("p", folder) } }
      try target.commit { try $0.add("p", "/1") }
      let delta = try source.snapshot().delta(of: "p", from: 1, to: 2, level: 9)
      #expect(delta.bytes.count < 2_000)
      let error = try thrown { try target.commit(keep: 9) { try $0.apply(delta.bytes) { $0.max_rows = 50_000 } } }
      // Found at the next multiple of 65,536, long before all 102,400 rows.
      #expect(error.status == PKS_TOO_MANY_ROWS && error.file == "p" && error.needed == 65_536)
      #expect(try target.snapshot().packs[0].current.number == 1)
      try target.commit(keep: 9) { try $0.apply(delta.bytes) { $0.max_rows = 300_000 } }
      #expect(try target.snapshot().packs[0].current.number == 2)
    }

    /// Verifying 80,000 rows that take one short frame reports progress in between, and each report can cancel.
    @Test func verifyingRowsIsCancelled() throws {
      final class Count { var asked = 0, limit = Int.max }
      let disk = Disk(seed: 3), count = Count()
      Self.put(Sparse(size: 320 << 20, data: []), disk, at: "/source/f")
      let store = try Store("/store", vfs: disk.vfs, create: true, average: 1024, home: disk)
      try store.commit { try $0.add("p", "/source") }
      let snapshot = try store.snapshot()
      func verify(limit: Int) throws -> pks_status {
        (count.asked, count.limit) = (0, limit)
        return try status {
          try attempt {
            pks_snapshot_verify(
              snapshot.raw, true, nil,
              { context, _, _ in
                let count = Unmanaged<Count>.fromOpaque(context!).takeUnretainedValue()
                count.asked += 1
                return count.asked <= count.limit
              }, Unmanaged.passUnretained(count).toOpaque(), nil, $0)
          }
        }
      }
      #expect(try verify(limit: .max) == PKS_OK)
      let total = count.asked
      // Chunks and extents of the version, extents of its record, and both once more when they are compared.
      #expect(total >= 4)
      for limit in 0..<total { #expect(try verify(limit: limit) == PKS_CANCELLED && count.asked == limit + 1) }
    }

    /// The limit as it is without an option: 64 GiB of holes are within it, and no more.
    @Test func sixtyFourGibibytes() throws {
      var budget = pks__row_budget_make(0)
      let chunk = pks__chunker_make(UInt32(PKS__CHUNK_AVERAGE_DEFAULT)).maximum
      pks__row_budget_add(&budget, 2 * (64 << 30) / UInt64(chunk))
      #expect(try status { try attempt { pks__row_budget_check(&budget, "p", $0) } } == PKS_OK)
      pks__row_budget_add(&budget, 1)
      #expect(try status { try attempt { pks__row_budget_check(&budget, "p", $0) } } == PKS_TOO_MANY_ROWS)
      budget.page_bytes = 1024
      #expect(pks__row_budget_limit(&budget) == UInt64(PKS_ROWS_MAX) + 64)
      pks__row_budget_add(&budget, .max)
      #expect(budget.count == .max)
      budget = pks__row_budget_make(.max)
      #expect(pks__row_budget_limit(&budget) == UInt64(UInt32.max))
    }
  }
}
