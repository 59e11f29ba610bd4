#if Hosting
  import Foundation
  import GRDB
  import PackStore
  import Synchronization
  import Testing

  @testable import PackHosting

  struct WebhookTests {
    private func webhook(_ host: TestHost, types: [WebhookEventType] = WebhookEventType.allCases) async throws
      -> WebhookRecord
    {
      try await WebhookCommands(host.context).create(
        .init(name: "CI", url: "https://ci.example.com/hook?a=b", secret: "secret", enabled: true, eventTypes: types),
        app: host.app, by: host.admin)
    }

    private func queue(_ host: TestHost, _ receiver: TestReceiver) -> DeliveryQueue {
      DeliveryQueue(host.context, transport: receiver)
    }

    @Test func signatureMatchesApplesVector() {
      #expect(
        WebhookSignature.value(of: "Hello, World!", secret: "This is my secret")
          == "hmacsha256=7f062172b01cb00b53ca068614674a3d982a34062a0f5d37687d5e3377e54657")
    }

    @Test func packEventHasApplesForm() async throws {
      let host = try await TestHost()
      try await host.delegate()
      let webhook = try await webhook(host), receiver = TestReceiver()
      let version = try await host.published("one")
      try await queue(host, receiver).run()
      let release = try await host.release(version, .internalBeta)
      let message = try #require(receiver.messages.withLock { $0.first })
      let event = try #require(try await host.context.database.read { try EventRecord.fetchOne($0) })
      let link = "https://packs.example.com/v1/backgroundAssetVersionInternalBetaReleases/\(release.id)"
      #expect(
        message.body
          == #"{"data":{"attributes":{"timestamp":"\#(event.createdDate.text)"},"id":"\#(event.id)","relationships":{"instance":"#
          + #"{"id":"\#(release.id)","links":{"self":"\#(link)"},"type":"backgroundAssetVersionInternalBetaReleases"}},"#
          + #""type":"backgroundAssetVersionInternalBetaReleaseCreated"}}"#)
      #expect(message.url == webhook.url)
      #expect(message.signature == WebhookSignature.value(of: message.body, secret: "secret"))
      #expect(message.body.utf8.count < 64 << 10)
    }

    @Test func storeEventHasStates() async throws {
      let host = try await TestHost()
      try await host.delegate()
      let version = try await host.published("one")
      _ = try await host.submit([version])
      await host.work()
      let event = try #require(try await host.events(.storeRelease).first)
      #expect(event.contains(#""newState":"READY_FOR_DISTRIBUTION","oldState":"PROCESSING_FOR_DISTRIBUTION""#))
      #expect(event.contains(#""type":"backgroundAssetVersionAppStoreReleaseStateUpdated""#))
      #expect(!event.contains("version\":1") && !event.contains(#""instance":{"data""#))
    }

    @Test func onlyChosenTypesAreDelivered() async throws {
      let host = try await TestHost()
      try await host.delegate()
      _ = try await webhook(host, types: [.storeRelease])
      let receiver = TestReceiver()
      _ = try await host.published("one")
      try await queue(host, receiver).run()
      #expect(receiver.messages.withLock { $0.isEmpty })
    }

    @Test func pingIsDeliveredOnce() async throws {
      let host = try await TestHost()
      let webhook = try await webhook(host), receiver = TestReceiver()
      let event = try await WebhookCommands(host.context).ping(webhook.id, by: host.admin)
      #expect(event.ping && event.eventType == nil)
      #expect(event.payload.contains(#""type":"webhookPingCreated""#) && event.payload.contains(#""version":1"#))
      try await queue(host, receiver).run()
      try await queue(host, receiver).run()
      #expect(receiver.messages.withLock { $0.map(\.body) } == [event.payload])
    }

    @Test func failedDeliveriesAreRetriedForADay() async throws {
      let host = try await TestHost()
      let webhook = try await webhook(host), receiver = TestReceiver(status: 500),
        commands = WebhookCommands(host.context)
      let event = try await commands.ping(webhook.id, by: host.admin)
      try await queue(host, receiver).run()
      try await queue(host, receiver).run()
      #expect(receiver.messages.withLock { $0.count } == 1)
      for delay in Assumptions.retryDelays {
        host.time.advance(seconds: delay)
        try await queue(host, receiver).run()
      }
      #expect(receiver.messages.withLock { $0.count } == 9)
      #expect(Assumptions.retryDelays.reduce(0, +) <= 86_400)
      let failed = try #require(try await host.context.database.read { try DeliveryRecord.fetchOne($0) })
      #expect(failed.state == .failed && failed.statusCode == 500 && failed.responseBody == "body")
      host.time.advance(seconds: 86_400)
      try await queue(host, receiver).run()
      #expect(receiver.messages.withLock { $0.count } == 9)
      receiver.status.withLock { $0 = 204 }
      let again = try await commands.redeliver(failed.id, by: host.admin)
      #expect(again.redelivery && again.eventID == event.id)
      try await queue(host, receiver).run()
      #expect(Set(receiver.messages.withLock { $0.map(\.body) }) == [event.payload])
    }

    @Test func deletedWebhookReceivesNothing() async throws {
      let host = try await TestHost()
      let webhook = try await webhook(host), receiver = TestReceiver(), commands = WebhookCommands(host.context)
      _ = try await commands.ping(webhook.id, by: host.admin)
      #expect(await apiError { try await commands.delete(webhook.id, by: host.stranger) } == "403 FORBIDDEN_ERROR")
      let foreign = host.principal("x", kind: .person, role: .admin, of: host.otherTeam)
      #expect(await apiError { try await commands.delete(webhook.id, by: foreign) } == "404 NOT_FOUND")
      try await commands.delete(webhook.id, by: host.admin)
      try await queue(host, receiver).run()
      #expect(receiver.messages.withLock { $0.isEmpty })
    }

    @Test(arguments: [
      "http://a.example", "ftp://a.example", "https://", "https://user@a.example", "https://a.example/ b", "//a", "",
      "https://a#b",
      "https://ä.example", "file:///etc/passwd",
    ])
    func invalidURLsAreRefused(_ url: String) async throws {
      let host = try await TestHost()
      let input = WebhookInput(name: "a", url: url, secret: "s", enabled: true, eventTypes: [])
      let error = await apiError {
        try await WebhookCommands(host.context).create(input, app: host.app, by: host.admin)
      }
      #expect(error == "409 ENTITY_ERROR.ATTRIBUTE.INVALID")
    }

    @Test(arguments: ["127.0.0.1", "localhost", "10.1.2.3", "169.254.169.254", "[::1]", "[::ffff:10.0.0.1]", "0.0.0.0"])
    func privateAddressesAreRefused(_ name: String) async throws {
      let url = try #require(WebhookURL("https://\(name)/", permitsPrivateAddresses: false))
      let transport = NetworkTransport(permitsPrivateAddresses: false)
      await #expect(throws: DeliveryFault.self) { try await transport.post(url, body: "", headers: []) }
    }

    @Test func addressPolicyKnowsPrivateNetworks() {
      let refused: [[UInt8]] = [
        [0, 0, 0, 0], [10, 0, 0, 1], [100, 64, 0, 1], [127, 0, 0, 1], [169, 254, 169, 254], [172, 16, 0, 1],
        [172, 31, 255, 255],
        [192, 168, 1, 1], [224, 0, 0, 1], [255, 255, 255, 255], [198, 19, 0, 1], [], [1, 2, 3],
      ]
      for address in refused { #expect(!AddressPolicy.isPublic(address), "\(address)") }
      for address in [[8, 8, 8, 8], [172, 32, 0, 1], [100, 128, 0, 1], [192, 169, 0, 1]] as [[UInt8]] {
        #expect(AddressPolicy.isPublic(address), "\(address)")
        #expect(AddressPolicy.isPublic([UInt8](repeating: 0, count: 10) + [0xFF, 0xFF] + address))
      }
      func six(_ head: [UInt8], _ tail: [UInt8] = []) -> [UInt8] {
        head + [UInt8](repeating: 0, count: 16 - head.count - tail.count) + tail
      }
      for address in [
        six([], [1]), six([]), six([0xFC]), six([0xFD, 1]), six([0xFE, 0x80]), six([0xFF, 2]),
        six([], [0xFF, 0xFF, 10, 0, 0, 1]),
        six([0x00, 0x64, 0xFF, 0x9B], [192, 168, 0, 1]), six([0x20, 0x02, 10, 0, 0, 1]), six([0x20, 0x01, 0x0D, 0xB8]),
      ] { #expect(!AddressPolicy.isPublic(address), "\(address)") }
      #expect(AddressPolicy.isPublic(six([0x26, 0x06, 0x47, 0x00])))
    }
  }
#endif
