import CPackStore
import CPackStoreTesting
import Foundation
import Testing

#if canImport(Darwin)
  import Darwin
#elseif canImport(Musl)
  import Musl
#else
  import Glibc
#endif

extension Core {
  /// What others can do with locks: those that may write, and those that may only read.
  @Suite(.timeLimit(.minutes(40))) struct LockTests {
    private static func disk() -> Disk {
      let disk = Disk(seed: 8)
      for (path, folder) in Change.folders { disk.put(folder, at: path) }
      return disk
    }

    /// Another process, with one of the lock files open.
    private final class Other {
      let vfs: UnsafePointer<pks_vfs>
      private(set) var root: pks_vfs_file = -1, file: pks_vfs_file = -1

      init(_ vfs: UnsafePointer<pks_vfs>, _ store: String, _ name: String, _ mode: pks_vfs_open_mode) throws {
        self.vfs = vfs
        try #require(vfs.pointee.open_root(vfs.pointee.context, store, false, &root) == 0)
        try #require(vfs.pointee.open(vfs.pointee.context, root, name, mode, &file) == 0)
      }

      deinit {
        vfs.pointee.close(vfs.pointee.context, file)
        vfs.pointee.close(vfs.pointee.context, root)
      }

      func lock(_ offset: UInt64, _ length: UInt64, _ kind: pks_vfs_lock_kind) -> Int32 {
        vfs.pointee.lock(vfs.pointee.context, file, offset, length, kind)
      }
    }

    // MARK: File systems without locks

    /// Reading goes on, and writing is refused with the reason.
    @Test(arguments: [ENOLCK, EOPNOTSUPP, ENOSYS, EBADF, EINVAL]) func withoutLocksStoresAreRead(failure: Int32) throws
    {
      let disk = Self.disk()
      try Store("/store", vfs: disk.vfs, create: true, home: disk).commit { try $0.add("p", "/one") }
      let expected = try Store("/store", vfs: disk.vfs, home: disk).snapshot().picture()
      let seam = Seam(disk)
      seam.onCall = { $0 == .lock || $0 == .lockHeld ? failure : 0 }
      let store = try Store("/store", vfs: seam.vfs, home: seam)
      #expect(pks_store_lacks_locks(store.raw))
      #expect(try store.snapshot().picture() == expected)
      let refusal = #expect(throws: Failure.self) { try store.commit { try $0.add("q", "/two") } }
      #expect(refusal?.status == PKS_IO_ERROR && refusal?.system == failure)
      seam.onCall = nil
      #expect(!pks_store_lacks_locks(try Store("/store", vfs: seam.vfs, home: seam).raw))
    }

    // MARK: Waits

    /// What the waiting writer is told each time it asks whether to go on.
    private final class Patience: @unchecked Sendable {
      var asked = 0
      let answer: (Int) -> Bool
      init(_ answer: @escaping (Int) -> Bool) { self.answer = answer }
    }

    private static func open(_ disk: Disk, _ patience: Patience) throws -> Store {
      try Store(
        "/store", vfs: disk.vfs, home: disk,
        waiting: (
          Unmanaged.passUnretained(patience).toOpaque(),
          { context in
            let patience = Unmanaged<Patience>.fromOpaque(context!).takeUnretainedValue()
            patience.asked += 1
            return patience.answer(patience.asked)
          }
        ))
    }

    private static func commit(_ store: Store) throws -> pks_status {
      do {
        try store.commit { try $0.add("q", "/two") }
        return PKS_OK
      } catch let failure as Failure {
        return failure.status
      }
    }

    /// Ended while the lock is held, or at the moment it becomes free: nothing is committed in either case.
    @Test(arguments: [false, true]) func anEndedWaitCommitsNothing(isFreeByThen: Bool) throws {
      let disk = Self.disk()
      _ = try Store(disk, create: true).commit { try $0.add("p", "/one") }
      let other = try Other(sim_start_process(disk.raw, 2)!, "/store", "LOCK", PKS_VFS_OPEN_LOCK)
      try #require(other.lock(0, 1, PKS_VFS_LOCK_EXCLUSIVE) == 0)
      let patience = Patience { asked in
        if asked == 3, isFreeByThen { #expect(other.lock(0, 1, PKS_VFS_LOCK_NONE) == 0) }
        return asked < 3
      }
      try withExtendedLifetime(patience) {
        let store = try Self.open(disk, patience)
        let before = try store.state()
        #expect(try Self.commit(store) == PKS_CANCELLED)
        #expect(patience.asked == 3)
        #expect(try store.state() == before)
        #expect(disk.list("/store/tmp") == [])
      }
    }

    @Test func aWaitGoesOnWhenTheLockIsFree() throws {
      let disk = Self.disk()
      _ = try Store(disk, create: true).commit { try $0.add("p", "/one") }
      let other = try Other(sim_start_process(disk.raw, 2)!, "/store", "LOCK", PKS_VFS_OPEN_LOCK)
      try #require(other.lock(0, 1, PKS_VFS_LOCK_EXCLUSIVE) == 0)
      let patience = Patience { asked in
        if asked == 20 { #expect(other.lock(0, 1, PKS_VFS_LOCK_NONE) == 0) }
        return true
      }
      try withExtendedLifetime(patience) {
        let store = try Self.open(disk, patience)
        #expect(try Self.commit(store) == PKS_OK)
        #expect(patience.asked == 20)
        #expect(try store.state().keys.sorted() == ["p", "q"])
      }
    }

    // MARK: Readers that hold what they like

    private static let beyond = UInt64(1) << 62

    /// A user who may only read can lock all of `READERS`: everything is kept, and commits go on as before. Then it is collected.
    @Test func allGenerationsHeld() throws {
      let disk = Self.disk(), store = try Store(disk, create: true)
      let vfs = sim_start_process(disk.raw, 2)!
      let reader = try Other(vfs, "/store", "READERS", PKS_VFS_OPEN_READ)
      try #require(reader.lock(1, Self.beyond - 1, PKS_VFS_LOCK_SHARED) == 0)
      #expect(reader.lock(1, 1, PKS_VFS_LOCK_EXCLUSIVE) == EBADF)
      for priority in 1...50 as ClosedRange<Int32> {
        try store.commit { try $0.add("p", priority % 2 == 0 ? "/one" : "/two", priority: priority) }
      }
      let held = disk.list("/store/index").filter { $0.hasSuffix(".generation") }
      #expect(held.count == 51, "none was collected")
      try #require(reader.lock(1, Self.beyond - 1, PKS_VFS_LOCK_NONE) == 0)
      for priority in 1...3 as ClosedRange<Int32> { try store.commit { try $0.prioritise("p", priority) } }
      #expect(disk.list("/store/index").filter { $0.hasSuffix(".generation") }.count <= 3)
      #expect(try store.snapshot().faults(deep: true) == [])
    }

    /// Locks on numbers that no file has are not looked at, however many they are; what is garbage goes.
    @Test func thousandsOfBytesHeld() throws {
      let disk = Self.disk(), seam = Seam(disk), store = try Store(disk, create: true)
      for priority in 1...4 as ClosedRange<Int32> { try store.commit { try $0.add("p", "/one", priority: priority) } }
      let reader = try Other(sim_start_process(disk.raw, 2)!, "/store", "READERS", PKS_VFS_OPEN_READ)
      for byte in 0..<5_000 as Range<UInt64> where byte != 1 {
        try #require(reader.lock(1 + 2 * byte, 1, PKS_VFS_LOCK_SHARED) == 0)
      }
      let generations = { disk.list("/store/index").filter { $0.hasSuffix(".generation") } }
      let watched = try Store("/store", seam: seam)
      var asked = 0
      seam.onCall = { call in
        if call == .lockHeld { asked += 1 }
        return 0
      }
      for priority in 1...20 as ClosedRange<Int32> {
        let files = generations().count
        asked = 0
        try watched.commit { try $0.prioritise("p", priority) }
        #expect(asked <= files + 1)
      }
      // What is held and was there stays; of the others there are as few as without any lock.
      let even = generations().filter { ($0.dropLast(".generation".count).last?.hexDigitValue ?? 1) % 2 == 0 }
      #expect(even.count <= 2, "\(generations())")
    }

    /// A repair's generation gets a number although a reader holds all that there are.
    @Test func repairDespiteHolds() throws {
      let disk = Self.disk()
      try Store(disk, create: true).commit { try $0.add("p", "/one") }
      let reader = try Other(sim_start_process(disk.raw, 2)!, "/store", "READERS", PKS_VFS_OPEN_READ)
      try #require(reader.lock(1, Self.beyond - 1, PKS_VFS_LOCK_SHARED) == 0)
      sim_remove(disk.raw, "/store/CONTROL")
      let report = try disk.repair()
      #expect(!report.totals.has_lost)
      #expect(try Store(disk).state()["p"] != nil)
    }

    // MARK: Who can open what

    private static func mode(_ path: String) throws -> mode_t {
      var status = stat()
      try #require(stat(path, &status) == 0)
      return status.st_mode & 0o777
    }

    /// `LOCK` is for those that may write to the folder, `READERS` for reading only; an older `LOCK` that is open to all is
    /// closed by its owner.
    @Test(arguments: [0o755, 0o750, 0o700] as [mode_t]) func onlyWritersCanLockOutWriters(_ folder: mode_t) throws {
      let home = try TemporaryFolder(), source = try home.put(["f": .file("1")], at: "source")
      let path = home.path + "/store"
      let store = try Store(path, create: true)
      #expect(chmod(path, folder) == 0)
      try store.commit { try $0.add("p", source) }
      #expect(try Self.mode(path + "/LOCK") == 0o600)
      #expect(try Self.mode(path + "/READERS") & 0o333 == 0)
      #expect(chmod(path + "/LOCK", 0o644) == 0)
      try store.commit { try $0.prioritise("p", 1) }
      #expect(try Self.mode(path + "/LOCK") == 0o600)
    }

    @Test func foldersOfGroupsHaveLocksOfGroups() throws {
      let home = try TemporaryFolder(), path = home.path + "/store"
      #expect(mkdir(path, 0o770) == 0 && chmod(path, 0o770) == 0)
      let store = try Store(path, create: true)
      // As far as the umask lets the group write.
      let mode = try Self.mode(path + "/LOCK")
      #expect(mode == 0o660 || mode == 0o600)
      withExtendedLifetime(store) {}
    }

    /// What lies in the place of a lock file, or of any other file of the store.
    @Test(arguments: ["LOCK", "READERS", "CONTROL", "index", "segments", "tmp"], ["pipe", "link", "folder"])
    func specialFiles(_ name: String, _ kind: String) throws {
      let home = try TemporaryFolder(), source = try home.put(["f": .file("1")], at: "source")
      let path = home.path + "/store", place = path + "/" + name, aside = home.path + "/aside"
      _ = try Store(path, create: true).commit { try $0.add("p", source) }
      #expect(rename(place, aside) == 0)
      switch kind {
      case "pipe": #expect(mkfifo(place, 0o600) == 0)
      case "link": #expect(symlink(aside, place) == 0)
      default: #expect(mkdir(place, 0o700) == 0)
      }
      // An empty folder is what it is expected to be, and all that was in it is missed by other names.
      let isExpected = kind == "folder" && ["index", "segments", "tmp"].contains(name)
      do {
        try Store(path).commit { try $0.add("p", source, priority: 7) }
        #expect(isExpected, "\(name) as \(kind)")
      } catch let failure as Failure {
        let isNamed = failure.file.hasPrefix(name) || failure.file == path
        #expect(isExpected || isNamed, "\(name) as \(kind): \(failure)")
      }
    }

    /// A folder of the store that became a link: nothing is moved, made or removed where it leads.
    @Test(arguments: ["index", "segments", "tmp"], [PKS_DURABLE, PKS_ATOMIC])
    func foldersThatBecameLinks(_ name: String, _ durability: pks_durability) throws {
      let home = try TemporaryFolder(), source = try home.put(["f": .file("1")], at: "source")
      let path = home.path + "/store", elsewhere = home.path + "/elsewhere"
      _ = try Store(path, create: true)
      let left = "0000000000000001"
      #expect(rename("\(path)/\(name)", elsewhere) == 0 && mkdir("\(elsewhere)/\(left)", 0o700) == 0)
      #expect(symlink(elsewhere, "\(path)/\(name)") == 0)
      let before = try FileManager.default.contentsOfDirectory(atPath: elsewhere).sorted()
      #expect(throws: Failure.self) { try Store(path).commit(durability) { try $0.add("p", source) } }
      #expect(try FileManager.default.contentsOfDirectory(atPath: elsewhere).sorted() == before)
    }

    /// A lock file that is a file elsewhere, too, is not written.
    @Test func aLockFileWithOtherNames() throws {
      let home = try TemporaryFolder(), source = try home.put(["f": .file("1")], at: "source")
      let path = home.path + "/store", other = home.path + "/other"
      _ = try Store(path, create: true)
      try Data("keep".utf8).write(to: URL(fileURLWithPath: other))
      #expect(chmod(other, 0o644) == 0 && unlink(path + "/LOCK") == 0 && link(other, path + "/LOCK") == 0)
      let failure = #expect(throws: Failure.self) { try Store(path).commit { try $0.add("p", source) } }
      #expect(failure?.file == "LOCK")
      #expect(try Data(contentsOf: URL(fileURLWithPath: other)) == Data("keep".utf8) && Self.mode(other) == 0o644)
    }
  }
}
