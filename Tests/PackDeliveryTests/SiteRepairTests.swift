#if Delivery
  import Foundation
  import PackAuthoring
  import PackDelivery
  import PackStore
  import Testing

  /// Repairs from sites. A repair sent no request, and dropped versions that the site still had.
  extension SitePullTests {
    private var path: FilePath { FilePath("\(folder.path)/store") }

    private func segments() throws -> [String] {
      try FileManager.default.contentsOfDirectory(atPath: "\(path)/segments").sorted().map { "\(path)/segments/\($0)" }
    }

    private func prepareRepair() async throws -> FaultServer {
      let server = try await FaultServer(try await publish(Self.first), time: time)
      try await Store(at: path).pull(from: server.url, options: options)
      return server
    }

    private func repair(
      from donors: [FilePath] = [], sites: [String], isDryRun: Bool = false
    ) async throws -> Store.RepairResult {
      let scratch = FilePath("\(folder.path)/scratch")
      try? FileManager.default.removeItem(atPath: scratch.string)
      try FileManager.default.createDirectory(atPath: scratch.string, withIntermediateDirectories: false)
      return try await Store.repair(
        at: path, from: donors, sites: sites, scratch: scratch, options: options, isDryRun: isDryRun)
    }

    /// The file tree of the store, with lengths.
    private func picture() -> [String: Int] {
      let names = FileManager.default.enumerator(atPath: path.string)?.compactMap { $0 as? String } ?? []
      return Dictionary(
        uniqueKeysWithValues: names.map { name in
          (name, FileManager.default.contents(atPath: "\(path)/\(name)")?.count ?? -1)
        })
    }

    enum Damage: CaseIterable { case deletedSegments, cutSegments, flippedBytes, lostIndex }

    private func damage(_ damage: Damage) throws {
      for file in try segments() {
        switch damage {
        case .deletedSegments, .lostIndex: try FileManager.default.removeItem(atPath: file)
        case .cutSegments: try Data().write(to: URL(fileURLWithPath: file))
        case .flippedBytes:
          var bytes = try Data(contentsOf: URL(fileURLWithPath: file))
          for at in stride(from: 100, to: bytes.count, by: 10_000) { bytes[at] ^= 1 }
          try bytes.write(to: URL(fileURLWithPath: file))
        }
      }
      guard damage == .lostIndex else { return }
      for file in try FileManager.default.contentsOfDirectory(atPath: "\(path)/index") where file.hasSuffix(".run") {
        try FileManager.default.removeItem(atPath: "\(path)/index/\(file)")
      }
    }

    @Test(arguments: Damage.allCases, [false, true]) func aRepairFetchesFromSites(
      damage: Damage, isFolder: Bool
    ) async throws {
      let server = try await prepareRepair(), site = isFolder ? "\(folder.path)/site" : server.url
      try self.damage(damage)
      #expect(try await Store.repair(at: path, isDryRun: true).isWhole == false)
      let dry = try await repair(sites: [site], isDryRun: true)
      #expect(dry.isWhole && dry.generation == nil)
      let result = try await repair(sites: [site])
      #expect(result.isWhole && result.lostPackCount == 0 && result.generation != nil)
      let after = try Store(at: path)
      #expect(try after.packs().map(\.version.number) == [1])
      try expect(after, Self.first)
      #expect(try after.read { try $0.verify(deep: true).isSound })
      await server.close()
    }

    /// A kept version is fetched by its number from another site that still offers it.
    @Test func aKeptVersionIsNotDropped() async throws {
      let first = try await prepareRepair()
      let copy = "\(folder.path)/old-site"
      try FileManager.default.copyItem(atPath: "\(folder.path)/site", toPath: copy)
      await first.close()
      let server = try await FaultServer(try await publish(Self.second), time: time)
      var options = options
      options.trustedKey = key.publicKey
      try await Store(at: path).pull(from: server.url, options: options)
      try damage(.deletedSegments)
      let result = try await repair(sites: [server.url, copy])
      #expect(result.isWhole && result.versionCount == 2)
      try expect(Store(at: path), Self.second)
      #expect(try Store(at: path).read { try $0.verify(deep: true).isSound })
      await server.close()
    }

    /// Sites of different publishers each have a version of the pack.
    @Test func sitesOfDifferentKeysServeTogether() async throws {
      let old = "\(folder.path)/old-site", other = "\(folder.path)/other-site"
      _ = try await publish(Self.first)
      try await Store(at: path).pull(from: "\(folder.path)/site", options: options)
      try FileManager.default.copyItem(atPath: "\(folder.path)/site", toPath: old)
      _ = try await publish(Self.second)
      try await Store(at: path).pull(from: "\(folder.path)/site", options: options)
      try await Site(at: FilePath(other)).publish(
        from: Store(at: FilePath("\(folder.path)/origin")), signedBy: SiteKey())
      try damage(.deletedSegments)
      for sites in [[other, old], [old, other]] {
        let result = try await repair(sites: sites)
        #expect(result.isWhole && result.versionCount == 2)
        try expect(Store(at: path), Self.second)
        #expect(try Store(at: path).read { try $0.verify(deep: true).isSound })
        try damage(.deletedSegments)
      }
    }

    /// A source that cannot be read fails the repair, even if another source has everything.
    @Test func anUnreadableSourceChangesNothing() async throws {
      let server = try await prepareRepair()
      try damage(.deletedSegments)
      let before = picture()
      let missing = "\(folder.path)/none"
      for sites in [["\(server.url)/none"], [missing], [server.url, missing]] {
        await #expect(throws: DeliveryError.self) { try await repair(sites: sites) }
        #expect(picture() == before)
      }
      await #expect(throws: PackStoreError.self) { try await repair(from: [FilePath(missing)], sites: [server.url]) }
      #expect(picture() == before)
      await server.close()
    }
  }
#endif
