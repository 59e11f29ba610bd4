import CPackStore
import CPackStoreTesting
import Foundation
import Testing

extension Core {
  /// What transactions promise, on a simulated disk; among them regressions, each with its story.
  @Suite struct TransactionTests {
    private static func disk(_ folders: [String: Folder] = Change.folders) -> Disk {
      let disk = Disk(seed: 8)
      for (path, folder) in folders { disk.put(folder, at: path) }
      return disk
    }

    private static func segments(_ disk: Disk) -> Set<String> { Set(disk.list("/store/segments")) }

    // MARK: Versions

    @Test func versions() throws {
      let disk = Self.disk(), store = try Store(disk, create: true)
      var result = pks_add_result()
      let first = try store.commit { result = try $0.add("p", "/one") }
      #expect(first == 2 && result.version.number == 1)
      let same = try store.commit { result = try $0.add("p", "/one") }
      #expect(same == 2 && result.unchanged, "nothing changed: no generation")
      try store.commit(keep: 3) { result = try $0.add("p", "/two", version: 10) }
      #expect(result.version.number == 10)
      #expect(try status { try store.commit { try $0.add("p", "/one", version: 10) } } == PKS_EXISTS)
      try store.commit(keep: 3) { result = try $0.add("p", "/one") }
      #expect(result.version.number == 11)
      let pack = try store.snapshot().packs[0]
      #expect(pack.version_count == 3 && pack.current.number == 11)
      try store.commit(keep: 1) { try $0.add("p", "/small") }
      #expect(try store.snapshot().packs[0].version_count == 1)
    }

