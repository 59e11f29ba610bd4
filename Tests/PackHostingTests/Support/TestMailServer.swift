#if Hosting
  import Foundation
  import NIOCore
  import NIOPosix
  import NIOSSL
  import Synchronization

  @testable import PackHosting

  /// A mail server on loopback, which records commands and messages.
  final class TestMailServer: Sendable {
    struct Script: Sendable {
      var security = SMTPServer.Security.startTLS

      /// Answers by the first word of a command; others succeed. `""` is the greeting, and `.` the end of a message.
      var answers: [String: String] = [:]

      /// Further capabilities than STARTTLS.
      var capabilities = ["PIPELINING", "AUTH PLAIN LOGIN"]

      /// Bytes sent in plain text right after the answer to STARTTLS.
      var inserted = ""
    }

    struct Command: Hashable, Sendable {
      let text: String
      let isEncrypted: Bool
    }

    private let script: Script
    private let channel: any Channel
    private let state: State

    final class State: Sendable {
      let commands = Mutex<[Command]>([])
      let messages = Mutex<[String]>([])
    }

    var commands: [Command] { state.commands.withLock { $0 } }
    var messages: [String] { state.messages.withLock { $0 } }

    /// The mail server as its client sees it.
    var server: SMTPServer {
      var server = SMTPServer(host: "localhost", port: channel.localAddress?.port ?? 0, security: script.security)
      server.trustedCertificates = [Self.certificate]
      return server
    }

    /// Runs a body while a server runs.
    static func run(_ script: Script = .init(), _ body: (TestMailServer) async throws -> Void) async throws {
      let state = State(), context = try Self.context()
      let channel = try await ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton)
        .childChannelInitializer { channel in
          channel.eventLoop.makeCompletedFuture {
            if script.security == .tls {
              try channel.pipeline.syncOperations.addHandler(NIOSSLServerHandler(context: context))
            }
            try channel.pipeline.syncOperations.addHandler(Session(script, state, context))
          }
        }.bind(host: "127.0.0.1", port: 0).get()
      do { try await body(TestMailServer(script, channel, state)) } catch {
        try await channel.close()
        throw error
      }
      try await channel.close()
    }

    private init(_ script: Script, _ channel: any Channel, _ state: State) {
      (self.script, self.channel, self.state) = (script, channel, state)
    }

    private static func context() throws -> NIOSSLContext {
      try NIOSSLContext(
        configuration: .makeServerConfiguration(
          certificateChain: [.certificate(try NIOSSLCertificate(bytes: Array(certificate.utf8), format: .pem))],
          privateKey: .privateKey(try NIOSSLPrivateKey(bytes: Array(privateKey.utf8), format: .pem))))
    }

    private final class Session: ChannelInboundHandler {
      typealias InboundIn = ByteBuffer
      typealias OutboundOut = ByteBuffer

      private let script: Script
      private let state: State
      private let tls: NIOSSLContext
      private var received = ""
      private var message: String?
      private var isEncrypted: Bool

      init(_ script: Script, _ state: State, _ tls: NIOSSLContext) {
        (self.script, self.state, self.tls) = (script, state, tls)
        isEncrypted = script.security == .tls
      }

      func channelActive(context: ChannelHandlerContext) { answer("", "220 localhost ready", context) }

      func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        received += String(buffer: unwrapInboundIn(data))
        while let end = received.range(of: "\r\n") {
          let line = String(received[..<end.lowerBound])
          received = String(received[end.upperBound...])
          read(line, context)
        }
      }

      private func read(_ line: String, _ context: ChannelHandlerContext) {
        guard let text = message else { return command(line, context) }
        guard line == "." else { return message = text + line + "\r\n" }
        if script.answers["."] == nil { state.messages.withLock { $0.append(text) } }
        message = nil
        answer(".", "250 accepted", context)
      }

      private func command(_ line: String, _ context: ChannelHandlerContext) {
        state.commands.withLock { $0.append(Command(text: line, isEncrypted: isEncrypted)) }
        let word = String(line.prefix { $0 != " " })
        switch word {
        case "EHLO":
          let offers = script.security == .startTLS && !isEncrypted ? ["STARTTLS"] : []
          let lines = ["localhost"] + script.capabilities + offers
          answer(word, lines.dropLast().map { "250-\($0)\r\n" }.joined() + "250 \(lines.last ?? "")", context)
        case "STARTTLS":
          answer(word, "220 go on\r\n" + script.inserted, context, ends: false)
          guard script.answers[word] == nil else { return }
          isEncrypted = true
          try? context.pipeline.syncOperations.addHandler(NIOSSLServerHandler(context: tls), position: .first)
        case "DATA":
          answer(word, "354 send it", context)
          if script.answers[word] == nil { message = "" }
        case "AUTH": answer(word, line == "AUTH LOGIN" ? "334 VXNlcm5hbWU6" : "235 authenticated", context)
        case "QUIT":
          answer(word, "221 bye", context)
          context.close(promise: nil)
        default: answer(word, line.hasSuffix("=") || !line.contains(" ") ? "334 more" : "250 done", context)
        }
      }

      private func answer(_ word: String, _ text: String, _ context: ChannelHandlerContext, ends: Bool = true) {
        let text = script.answers[word] ?? text
        if text == "close" { return context.close(promise: nil) }
        let isWhole = ends || script.answers[word] != nil
        context.writeAndFlush(wrapOutboundOut(ByteBuffer(string: isWhole ? text + "\r\n" : text)), promise: nil)
      }
    }

    // For localhost, from 2020 to 2120. Nothing else trusts them.
    private static let privateKey = """
      -----BEGIN PRIVATE KEY-----
      MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQgz7qQMscr5eTwC0t7
      4sa26SNLPVSqvo80naAQTsznvWChRANCAAQt2wj1viw9faDmDRvOMzAWelMD/Z0f
      yuYvjDj1+IABeaoW4EtlwGk6c3t8S51yUgu6ejxEACryDwz0U/k2j8fQ
      -----END PRIVATE KEY-----
      """

    private static let certificate = """
      -----BEGIN CERTIFICATE-----
      MIIBZzCCAQ2gAwIBAgIBATAKBggqhkjOPQQDAjAUMRIwEAYDVQQDDAlsb2NhbGhv
      c3QwIBcNMjAwMTAxMDAwMDAwWhgPMjEyMDAxMDEwMDAwMDBaMBQxEjAQBgNVBAMM
      CWxvY2FsaG9zdDBZMBMGByqGSM49AgEGCCqGSM49AwEHA0IABC3bCPW+LD19oOYN
      G84zMBZ6UwP9nR/K5i+MOPX4gAF5qhbgS2XAaTpze3xLnXJSC7p6PEQAKvIPDPRT
      +TaPx9CjTjBMMBoGA1UdEQQTMBGCCWxvY2FsaG9zdIcEfwAAATAPBgNVHRMBAf8E
      BTADAQH/MB0GA1UdDgQWBBSkWv38b0ltJlBwqYcVFT+lz5BSqDAKBggqhkjOPQQD
      AgNIADBFAiBJ155Q63nKm16AeANqP0om/KnH8tLS9JlNLY2T6CGG3wIhAKJm+qqd
      BVvKTaZ4C+Ci78X0PCYP8PS8YAsuyA4lDpqa
      -----END CERTIFICATE-----
      """
  }
#endif
