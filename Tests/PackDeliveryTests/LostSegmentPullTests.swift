#if Delivery
  import Foundation
  import PackAuthoring
  import PackDelivery
  import PackStore
  import Testing

  /// Pulls into stores whose segment files were deleted or cut short by another program.
  extension SitePullTests {
    enum LostFiles: CaseIterable { case data, metadata, all, halfOfEach }

    /// A server, and a store that has pulled its pack and was closed since then.
    private func prepareDurable() async throws -> (FaultServer, FilePath) {
      let server = try await FaultServer(try await publish(Self.first), time: time)
      let path = FilePath("\(folder.path)/store")
      try await Store(at: path).pull(from: server.url, options: options)
      return (server, path)
    }

    private func segments(_ path: FilePath) throws -> [(file: String, isData: Bool)] {
      try FileManager.default.contentsOfDirectory(atPath: "\(path)/segments").sorted().map { name in
        let bytes = try Data(contentsOf: URL(fileURLWithPath: "\(path)/segments/\(name)"))
        return ("\(path)/segments/\(name)", bytes[12] == 1)
      }
    }

    private func lose(_ files: LostFiles, in path: FilePath) throws {
      for (file, isData) in try segments(path) {
        switch files {
        case .data where !isData, .metadata where isData: continue
        case .data, .metadata, .all: try FileManager.default.removeItem(atPath: file)
        case .halfOfEach:
          let handle = try #require(FileHandle(forWritingAtPath: file))
          try handle.truncate(atOffset: try handle.seekToEnd() / 2)
          try handle.close()
        }
      }
    }

    /// A pull reported that the pack was at its version already.
    @Test(arguments: LostFiles.allCases, [false, true]) func aPullRestoresLostSegments(
      files: LostFiles, refetches: Bool
    ) async throws {
      let (server, path) = try await prepareDurable()
      try lose(files, in: path)
      let store = try Store(at: path)
      let availability = try store.read { snapshot in
        try snapshot.availability(of: #require(snapshot.pack("Game")).version)
      }
      #expect(!availability.isWhole && availability.lacksPages == (files != .data))
      #expect((availability.state == .purged) == (files != .metadata))
      var options = options
      options.refetches = refetches
      let plan = try await store.planPull(from: server.url, options: options)
      #expect(plan.packs[0].outcome == .healed)
      let result = try await store.pull(from: server.url, options: options)
      #expect(result.packs[0].outcome == .healed && result.packs[0].missingByteCount == availability.missingByteCount)
      #expect((result.packs[0].frameByteCount > 0) == (files != .metadata))
      let after = try Store(at: path)
      try expect(after, Self.first)
      #expect(try after.read { try $0.verify(deep: true).isSound } && leftovers(after) == [])
      #expect(try await after.pull(from: server.url, options: options).packs[0].outcome == .unchanged)
      await server.close()
    }

    /// An update also fetches the lost content that both versions share, by deltas and by frames.
    @Test(arguments: LostFiles.allCases, [false, true]) func anUpdateRestoresLostSegments(
      files: LostFiles, usesDeltas: Bool
    ) async throws {
      let (first, path) = try await prepareDurable()
      await first.close()
      let server = try await FaultServer(try await publish(Self.second, deltas: 1), time: time)
      try lose(files, in: path)
      var options = options
      options.usesDeltas = usesDeltas
      options.trustedKey = key.publicKey
      let store = try Store(at: path)
      let result = try await store.pull(from: server.url, options: options)
      #expect(result.packs[0].outcome == .updated && result.packs[0].to == 2)
      try expect(Store(at: path), Self.second)
      let version = try store.read { snapshot in
        try snapshot.availability(of: #require(snapshot.pack("Game")).version)
      }
      #expect(version.isWhole)
      #expect(try await store.pull(from: server.url, options: options).packs[0].outcome == .unchanged)
      await server.close()
    }

    /// A pull fetches the frames of the lost segment, and no others.
    @Test func aPullFetchesTheLostFramesAlone() async throws {
      let (first, path) = try await prepareDurable()
      await first.close()
      let before = Set(try segments(path).map(\.file))
      let server = try await FaultServer(try await publish(Self.second), time: time)
      var options = options
      options.trustedKey = key.publicKey
      let update = try await Store(at: path).pull(from: server.url, options: options).packs[0]
      for (file, isData) in try segments(path) where isData && !before.contains(file) {
        try FileManager.default.removeItem(atPath: file)
      }
      let store = try Store(at: path)
      let result = try await store.pull(from: server.url, options: options).packs[0]
      #expect(result.outcome == .healed && result.frameByteCount == update.frameByteCount)
      try expect(store, Self.second)
      #expect(try store.read { try $0.verify(deep: true).isSound })
      await server.close()
    }
  }
#endif
