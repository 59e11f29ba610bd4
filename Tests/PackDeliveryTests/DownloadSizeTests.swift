#if Delivery
  import Foundation
  import PackAuthoring
  import PackDelivery
  import PackStore
  import Synchronization
  import Testing

  extension SitePullTests {
    private static func content(_ index: Int) -> [UInt8] {
      Array(String(repeating: "file \(index), as large as life; ", count: 200 + 300 * index).utf8)
    }

    /// The announced size of a download equals the transferred bytes, except for frame tables: the server records which
    /// of them were fetched. All frames and pages of a site's first version are adjacent; in later versions there are
    /// unneeded ones in between, which may be fetched too.
    @Test func theSizeOfADownloadIsKnownBefore() async throws {
      var files = Dictionary(uniqueKeysWithValues: (0..<30).map { ("a/\($0)", Self.content($0)) })
      files["again"] = files["a/7"]
      for version in 1...3 {
        files["changed"] = Self.content(40 + version)
        files["a/\(version)"] = nil
        let server = try await FaultServer(try await publish(files), time: time)
        let store = try Store(at: FilePath("\(folder.path)/store\(version)"))
        let pulled = try #require(try await store.pull(from: server.url, options: options).packs.first)
        let served = server.state.withLock(\.files)
        let tables = server.requests.map { String($0.path.dropFirst("site/".count)) }
          .filter { $0.hasPrefix("frames/") }
          .reduce(0) { $0 + (served[$1]?.count ?? 0) }
        let snapshot = try Store(at: FilePath("\(folder.path)/site")).makeSnapshot()
        let published = try #require(snapshot.packs.first?.version)
        let size = try snapshot.downloadByteCount(of: published)
        #expect(published.number == version && tables > 0)
        let surplus = pulled.frameByteCount + pulled.metadataByteCount - tables - Int(size)
        #expect(version == 1 ? surplus == 0 : 0...FetchLimits().gapByteCount ~= surplus)
        await server.close()
      }
    }
  }
#endif
