import PackFormats

#if Delivery
  import PackStore
  import Testing

  @testable import PackDelivery

  /// Roots, attribute sheets and manifests are in memory as a whole: a hostile site may not have many of them read.
  extension SitePullTests {
    private static func manifest(segmentCount: Int, fileCount: UInt64 = 1, byteCount: UInt64 = 10) -> VersionManifest {
      let digest = Digest256(hashing: [1])
      return VersionManifest(
        pack: "Game", number: 1, catalog: CatalogID(digest: digest), layout: digest, attributes: nil, committedAt: 0,
        fileCount: fileCount, linkCount: 0, folderCount: 0, byteCount: byteCount,
        segments: (0..<segmentCount).map { number in
          let id = ID128(copying: (0..<16).map { UInt8(truncatingIfNeeded: number >> ($0 * 8)) })
          return .init(id: SegmentID(id), kind: .metadata, byteCount: 9, table: digest, tableByteCount: 48)
        })
    }

    @Test func manifestsCountBeforeTheyAreRequested() async throws {
      let files = try await publish(Self.first)
      let server = try await FaultServer(files, time: time)
      let manifests = files.filter { $0.key.hasPrefix("versions/") }
      let needed = try #require(files["root"]?.count) + manifests.values.reduce(0) { $0 + $1.count }
      for (limit, isEnough) in [(10, false), (needed - 1, false), (needed, true)] {
        var options = options
        options.limits.metadataByteLimit = limit
        let store = try Store(at: FilePath("\(folder.path)/store-\(limit)"))
        do {
          try await store.pull(from: server.url, options: options)
          #expect(isEnough)
          try expect(store, Self.first)
        } catch let error as DeliveryError {
          #expect(!isEnough && error.limit == .metadata && error.code == .badResponse, "\(error)")
          #expect(error.reason.hasPrefix("the site's root, attribute sheets and manifests exceed"))
          #expect(server.requests.allSatisfy { !$0.path.contains("versions/") })
        }
      }
      // A folder of this machine may have as much as it needs.
      var options = options
      options.limits.metadataByteLimit = 0
      let store = try Store(at: FilePath("\(folder.path)/store-local"))
      try await store.pull(from: "\(folder.path)/site", options: options)
      await server.close()
    }

    @Test func theBudgetIsOneForAllFiles() throws {
      let budget = MetadataBudget(byteLimit: 100), digests = (0..<9).map { Digest256(hashing: [$0]) }
      try budget.spend(60, on: digests[0], at: "a")
      try budget.spend(60, on: digests[0], at: "a")
      try budget.spend(40, on: digests[1], at: "b")
      #expect(throws: DeliveryError.self) { try budget.spend(1, on: digests[2], at: "c") }
      #expect(throws: DeliveryError.self) { try budget.spend(.max, on: digests[3], at: "d") }
      try MetadataBudget(byteLimit: .max).spend(.max, on: digests[0], at: "e")
      #expect(throws: DeliveryError.self) { try MetadataBudget(byteLimit: .min).spend(1, on: digests[0], at: "f") }
    }

    @Test func manifestsListNoMoreSegmentsThanNeeded() {
      #expect(!Self.manifest(segmentCount: 66).hasTooManySegments)
      #expect(Self.manifest(segmentCount: 67).hasTooManySegments)
      #expect(!Self.manifest(segmentCount: 67, byteCount: 32).hasTooManySegments)
      #expect(!Self.manifest(segmentCount: 1000, fileCount: 500).hasTooManySegments)
      #expect(!Self.manifest(segmentCount: 1000, fileCount: .max, byteCount: .max).hasTooManySegments)
    }

    @Test func usedManifestsAreReleased() {
      var cache = ManifestCache()
      let digests = (0..<4).map { Digest256(hashing: [$0]) }
      for digest in digests.prefix(2) {
        cache.keep(Self.manifest(segmentCount: 1), digest, byteCount: 1000)
        cache.release(digest)
      }
      #expect(cache.byteCount == 2000 && cache[digests[0]] != nil, "small ones stay")
      cache.keep(Self.manifest(segmentCount: 2), digests[2], byteCount: ManifestCache.byteLimit)
      #expect(cache[digests[2]] != nil, "until it is in use")
      cache.release(digests[2])
      #expect(cache[digests[2]] == nil && cache[digests[1]] != nil && cache.byteCount == 2000)
    }
  }
#endif
