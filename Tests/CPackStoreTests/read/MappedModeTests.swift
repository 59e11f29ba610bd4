import CPackStore
import CPackStoreTesting
import Foundation
import Testing

extension Core {
  /// The mapped mode: raw frames that were checked are copied from mapped segments, and nothing else is read in another way.
  @Suite struct MappedModeTests {
    /// Two raw assets, one in several frames, and one that compresses, so long that it shares no frame with them.
    private static let files: [String: [UInt8]] = {
      var random = Random(41)
      return ["small": random.bytes(5_000), "large": random.bytes(400_000), "text": random.text(100_000)]
    }()

    private static func makeStore(at path: String, in home: TemporaryFolder) throws {
      let source = try home.put(files.mapValues { .file($0) }, at: "source")
      try Store(path, create: true).commit { try $0.add("P", source) }
    }

    /// How often the file system was read while `body` ran.
    private static func reads(_ seam: Seam, _ body: () throws -> Void) rethrows -> Int {
      var count = 0
      seam.onCall = { call in
        if call == .read { count += 1 }
        return 0
      }
      defer { seam.onCall = nil }
      try body()
      return count
    }

    /// How often it was read for three reads of the same asset.
    private static func readsOfThree(_ snapshot: Snapshot, _ path: String, _ seam: Seam) throws -> Int {
      try reads(seam) {
        for _ in 0..<3 {
          let bytes = try snapshot.read(path)
          #expect(bytes == files[path])
        }
      }
    }

    /// A read of each asset, of all of it and of parts.
    private static func readAll(_ snapshot: Snapshot, _ path: String) throws {
      let bytes = files[path]!
      #expect(try snapshot.read(path) == bytes)
      for range in [0..<1, 100..<4_000, (bytes.count - 900)..<bytes.count] {
        #expect(try snapshot.read(path, range) == Array(bytes[range]), "\(path) \(range)")
      }
    }

    @Test func rawFramesAreReadOnce() throws {
      let home = try TemporaryFolder(), path = home.path + "/store", seam = Seam()
      seam.privacy = PKS_VFS_PRIVATE
      try Self.makeStore(at: path, in: home)
      let store = try Store(path, vfs: seam.vfs, home: seam, mappedMode: true), snapshot = try store.snapshot()
      #expect(pks_store_mapped_mode(store.raw) == PKS_MAPPED_ON)
      for path in ["small", "large"] {
        let first = try Self.reads(seam) { try Self.readAll(snapshot, path) }
        let later = try Self.reads(seam) { for _ in 0..<3 { try Self.readAll(snapshot, path) } }
        #expect(first > 0 && later == 0, "\(path): \(first), then \(later)")
      }
      #expect(try Self.readsOfThree(snapshot, "text", seam) > 0)
      #expect(try store.snapshot().state() == Store(path).state())
    }

    @Test func withoutTheModeEveryReadIsChecked() throws {
      let home = try TemporaryFolder(), path = home.path + "/store", seam = Seam()
      try Self.makeStore(at: path, in: home)
      let store = try Store(path, vfs: seam.vfs, home: seam), snapshot = try store.snapshot()
      #expect(pks_store_mapped_mode(store.raw) == PKS_MAPPED_OFF)
      #expect(try Self.readsOfThree(snapshot, "small", seam) >= 3)
    }

    @Test(
      arguments: zip(
        [PKS_VFS_OTHER_OWNER, PKS_VFS_WRITABLE_BY_OTHERS, PKS_VFS_NOT_LOCAL, PKS_VFS_PRIVACY_UNKNOWN].map(\.rawValue),
        [PKS_MAPPED_OTHER_OWNER, PKS_MAPPED_WRITABLE_BY_OTHERS, PKS_MAPPED_NOT_LOCAL, PKS_MAPPED_UNKNOWN].map(
          \.rawValue)))
    func refusals(privacy: UInt32, mode: UInt32) throws {
      let home = try TemporaryFolder(), path = home.path + "/store", seam = Seam()
      seam.privacy = pks_vfs_privacy(rawValue: privacy)
      try Self.makeStore(at: path, in: home)
      let store = try Store(path, vfs: seam.vfs, home: seam, mappedMode: true), snapshot = try store.snapshot()
      #expect(pks_store_mapped_mode(store.raw).rawValue == mode)
      #expect(try Self.readsOfThree(snapshot, "small", seam) >= 3)
    }