    @Test func countsOfAnAdd() throws {
      let disk = Self.disk(), store = try Store(disk, create: true)
      try store.commit { transaction in
        let result = try transaction.add("p", "/one")
        let files = Change.folders["/one"]!.values.compactMap {
          if case .file(let bytes, _) = $0 { bytes.count } else { nil }
        }
        #expect(
          result.version.file_count == UInt64(files.count) && result.version.link_count == 1
            && result.version.folder_count == 1)
        #expect(result.version.logical_bytes == UInt64(files.reduce(0, +)))
        #expect(result.new_raw_bytes <= result.version.logical_bytes && result.new_chunk_count <= result.chunk_count)
        let again = try transaction.add("q", "/one")
        #expect(again.new_chunk_count == 0 && again.new_raw_bytes == 0 && again.chunk_count == result.chunk_count)
        #expect(
          withUnsafeBytes(of: again.version.catalog) { Array($0) }
            == withUnsafeBytes(of: result.version.catalog) { Array($0) })
      }
    }

    @Test func requestsThatMakeNoSense() throws {
      let disk = Self.disk(), store = try Store(disk, create: true)
      let transaction = try store.begin()
      for name in ["", ".x", "-x", "a/b", "a b", String(repeating: "x", count: 129)] {
        #expect(try status { try transaction.add(name, "/one") } == PKS_INVALID_ARGUMENT, "\(name)")
      }
      #expect(try status { try transaction.add("p", "/one") { $0.level = 23 } } == PKS_INVALID_ARGUMENT)
      #expect(try status { try transaction.add("p", "/one") { $0.level = -8 } } == PKS_INVALID_ARGUMENT)
      #expect(try status { try transaction.add("p", "/one") { $0.frame_size = 1_000 } } == PKS_INVALID_ARGUMENT)
      #expect(try status { try transaction.add("p", "/none") } == PKS_NOT_FOUND)
      #expect(try status { try transaction.add("p", "") } == PKS_INVALID_ARGUMENT)
      #expect(try status { try transaction.add("p", "/one/large") } == PKS_WRONG_KIND)
      #expect(try status { try transaction.remove("p") } == PKS_NOT_FOUND)
      #expect(try status { try transaction.prioritise("p", 1) } == PKS_NOT_FOUND)
      #expect(try transaction.commit() == 1, "nothing was staged")
    }

    @Test func readOnlyStores() throws {
      let disk = Self.disk()
      try Store(disk, create: true).commit { try $0.add("p", "/one") }
      let store = try Store("/store", vfs: disk.vfs, readOnly: true)
      #expect(try store.state()["p"]?.content == Change.folders["/one"])
      #expect(try status { _ = try store.begin() } == PKS_READ_ONLY)
    }

    /// Without SHA-256 a store is for reading. Writing and making one failed with the words of other faults.
    @Test func storesWithoutSHA256() throws {
      let disk = Self.disk()
      func open(_ path: String, create: Bool = true) throws -> (pks_status, pks_detail) {
        var options = pks_options()
        options.create = create
        options.vfs = disk.vfs
        do {
          let store = try opened { pks_store_open($0, path, &options, $1) }
          defer { pks_store_close(store) }
          let refusal = try #require(throws: Failure.self) {
            pks_txn_abort(try opened { pks_txn_begin($0, store, nil, $1) })
          }
          #expect(refusal.status == PKS_READ_ONLY)
          return (refusal.status, refusal.detail)
        } catch let failure as Failure {
          return (failure.status, failure.detail)
        }
      }
      #expect(try open("/store") == (PKS_INVALID_ARGUMENT, PKS_DETAIL_NO_HASH))
      #expect(try open("/store", create: false) == (PKS_NOT_A_STORE, PKS_DETAIL_NO_DIRECTORY))
      #expect(!disk.exists("/store"))
      try Store(disk, create: true).commit { try $0.add("p", "/one") }
      #expect(try open("/store") == (PKS_READ_ONLY, PKS_DETAIL_NO_HASH))
      #expect(try open("/one/large") == (PKS_NOT_A_STORE, PKS_DETAIL_NO_DIRECTORY))
      #expect(try open("") == (PKS_INVALID_ARGUMENT, PKS_DETAIL_NONE))
    }

    @Test func foldersThatAreNoStores() throws {
      let disk = Self.disk()
      #expect(try status { _ = try Store(disk) } == PKS_NOT_A_STORE)
      disk.put(["something": .file("else")], at: "/store")
      #expect(try status { _ = try Store(disk, create: true) } == PKS_NOT_A_STORE)
      #expect(disk.list("/store") == ["something"], "nothing was touched")
    }

    @Test func progressAndCancellation() throws {
      let disk = Self.disk([
        "/many": Dictionary(uniqueKeysWithValues: (0..<2_500).map { ("f\($0)", Node.file("\($0)")) })
      ])
      let store = try Store(disk, create: true), transaction = try store.begin()
      let status = try status {
        try transaction.add("p", "/many") { request in
          request.progress = { _, progress in progress.pointee.phase != PKS_PHASE_STORE }
        }
      }
      #expect(status == PKS_CANCELLED)
      #expect(transaction.packs.isEmpty, "the transaction stays as it was")
      try transaction.add("q", "/many")
      _ = try transaction.commit()
      #expect(try store.state()["q"]?.content.count == 2_500)
    }

    /// A folder of one file, or of none, was added without a report, and the commit was never reported at all.
    @Test(arguments: [[:], ["only": Node.file("one")], ["a": .file("1"), "b/c": .folder]])
    func everyPhaseIsReported(folder: Folder) throws {
      final class Reports { var all: [pks_progress] = [] }
      let disk = Self.disk(["/source": folder]), store = try Store(disk, create: true)
      let files = folder.values.count { if case .file = $0 { true } else { false } }
      for round in 0..<2 {
        let reports = Reports()
        try store.commit { transaction in
          try transaction.add("p", "/source") { request in
            request.context = Unmanaged.passUnretained(reports).toOpaque()
            request.progress = { context, progress in
              Unmanaged<Reports>.fromOpaque(context!).takeUnretainedValue().all.append(progress.pointee)
              return true
            }
          }
        }
        #expect(reports.all.first?.phase == PKS_PHASE_SCAN && reports.all.first?.files_done == 0, "round \(round)")
        let stored = reports.all.filter { $0.phase == PKS_PHASE_STORE }
        #expect(stored.first?.files_done == 0 && stored.first?.files_total == UInt64(files))
        #expect(stored.last?.files_done == UInt64(files) && stored.last?.bytes_done == stored.last?.bytes_total)
        #expect(reports.all.last?.phase == PKS_PHASE_COMMIT)
        #expect(reports.all.map(\.phase.rawValue) == reports.all.map(\.phase.rawValue).sorted())
      }
    }

    /// A number below the highest was taken without a word, and one near the end of 64 bits kept the pack from ever having a
    /// next version.
    @Test func numbersRise() throws {
      let disk = Self.disk(), store = try Store(disk, create: true)
      var result = pks_add_result()
      try store.commit { try $0.add("p", "/one", version: 5) }
      try store.commit { try $0.add("p", "/two", version: 7) }
      for number in [1, 4, 5, 6] as [UInt64] {
        #expect(
          try status { try store.commit { try $0.add("p", "/small", version: number) } } == PKS_EXISTS, "\(number)")
        #expect(try status { try store.commit { try $0.add("p", "/two", version: number) } } == PKS_EXISTS, "\(number)")
      }
      #expect(try status { try store.commit { try $0.add("p", "/small", version: 7) } } == PKS_EXISTS)
      try store.commit { result = try $0.add("p", "/two", version: 7) }
      #expect(result.unchanged && result.version.number == 7, "the current version itself")
      try store.commit { try $0.remove("p", keepHistory: true) }
      #expect(try status { try store.commit { try $0.add("p", "/two", version: 7) } } == PKS_EXISTS)
      try store.commit { result = try $0.add("p", "/small", version: 3) { $0.downgrade = true } }
      #expect(result.version.number == 3)
      #expect(try store.snapshot().packs[0].highest_version == 7)
      #expect(
        try status { try store.commit { try $0.add("p", "/one", version: 7) { $0.downgrade = true } } } == PKS_EXISTS,
        "kept with other content")
      try store.commit { result = try $0.add("p", "/one") }
      #expect(result.version.number == 8)
    }

    @Test func theLastNumber() throws {
      let disk = Self.disk(), store = try Store(disk, create: true), last: UInt64 = (1 << 53) - 1
      for number in [last + 1, .max - 1, .max] {
        #expect(try status { try store.commit { try $0.add("p", "/one", version: number) } } == PKS_INVALID_ARGUMENT)
      }
      try store.commit { try $0.add("p", "/one", version: last) }
      #expect(try status { try store.commit { try $0.add("p", "/two") } } == PKS_INVALID_ARGUMENT)
      #expect(try Store(disk).snapshot().versions(of: "p") == [last])
    }

    // MARK: Several writers

    @Test func differentPacksBothLand() throws {
      let disk = Self.disk(), store = try Store(disk, create: true)
      let other = try Store(disk, process: sim_start_process(disk.raw, 2))
      let first = try store.begin(), second = try other.begin()
      try first.add("p", "/one")
      try second.add("q", "/two", priority: 2)
      #expect(try first.commit() == 2)
      #expect(try second.commit() == 3)
      for store in [store, other] {
        #expect(try store.state().mapValues(\.content) == ["p": Change.folders["/one"]!, "q": Change.folders["/two"]!])
        #expect(try store.snapshot().faults(deep: true) == [])
      }
    }

    @Test func theSamePackConflicts() throws {
      let disk = Self.disk(), store = try Store(disk, create: true)
      try store.commit { try $0.add("p", "/one") }
      let stagings: [(Transaction) throws -> Void] = [{ try $0.add("p", "/small") }, { try $0.remove("p") }]
      for stage in stagings {
        let first = try store.begin(), second = try store.begin()
        try stage(second)
        try first.add("p", "/two")
        try first.add("p", "/other")
        _ = try first.commit()
        #expect(try status { _ = try second.commit() } == PKS_CONFLICT)
        try store.commit { try stage($0) }
        try store.commit { try $0.add("p", "/one") }
      }
      let first = try store.begin(), second = try store.begin()
      try first.add("new", "/one")
      try second.add("new", "/two")
      _ = try first.commit()
      #expect(try status { _ = try second.commit() } == PKS_CONFLICT)
      #expect(disk.list("/store/tmp") == [])
    }

    /// The commit's documented errors had no place for what it returned: NOT_FOUND, when a pack whose priority was staged had been
    /// removed by another writer.
    @Test func priorityOfAPackRemovedMeanwhile() throws {
      let disk = Self.disk(), store = try Store(disk, create: true)
      try store.commit { try $0.add("p", "/one") }
      let transaction = try store.begin()
      try transaction.prioritise("p", 4)
      try store.commit { try $0.remove("p") }
      #expect(try status { _ = try transaction.commit() } == PKS_CONFLICT)
    }

    @Test func priorityOfAPackChangedMeanwhile() throws {
      let disk = Self.disk(), store = try Store(disk, create: true)
      try store.commit { try $0.add("p", "/one") }
      let transaction = try store.begin()
      try transaction.prioritise("p", 4)
      try store.commit { try $0.add("p", "/two") }
      _ = try transaction.commit()
      #expect(try store.state()["p"] == PackState(priority: 4, version: 2, content: Change.folders["/two"]!))
    }

    /// Two writers stage a file and a folder of one name, neither knowing of the other: the contest is found at commit.
    @Test func contestOfTwoWriters() throws {
      let disk = Self.disk(["/file": ["x": .file("file")], "/folder": ["x/y": .file("folder")]])
      let store = try Store(disk, create: true)
      let first = try store.begin(), second = try store.begin()
      try first.add("p", "/file")
      try second.add("q", "/folder", priority: 1)
      _ = try first.commit()
      _ = try second.commit()
      let snapshot = try store.snapshot()
      #expect(try snapshot.find("x").node == .folder)
      #expect(try snapshot.conflicts() == [.init(path: "x", pack: 1, winner: 0, winnerPath: "x")])
    }

    @Test func busy() throws {
      let disk = Self.disk(), store = try Store(disk, create: true)
      let other = sim_start_process(disk.raw, 4321)!
      let holder = try Store(disk, process: other)
      var root: pks_vfs_file = -1, lock: pks_vfs_file = -1
      #expect(other.pointee.open_root(other.pointee.context, "/store", false, &root) == 0)
      #expect(other.pointee.open(other.pointee.context, root, "LOCK", PKS_VFS_OPEN_LOCK, &lock) == 0)
      var wait = pks__wait(is_refused: true, context: nil, goes_on: nil)
      try attempt { pks__lock_writer(other, lock, &wait, $0) }
      let transaction = try store.begin(noWait: true)
      try transaction.add("p", "/one")
      do {
        _ = try transaction.commit()
        Issue.record("the lock was held")
      } catch let failure as Failure {
        #expect(failure.status == PKS_BUSY && failure.needed == 4321)
      }
      #expect(disk.list("/store/tmp") == [])
      #expect(try holder.state() == [:])
      pks__unlock_writer(other, lock)
      try store.commit { try $0.add("p", "/one") }
      other.pointee.close(other.pointee.context, lock)
      other.pointee.close(other.pointee.context, root)
    }

    // MARK: Sessions

    /// What a killed process left in `tmp` goes with the next transaction; what a living one has there stays.
    @Test func sweeping() throws {
      let disk = Self.disk(), store = try Store(disk, create: true)
      let dying = sim_start_process(disk.raw, 2)!
      var dead: Transaction? = try Store(disk, process: dying).begin()
      try dead!.add("p", "/one")
      let living = try store.begin()
      try living.add("q", "/two")
      #expect(disk.list("/store/tmp").filter { $0.hasSuffix("/") }.count == 2)
      sim_kill(dying)
      try store.commit { try $0.add("r", "/small") }
      #expect(disk.list("/store/tmp").filter { $0.hasSuffix("/") }.count == 1)
      _ = try living.commit()
      #expect(disk.list("/store/tmp") == [])
      #expect(Set(try store.state().keys) == ["q", "r"])
      withExtendedLifetime(dead) {}
      dead = nil
    }

    @Test func abort() throws {
      let disk = Self.disk(), store = try Store(disk, create: true)
      let before = sim_fingerprint(disk.raw)
      let transaction = try store.begin()
      try transaction.add("p", "/one")
      try transaction.add("q", "/two")
      transaction.abort()
      #expect(sim_fingerprint(disk.raw) == before)
      #expect(try store.state() == [:])
    }

    // MARK: Collection

    @Test func droppedVersionsAreCollected() throws {
      let disk = Self.disk(), store = try Store(disk, create: true)
      try store.commit { try $0.add("p", "/one") }
      let first = Self.segments(disk)
      try store.commit(keep: 1, keepGeneration: true) { try $0.add("p", "/other") }
      #expect(Self.segments(disk).isSuperset(of: first), "the generation before is spared")
      try store.commit { try $0.prioritise("p", 1) }
      try store.commit { try $0.prioritise("p", 2) }
      #expect(Self.segments(disk).isDisjoint(with: first))
      #expect(disk.list("/store/index").filter { $0.hasSuffix(".generation") }.count <= 2)
      #expect(try store.snapshot().faults(deep: true) == [])
    }

    @Test func whatASnapshotNeedsIsSpared() throws {
      let disk = Self.disk(), store = try Store(disk, create: true)
      try store.commit { try $0.add("p", "/one") }
      let first = Self.segments(disk)
      let reader = try Store(disk, process: sim_start_process(disk.raw, 2))
      var snapshots = [try store.snapshot(), try reader.snapshot()]
      for round in 0..<4 { try store.commit(keep: 1) { try $0.add("p", round % 2 == 0 ? "/other" : "/small") } }
      #expect(Self.segments(disk).isSuperset(of: first))
      for snapshot in snapshots { #expect(try snapshot.state()["p"]?.content == Change.folders["/one"]) }
      snapshots = []
      _ = try reader.snapshot()  // moves on, as the reader's store holds the newest generation it saw
      try store.commit { try $0.prioritise("p", 1) }
      #expect(Self.segments(disk).isDisjoint(with: first))
    }

    /// A segment that was collected stays open where it was in use. A pack that came back found its chunks there, and the commit
    /// refused with CONFLICT, for ever; catalog pages were reused without any check, and the store's next commits failed.
    @Test func aPackThatComesBackAfterCollection() throws {
      let disk = Self.disk(), store = try Store(disk, create: true)
      try store.commit { try $0.add("p", "/one") }
      _ = try store.state()
      try store.commit { try $0.remove("p") }
      for priority in 1...3 as ClosedRange<Int32> { try store.commit { try $0.add("q", "/small", priority: priority) } }
      try store.commit { try $0.add("p", "/one") }
      #expect(try store.state()["p"]?.content == Change.folders["/one"])
      try store.commit { try $0.add("p", "/two") }
      #expect(try Store(disk).snapshot().faults(deep: true) == [])
      #expect(try Store(disk).state()["p"]?.content == Change.folders["/two"])
    }

    /// The commit collected, in its first step, the very segment that its own staged version reused.
    @Test func aVersionThatComesBackAsItIsCollected() throws {
      let disk = Self.disk(), store = try Store(disk, create: true)
      try store.commit(keep: 1) { try $0.add("p", "/one") }
      try store.commit(keep: 1) { try $0.add("p", "/other") }
      try store.commit(keep: 1) { try $0.add("p", "/one") }
      try store.commit(keep: 1) { try $0.add("p", "/other") }
      #expect(try store.state()["p"]?.content == Change.folders["/other"])
      #expect(try store.snapshot().faults(deep: true) == [])
    }

    /// Another process collects what a transaction is about to reuse: a conflict, and the next attempt succeeds.
    @Test func reuseOfWhatAnotherProcessCollects() throws {
      let disk = Self.disk(), store = try Store(disk, create: true)
      try store.commit { try $0.add("p", "/one") }
      _ = try store.state()
      try store.commit { try $0.remove("p") }
      let transaction = try store.begin()
      try transaction.add("q", "/one")
      let other = try Store(disk, process: sim_start_process(disk.raw, 2))
      for priority in 1...3 as ClosedRange<Int32> { try other.commit { try $0.add("r", "/small", priority: priority) } }
      let status = try status { _ = try transaction.commit() }
      #expect([PKS_OK, PKS_CONFLICT].contains(status))
      if status == PKS_CONFLICT { try store.commit { try $0.add("q", "/one") } }
      #expect(try store.state()["q"]?.content == Change.folders["/one"])
      #expect(try store.snapshot().faults(deep: true) == [])
    }

    /// Runs go on listing segments that were collected. A durable commit after an atomic one, which syncs what the runs list,
    /// failed for lack of them.
    @Test func durableAfterAtomicAfterCollection() throws {
      let disk = Self.disk(), store = try Store(disk, create: true)
      try store.commit { try $0.add("p", "/one") }
      try store.commit { try $0.remove("p") }
      for priority in 1...3 as ClosedRange<Int32> { try store.commit { try $0.add("q", "/small", priority: priority) } }
      for store in [store, try Store(disk)] {
        try store.commit(PKS_ATOMIC) { try $0.prioritise("q", 7) }
        try store.commit { try $0.prioritise("q", 8) }
      }
      #expect(try store.state()["q"]?.priority == 8)
    }

    /// A reader that hangs between reading the control file and looking at it again may hold the lock of a generation that has
    /// been collected. Every commit failed as long as it hung.
    @Test func readerThatPinsACollectedGeneration() throws {
      let disk = Self.disk(), store = try Store(disk, create: true)
      for priority in 1...4 as ClosedRange<Int32> { try store.commit { try $0.add("p", "/small", priority: priority) } }
      let reader = sim_start_process(disk.raw, 2)!
      var root: pks_vfs_file = -1, lock: pks_vfs_file = -1
      #expect(reader.pointee.open_root(reader.pointee.context, "/store", false, &root) == 0)
      #expect(reader.pointee.open(reader.pointee.context, root, "READERS", PKS_VFS_OPEN_SHARED_LOCK, &lock) == 0)
      try attempt { pks__pin_generation(reader, lock, 2, $0) }
      #expect(!disk.exists("/store/index/0000000000000002.generation"))
      let generation = try store.commit { try $0.add("q", "/one") }
      #expect(generation == 6)
      sim_kill(reader)
    }

    // MARK: Segments of several transactions

    /// Removes a pack, and goes on until what it alone needed is collected.
    private static func removeForGood(_ pack: String, from store: Store) throws {
      try store.commit { try $0.remove(pack) }
      for priority in 1...3 as ClosedRange<Int32> {
        try store.commit { try $0.add("other", "/small", priority: priority) }
      }
    }

    /// Two transactions of one store had staged the same bytes. The pack of the first was removed and its segment collected,
    /// which marked the second's as gone, too, for a process knows a segment once: the second could not find the pages of the
    /// version that it had staged, and its commit failed with CORRUPT.
    @Test func collectionOfWhatAnotherHasStaged() throws {
      let disk = Self.disk(), store = try Store(disk, create: true)
      let staged = try store.begin()
      try staged.add("p", "/one")
      try store.commit { try $0.add("p", "/one") }
      let shared = Self.segments(disk)
      try Self.removeForGood("p", from: store)
      #expect(Self.segments(disk).isDisjoint(with: shared))
      try staged.add("r", "/two")
      _ = try staged.commit()
      #expect(try store.state().mapValues(\.content)["p"] == Change.folders["/one"])
      #expect(try store.state().mapValues(\.content)["r"] == Change.folders["/two"])
      #expect(try Store(disk).snapshot().faults(deep: true) == [])
    }

    /// Two transactions at once store much the same, each for itself. When one of the packs goes, the copies of the other stay,
    /// and are found again.
    @Test(arguments: [("p", "q"), ("q", "p")]) func collectionOfChunksStoredTwice(_ gone: String, _ kept: String) throws
    {
      let disk = Self.disk(), sources = ["p": "/one", "q": "/two"]
      let store = try Store(disk, create: true), other = try Store(disk, process: sim_start_process(disk.raw, 2))
      let first = try store.begin(), second = try other.begin()
      try first.add("p", sources["p"]!)
      try second.add("q", sources["q"]!)
      _ = try first.commit()
      _ = try second.commit()
      try Self.removeForGood(gone, from: store)
      #expect(try store.snapshot().faults(deep: true) == [])
      try store.commit { try $0.add(gone, sources[gone]!) }
      for pack in [gone, kept] {
        #expect(try store.state()[pack]?.content == Change.folders[sources[pack]!], "\(pack)")
      }
      #expect(try Store(disk).snapshot().faults(deep: true) == [])
    }

    /// What a store holds that was made by one commit.
    private static func segmentsOf(_ stage: (Transaction) throws -> Void) throws -> Set<String> {
      let disk = disk()
      try Store(disk, create: true).commit { try stage($0) }
      return segments(disk)
    }

    /// What a transaction stored and then replaced itself was never named by a generation, and no collection looked for it.
    @Test func whatATransactionReplacedItselfIsCollected() throws {
      let disk = Self.disk(), store = try Store(disk, create: true)
      try store.commit(keep: 1) {
        try $0.add("p", "/one")
        try $0.add("p", "/other")
        try $0.add("q", "/two")
        try $0.remove("q")
      }
      for priority in 1...2 as ClosedRange<Int32> { try store.commit { try $0.prioritise("p", priority) } }
      #expect(try Self.segments(disk) == Self.segmentsOf { try $0.add("p", "/other", version: 2) })
    }

    /// An add that failed for lack of memory left its sealed segments with the transaction, whose commit moved them into place:
    /// no generation named them, and no collection looked for them.
    @Test func segmentsOfAnAddThatFailed() throws {
      let base = Self.disk(), expected = try Self.segmentsOf { try $0.add("q", "/other") }
      _ = try Store(base, create: true)
      var ordinal: UInt64 = 0, failures = 0, hasFailed = true
      while hasFailed {
        let disk = base.clone(), store = try Store(disk), transaction = try store.begin()
        pks__memory_fail_at(ordinal, false)
        let status = try status { try transaction.add("p", "/one") }
        pks__memory_fail_at(UInt64.max, false)
        hasFailed = status != PKS_OK
        if hasFailed {
          try transaction.add("q", "/other")
          _ = try transaction.commit()
          #expect(Self.segments(disk) == expected, "allocation \(ordinal)")
        }
        failures += hasFailed ? 1 : 0
        ordinal += 1
      }
      #expect(failures > 100)
    }

    /// A commit that failed after it had moved its segments left them for ever where nothing had been dropped before: only a
    /// store with garbage looked at its segments.
    @Test func segmentsOfACommitThatFailed() throws {
      let base = Self.disk(), expected = try Self.segmentsOf { try $0.add("q", "/other") }
      _ = try Store(base, create: true)
      for isSameStore in [true, false] {
        let disk = base.clone(), store = try Store(disk)
        sim_fail(disk.raw, SIM_CALL_RENAME, "*.generation", 0, EIO, false)
        #expect(try status { try store.commit { try $0.add("p", "/one") } } == PKS_IO_ERROR)
        #expect(!Self.segments(disk).isEmpty)
        try (isSameStore ? store : Store(disk)).commit { try $0.add("q", "/other") }
        #expect(Self.segments(disk) == expected)
        #expect(disk.list("/store/tmp") == [])
      }
    }

    /// A writer swept the folder of one that had died, and so took away the only sign of what that one had left; then it was
    /// aborted itself, and no writer looked any more.
    @Test func sweepingWithoutACommit() throws {
      let disk = Self.disk(), expected = try Self.segmentsOf { try $0.add("q", "/other") }
      _ = try Store(disk, create: true)
      sim_fail(disk.raw, SIM_CALL_RENAME, "*.generation", 0, EIO, true)
      let process = sim_start_process(disk.raw, 2)!, dying = try Store(disk, process: process)
      sim_fail(disk.raw, SIM_CALL_UNLINK, "*", 0, EIO, true)
      #expect(try status { try dying.commit { try $0.add("p", "/one") } } == PKS_IO_ERROR)
      sim_kill(process)
      sim_clear_faults(disk.raw)
      for _ in 0..<3 { try Store(disk).begin().abort() }
      try Store(disk).commit { try $0.add("q", "/other") }
      #expect(Self.segments(disk) == expected)
      #expect(disk.list("/store/tmp") == [])
    }

    /// Joined runs numbered their packs as they were met, and so kept records of one path in another order than that of packs.
    @Test func joinedRunsStayInOrder() throws {
      let disk = Self.disk(), store = try Store(disk, create: true)
      for (number, name) in ["p", "q", "r", "s", "t", "u"].enumerated() {
        try store.commit { try $0.add(name, number % 2 == 0 ? "/one" : "/two", priority: Int32(number)) }
        #expect(try store.snapshot().faults(deep: true) == [], "after \(name)")
      }
      #expect(disk.list("/store/index").filter { $0.hasSuffix(".run") }.count <= 8)
    }
  }
}
