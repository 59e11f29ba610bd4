#if Hosting
  import GRDB
  import Testing

  @testable import PackHosting

  /// The quotas of an app: bytes of all packs, and the number of packs.
  struct QuotaTests {
    private func setLimits(_ host: TestHost, bytes: Int64 = 1000, packs: Int = 3) async throws {
      try await host.context.database.write {
        try $0.execute(
          sql: "UPDATE app SET byteLimit = ?, packLimit = ? WHERE id = ?", arguments: [bytes, packs, host.app])
      }
    }

    private func reserve(_ host: TestHost, _ byteCount: Int64, of pack: String) async throws -> String {
      let version = try await host.version(of: pack)
      return await apiError {
        try await host.uploads.reserve(
          .asset, fileName: "a", byteCount: byteCount, version: version.id, by: host.developer)
      }
    }

    private static let refusal = "409 STATE_ERROR.LIMIT_REACHED"

    @Test func newAppsHaveTwoHundredGigabytesAndPacks() async throws {
      let host = try await TestHost(), app = host.app
      let record = try await host.context.database.read { try AppRecord.fetchOne($0, key: ["id": app]) }
      #expect(record?.byteLimit == 200_000_000_000 && record?.packLimit == 200)
    }

    @Test func bytesOfAllPacksCountTogether() async throws {
      let host = try await TestHost()
      try await setLimits(host)
      #expect(try await reserve(host, 600, of: "City") == "no error")
      #expect(try await reserve(host, 401, of: "Forest") == Self.refusal)
      #expect(try await reserve(host, 400, of: "Forest") == "no error", "the limit itself is not exceeded")
      #expect(try await reserve(host, 1, of: "City") == Self.refusal)
    }

    @Test func archivedPackGivesItsPlaceBack() async throws {
      let host = try await TestHost()
      try await setLimits(host, packs: 2)
      _ = try await host.packs.create("City", app: host.app, by: host.developer)
      _ = try await host.packs.create("Forest", app: host.app, by: host.developer)
      let refused = await apiError { try await host.packs.create("Lake", app: host.app, by: host.developer) }
      #expect(refused == Self.refusal)
      try await host.context.database.write {
        try $0.execute(sql: "UPDATE pack SET archived = 1 WHERE identifier = 'City'")
      }
      let accepted = await apiError { try await host.packs.create("Lake", app: host.app, by: host.developer) }
      #expect(accepted == "no error")
    }

    @Test func otherAppHasQuotasOfItsOwn() async throws {
      let host = try await TestHost()
      try await setLimits(host, bytes: 0, packs: 0)
      let other = host.otherApp
      let record = try await host.context.database.read { try AppRecord.fetchOne($0, key: ["id": other]) }
      #expect(record?.byteLimit == 200_000_000_000 && record?.packLimit == 200)
      let refused = await apiError { try await host.packs.create("City", app: host.app, by: host.developer) }
      #expect(refused == Self.refusal)
    }
  }
#endif