    /// A segment's file that others may write to is not looked at in a mapping, whatever the folders are.
    @Test func filesOfOthersAreNotMapped() throws {
      let home = try TemporaryFolder(), path = home.path + "/store", seam = Seam()
      try Self.makeStore(at: path, in: home)
      seam.privacy = PKS_VFS_PRIVATE
      let store = try Store(path, vfs: seam.vfs, home: seam, mappedMode: true), snapshot = try store.snapshot()
      #expect(pks_store_mapped_mode(store.raw) == PKS_MAPPED_ON)
      seam.privacy = PKS_VFS_WRITABLE_BY_OTHERS
      #expect(try Self.readsOfThree(snapshot, "small", seam) >= 3)
    }

    /// No byte of a frame that fails its check is handed out, and it is not taken for checked.
    @Test func damageIsFoundByTheFirstRead() throws {
      let home = try TemporaryFolder(), path = home.path + "/store", seam = Seam()
      seam.privacy = PKS_VFS_PRIVATE
      try Self.makeStore(at: path, in: home)
      let run = try #require(try IndexRun.all(in: path).first), frames = try run.frames
      let small = try #require(run.files()["small"])
      let piece = try #require(run.pieces(of: small).first), frame = frames[Int(piece.frame)]
      let file = try FileHandle(forUpdating: URL(filePath: "\(path)/segments/\(frame.segment)"))
      try file.seek(toOffset: UInt64(frame.offset) + 3)
      try file.write(contentsOf: [Self.files["small"]![3] ^ 1])
      try file.close()
      let snapshot = try Store(path, vfs: seam.vfs, home: seam, mappedMode: true).snapshot()
      for _ in 0..<3 {
        for range in [0..<5_000, 0..<10] {
          #expect { _ = try snapshot.read("small", range) } throws: { ($0 as? Failure)?.status == PKS_CORRUPT }
        }
      }
      try Self.readAll(snapshot, "large")
      try Self.readAll(snapshot, "large")
    }

    /// What the machine says of real folders: of the store's own, and of those above it.
    @Test func modesOfFolders() throws {
      let home = try TemporaryFolder(), above = home.path + "/above", path = above + "/store"
      try FileManager.default.createDirectory(atPath: above, withIntermediateDirectories: false)
      try Self.makeStore(at: path, in: home)
      func mode() throws -> pks_mapped_mode {
        let store = try Store(path, mappedMode: true)
        return pks_store_mapped_mode(store.raw)
      }
      func setMode(_ mode: Int, _ folder: String) throws {
        try FileManager.default.setAttributes([.posixPermissions: mode], ofItemAtPath: folder)
      }
      let folders = [above, path, path + "/segments"]
      for folder in folders { try setMode(0o755, folder) }
      let privately = try mode()
      // Where the folder of temporary files is on a file system that is not known, or below a folder of others, the mode is
      // refused whatever the store's own folders say.
      #expect(privately != PKS_MAPPED_OFF)
      guard privately == PKS_MAPPED_ON else { return }
      for folder in folders {
        for bits in [0o775, 0o757] {
          try setMode(bits, folder)
          #expect(try mode() == PKS_MAPPED_WRITABLE_BY_OTHERS, "\(folder) \(bits)")
        }
        try setMode(0o755, folder)
        #expect(try mode() == PKS_MAPPED_ON)
      }
      // Sticky folders let others add files, and touch no file of this user's: that is as it must be above, and not below.
      try setMode(0o1777, above)
      #expect(try mode() == PKS_MAPPED_ON)
      try setMode(0o755, above)
      try setMode(0o1777, path + "/segments")
      #expect(try mode() == PKS_MAPPED_WRITABLE_BY_OTHERS)
      guard geteuid() == 0 else { return }
      try setMode(0o755, path + "/segments")
      #expect(chown(above, 1, 1) == 0)
      #expect(try mode() == PKS_MAPPED_OTHER_OWNER)
    }
  }
}
