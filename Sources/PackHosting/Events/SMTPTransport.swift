#if Hosting
  import Foundation
  import NIOCore
  import NIOPosix
  import NIOSSL

  /// Hands each mail to the mail server over a connection of its own, which ends after ``deadline``.
  struct SMTPTransport: MailTransport {
    let server: SMTPServer

    /// Longest time for one mail.
    var deadline = TimeAmount.seconds(60)

    func send(_ message: MailMessage) async throws {
      let server = server, context = try Self.context(server)
      let channel = try await ClientBootstrap(group: MultiThreadedEventLoopGroup.singleton)
        .connectTimeout(.seconds(15))
        .connect(host: server.host, port: server.port) { channel in
          channel.eventLoop.makeCompletedFuture {
            if server.security == .tls { try Self.encrypt(channel, server, context) }
            return try NIOAsyncChannel<ByteBuffer, ByteBuffer>(wrappingChannelSynchronously: channel)
          }
        }
      let connection = channel.channel
      let timer = connection.eventLoop.scheduleTask(in: deadline) { connection.close(promise: nil) }
      defer { timer.cancel() }
      // The server may close the connection first. That is a fault of the end, which must not repeat an accepted mail.
      var outcome: Result<Void, any Error>?
      do {
        try await channel.executeThenClose { inbound, outbound in
          var session = SMTPSession(server, inbound, outbound) {
            try await connection.eventLoop.submit { try Self.encrypt(connection, server, context) }.get()
          }
          do { outcome = .success(try await session.send(message)) } catch { outcome = .failure(error) }
        }
      } catch { if outcome == nil { throw error } }
      do { try outcome?.get() } catch is ChannelError { throw MailFault.closed }
    }

    private static func context(_ server: SMTPServer) throws -> NIOSSLContext {
      var configuration = TLSConfiguration.makeClientConfiguration()
      configuration.minimumTLSVersion = .tlsv12
      configuration.additionalTrustRoots = [
        .certificates(
          try server.trustedCertificates.map { try NIOSSLCertificate(bytes: Array($0.utf8), format: .pem) })
      ]
      return try NIOSSLContext(configuration: configuration)
    }

    /// Encrypts a connection. Without a host name, the certificate must have the server's address.
    private static func encrypt(_ channel: any Channel, _ server: SMTPServer, _ context: NIOSSLContext) throws {
      let isAddress = (try? SocketAddress(ipAddress: server.host, port: server.port)) != nil
      let handler = try NIOSSLClientHandler(context: context, serverHostname: isAddress ? nil : server.host)
      try channel.pipeline.syncOperations.addHandler(handler, position: .first)
    }
  }
#endif
