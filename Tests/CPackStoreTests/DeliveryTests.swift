import CPackStore
import CPackStoreTesting
import Testing

extension Core {
  /// Versions that come from elsewhere.
  @Suite struct DeliveryTests {
    /// A store with versions of pack "p", each of a folder.
    static func published(_ folders: [Folder], map: [String] = [], frameSize: UInt32 = 0) throws -> Disk {
      let disk = Disk(seed: 5)
      let store = try Store(disk, create: true)
      for (index, folder) in folders.enumerated() {
        disk.put(folder, at: "/source\(index)")
        try store.commit(keep: 10) { try $0.add("p", "/source\(index)", map: map) { $0.frame_size = frameSize } }
      }
      return disk
    }

    static func empty() throws -> Disk {
      let disk = Disk(seed: 9)
      _ = try Store(disk, create: true)
      return disk
    }

    /// Whether a store shows what it should, is sound in every byte, and has nothing lying about.
    static func check(_ disk: Disk, _ content: Folder, version: UInt64, _ comment: Comment? = nil) throws {
      let snapshot = try Store(disk).snapshot(), state = try snapshot.state()["p"]
      #expect(state?.content == content, comment)
      #expect(state?.version == version, comment)
      #expect(try snapshot.faults(deep: true) == [], comment)
      #expect(disk.list("/store/incoming") == [] && disk.list("/store/tmp") == [], comment)
    }

    static func id(_ version: pks_version) -> [UInt8] { withUnsafeBytes(of: version.catalog) { Array($0) } }

    @Test(arguments: [1, 3, 1000]) func firstInstall(window: Int) throws {
      let site = try Site(Self.published([.sample(seed: 1)])), disk = try Self.empty()
      let pull = try #require(try Store(disk).pull(site, window: window))
      try Self.check(disk, .sample(seed: 1), version: 1)
      let version = try Store(disk).snapshot().packs[0].current
      #expect(Self.id(version) == Self.id(site.version))
      #expect(version.committed_at_ns == site.version.committed_at_ns)
      #expect(Set(pull.wants).count == pull.wants.count, "nothing is wanted twice")
      let frames = pull.wants.filter { !site.isMetadata($0) }
      #expect(pull.totals.is_planned && pull.totals.bytes_resumed == 0)
      #expect(pull.totals.bytes_total == frames.reduce(0) { $0 + $1.length })
      #expect(pull.totals.bytes_done == pull.totals.bytes_total)
      #expect(pull.totals.chunks_done == pull.totals.chunks_total)
      #expect(pull.result.new_chunk_count == pull.totals.chunks_total)
      #expect(pull.result.version.number == 1)
      #expect(!disk.hasLeaks)
      #expect(try Store(disk).pull(site) == nil, "it is there")
    }
  }
}
