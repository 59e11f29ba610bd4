#if Hosting
  import GRDB
  import NIOCore
  import NIOPosix
  import Synchronization
  import Testing

  @testable import PackHosting

  /// The addresses to which the network transport connects.
  struct WebhookTransportTests {
    /// A server that redirects each request to itself.
    private final class Redirecting: ChannelInboundHandler, Sendable {
      typealias InboundIn = ByteBuffer
      typealias OutboundOut = ByteBuffer

      let requests = Mutex<[String]>([])

      func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        let text = String(buffer: unwrapInboundIn(data))
        guard text.hasPrefix("POST") else { return }
        requests.withLock { $0.append(text) }
        let port = context.channel.localAddress?.port ?? 0
        let answer =
          "HTTP/1.1 302 Found\r\nLocation: http://127.0.0.1:\(port)/second\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"
        context.writeAndFlush(wrapOutboundOut(ByteBuffer(string: answer)), promise: nil)
      }
    }

    private func withServer(_ body: (Int, Redirecting) async throws -> Void) async throws {
      let handler = Redirecting()
      let channel = try await ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton)
        .childChannelInitializer { $0.pipeline.addHandler(handler) }.bind(host: "127.0.0.1", port: 0).get()
      do { try await body(channel.localAddress?.port ?? 0, handler) } catch {
        try await channel.close()
        throw error
      }
      try await channel.close()
    }

    private let loopback = HostResolver.Address(text: "127.0.0.1", bytes: [127, 0, 0, 1])

    @Test func redirectsAreNotFollowed() async throws {
      try await withServer { port, server async throws in
        let url = try #require(WebhookURL("http://127.0.0.1:\(port)/first", permitsPrivateAddresses: true))
        let (status, _) = try await NetworkTransport(permitsPrivateAddresses: true).post(url, body: "{}", headers: [])
        #expect(status == 302)
        #expect(server.requests.withLock { $0.count } == 1)
      }
    }

    /// A name server cannot answer twice: the connection uses the address that was checked.
    @Test func nameIsResolvedOnce() async throws {
      try await withServer { port, server async throws in
        let url = try #require(WebhookURL("http://receiver.invalid:\(port)/", permitsPrivateAddresses: true))
        let lookups = Mutex(0), address = loopback
        let transport = NetworkTransport(permitsPrivateAddresses: true) { _ in
          lookups.withLock { $0 += 1 }
          return [address]
        }
        #expect(try await transport.post(url, body: "{}", headers: []).0 == 302)
        #expect(lookups.withLock { $0 } == 1)
        #expect(server.requests.withLock { $0.first }?.lowercased().contains("host: receiver.invalid:\(port)") == true)
      }
    }

    /// One private address among public ones refuses the delivery.
    @Test func mixedAddressesAreRefused() async throws {
      let url = try #require(WebhookURL("https://receiver.invalid/", permitsPrivateAddresses: false)),
        address = loopback
      let transport = NetworkTransport(permitsPrivateAddresses: false) { _ in
        [HostResolver.Address(text: "8.8.8.8", bytes: [8, 8, 8, 8]), address]
      }
      await #expect(throws: DeliveryFault.self) { try await transport.post(url, body: "", headers: []) }
    }

    /// A receiver whose name leads into the host's network only later is refused then.
    @Test func retriesAreChecked() async throws {
      let host = try await TestHost(), lookups = Mutex(0), address = loopback
      let webhook = try await WebhookCommands(host.context).create(
        .init(name: "CI", url: "https://receiver.invalid/", secret: "s", enabled: true, eventTypes: []), app: host.app,
        by: host.admin)
      _ = try await WebhookCommands(host.context).ping(webhook.id, by: host.admin)
      let queue = DeliveryQueue(
        host.context,
        transport: NetworkTransport(permitsPrivateAddresses: false) { _ in
          lookups.withLock { count in
            count += 1
            return count == 1 ? [] : [address]
          }
        })
      for message in ["has no address", "has a private address", "has a private address"] {
        #expect(try await queue.run() == 1)
        let delivery = try await host.context.database.read { try DeliveryRecord.fetchOne($0) }
        #expect(delivery?.errorMessage?.contains(message) == true && delivery?.state == .pending)
        host.time.advance(seconds: 86_400)
      }
      #expect(lookups.withLock { $0 } == 3, "each attempt resolves again")
    }
  }
#endif
