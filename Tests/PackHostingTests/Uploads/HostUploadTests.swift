#if Hosting && Delivery
  import Crypto
  import Foundation
  import GRDB
  import NIOHTTP1
  import PackAuthoring
  import PackDelivery
  import PackStore
  import Synchronization
  import Testing

  @testable import PackHosting
  @testable import PackPublishing

  /// The uploader of `packstore upload` with a real server.
  @Suite struct HostUploadTests {
    private func token(_ host: TestHost, app: AppID?) async throws -> String {
      let text = BuildToken.generate(SystemRandom())
      let record = TokenRecord(
        id: .init(SystemRandom()), teamID: host.team, name: "ci", hash: try #require(BuildToken.hash(text)),
        roles: [.developer], appID: app, createdDate: host.time.now, expirationDate: nil, revokedDate: nil)
      try await host.context.database.write { try record.insert($0) }
      return text
    }

    private func file(_ bytes: [UInt8], _ name: String, _ host: TestHost) throws -> FilePath {
      let file = host.folder.appending(name)
      try Data(bytes).write(to: URL(filePath: file.string))
      return file
    }

    @Test func archiveBecomesAVersion() async throws {
      let host = try await TestHost(), key = TestKey()
      try await host.delegate()
      let archive = try file(try await host.archive(), "City.pack", host), token = try await token(host, app: host.app)
      try await TestServer.run(host, key) { server async throws in
        let client = try HostClient("http://localhost:\(server.port)/", token: token, environment: [:])
        let calls = Mutex<[UInt64]>([])
        let first = try await HostUpload(archive, to: client).run { sent, _ in calls.withLock { $0.append(sent) } }
        #expect(first.pack == "City" && first.version == 1 && first.state == "PROCESSING")
        #expect(first.sentByteCount == first.byteCount && calls.withLock { $0.last } == first.byteCount)
        await host.work()
        // A finished upload is not continued: the same archive is another version.
        var options = HostUpload.Options()
        options.app = "com.example.city"
        let second = try await HostUpload(archive, to: client, options: options).run()
        #expect(second.version == 2)
        await host.work()
        #expect(try await host.offered(.internalBeta) == [2])
        await client.close()
      }
    }

    /// A version whose archive was reserved and not committed is used again.
    @Test func interruptedUploadContinues() async throws {
      let host = try await TestHost(), key = TestKey()
      try await host.delegate()
      let archive = try file(try await host.archive(), "City.pack", host), token = try await token(host, app: host.app)
      let bytes = try InputFile(archive).contents(limit: 1 << 20), version = try await host.version()
      _ = try await ContentUploadCommands(host.context, signer: host.signer).reserve(
        fileName: "City.pack", byteCount: Int64(bytes.count), sha256: Digest256(hashing: bytes).hex, .init(),
        version: version.id, by: host.developer)
      try await TestServer.run(host, key) { server async throws in
        let client = try HostClient("http://localhost:\(server.port)", token: token, environment: [:])
        #expect(try await HostUpload(archive, to: client).run().version == 1)
        await client.close()
      }
    }

    /// Two build jobs upload the same file at the same time. The slower job must not fail because the faster one committed.
    @Test func identicalUploadsBothSucceed() async throws {
      let host = try await TestHost(), key = TestKey()
      try await host.delegate()
      let archive = try file(try await host.archive(), "City.pack", host), token = try await token(host, app: host.app)
      try await TestServer.run(host, key) { server async throws in
        let client = try HostClient("http://localhost:\(server.port)", token: token, environment: [:])
        let context = host.context
        let result = try await HostUpload(archive, to: client).run { sent, _ in
          guard sent == 0 else { return }
          // The other job commits after this one has received its upload operations.
          try? context.database.write { database in
            try database.execute(
              sql: "UPDATE uploadFile SET state = 'UPLOAD_COMPLETE', committedDate = ?", arguments: [context.now])
          }
        }
        #expect(result.version == 1 && result.sentByteCount == 0)
        await client.close()
      }
    }

    /// A closed upload that was not committed is an error.
    @Test func expiredUploadIsReported() async throws {
      let host = try await TestHost(), key = TestKey()
      let archive = try file(try await host.archive(), "City.pack", host), token = try await token(host, app: host.app)
      try await TestServer.run(host, key) { server async throws in
        let client = try HostClient("http://localhost:\(server.port)", token: token, environment: [:])
        let context = host.context
        let error = await #expect(throws: DeliveryError.self) {
          try await HostUpload(archive, to: client).run { sent, _ in
            guard sent == 0 else { return }
            try? context.database.write { database in
              try database.execute(sql: "UPDATE uploadFile SET state = 'FAILED'")
            }
          }
        }
        #expect(error?.code == .badResponse && "\(error?.specificRemedy ?? "")".contains("begins another"))
        await client.close()
      }
    }

    @Test func faultsAreReported() async throws {
      let host = try await TestHost(), key = TestKey()
      let archive = try file(try await host.archive(), "City.pack", host),
        other = try file([1, 2, 3], "other.aar", host)
      let token = try await token(host, app: host.app)
      try await TestServer.run(host, key) { server async throws in
        let url = "http://localhost:\(server.port)"
        let client = try HostClient(url, token: token, environment: [:])
        let stranger = try HostClient(url, token: "x", environment: [:])
        await #expect(throws: DeliveryError.self) { try await HostUpload(archive, to: stranger).run() }
        await #expect(throws: PackStoreError.self) { try await HostUpload(other, to: client).run() }
        var options = HostUpload.Options()
        options.app = "com.example.unknown"
        await #expect(throws: DeliveryError.self) { try await HostUpload(archive, to: client, options: options).run() }
        options = .init()
        options.pack = "not_valid"
        await #expect(throws: DeliveryError.self) { try await HostUpload(archive, to: client, options: options).run() }
        await client.close()
        await stranger.close()
      }
      #expect(throws: DeliveryError.self) { try HostClient("ftp://x", token: "x", environment: [:]) }
    }

    @Test func unreachableHostIsReported() async throws {
      let client = try HostClient("http://127.0.0.1:1", token: "x", environment: [:])
      let error = await #expect(throws: DeliveryError.self) {
        try await client.send(.POST, "/v1/backgroundAssets", [], accepting: nil)
      }
      #expect(error?.code == .unreachable)
      await client.close()
    }
  }
#endif
