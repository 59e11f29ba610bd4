#if Hosting
  import Foundation
  import NIOCore
  import Testing

  @testable import PackHosting

  /// The client of mail servers, with a server on loopback.
  @Suite struct SMTPTests {
    private func message() throws -> MailMessage {
      MailMessage(
        sender: try #require(MailAddress(rawValue: "packs@example.com")),
        recipient: try #require(MailAddress(rawValue: "ada@example.com")), subject: "subject", text: "text\n.\n",
        date: Timestamp(rawValue: 0), id: "id")
    }

    private let credentials = SMTPServer.Credentials(user: "user", password: "päss")

    /// - Returns: the fault of a delivery; `nil` if it succeeds.
    private func fault(
      _ script: TestMailServer.Script, _ change: (inout SMTPServer) -> Void = { _ in }
    ) async throws -> MailFault? {
      var found: MailFault?
      try await TestMailServer.run(script) { test async throws in
        var server = test.server
        change(&server)
        do { try await SMTPTransport(server: server).send(try message()) } catch let fault as MailFault {
          found = fault
        }
        #expect(found == nil || test.messages.isEmpty)
      }
      return found
    }

    @Test(arguments: [SMTPServer.Security.startTLS, .tls]) func mailIsEncrypted(_ security: SMTPServer.Security)
      async throws
    {
      var script = TestMailServer.Script()
      script.security = security
      try await TestMailServer.run(script) { test async throws in
        var server = test.server
        server.credentials = credentials
        let message = try message()
        try await SMTPTransport(server: server).send(message)
        #expect(test.messages == [String(decoding: message.bytes, as: UTF8.self)])
        let commands = test.commands
        let begin = security == .startTLS ? ["EHLO example.com", "STARTTLS"] : []
        #expect(
          Array(commands.map(\.text).prefix(begin.count + 5)) == begin + [
            "EHLO example.com", "AUTH PLAIN \(Data("\0user\0päss".utf8).base64EncodedString())",
            "MAIL FROM:<packs@example.com>",
            "RCPT TO:<ada@example.com>", "DATA",
          ])
        #expect(commands.dropFirst(begin.count).allSatisfy { $0.isEncrypted })
      }
    }

    @Test func loginIsAnAlternative() async throws {
      var script = TestMailServer.Script()
      script.capabilities = ["AUTH LOGIN"]
      script.answers[Data("päss".utf8).base64EncodedString()] = "235 yes"
      #expect(try await fault(script) { $0.credentials = credentials } == nil)
      script.capabilities = ["AUTH XOAUTH2"]
      #expect(
        try await fault(script) { $0.credentials = credentials }?.description.contains("neither AUTH PLAIN") == true)
    }

    /// A server of the same machine may lack TLS.
    @Test func plainServerOfTheMachineIsUsed() async throws {
      var script = TestMailServer.Script()
      script.security = .ifOffered
      #expect(try await fault(script) { $0.credentials = credentials } == nil)
    }

    /// An attacker removes STARTTLS from the capabilities.
    @Test func missingTLSIsRefused() async throws {
      var script = TestMailServer.Script()
      script.security = .ifOffered
      let fault = try await fault(script) {
        $0.security = .startTLS
        $0.credentials = credentials
      }
      #expect(fault?.description.contains("STARTTLS") == true && fault?.isPermanent == false)
    }

    /// An attacker adds an answer in plain text, which would count as one of the encrypted session.
    @Test func insertedPlainTextIsRefused() async throws {
      var script = TestMailServer.Script()
      script.inserted = "250 forged\r\n"
      #expect(try await fault(script)?.description.contains("not safe") == true)
    }

    @Test func unknownCertificatesAreRefused() async throws {
      for security in [SMTPServer.Security.startTLS, .tls] {
        var script = TestMailServer.Script()
        script.security = security
        try await TestMailServer.run(script) { test async throws in
          var server = test.server
          server.trustedCertificates = []
          await #expect(throws: (any Error).self) { try await SMTPTransport(server: server).send(try message()) }
          #expect(test.messages.isEmpty && !test.commands.contains { $0.text.hasPrefix("MAIL") })
        }
      }
    }

    @Test(
      arguments: [
        ("RCPT", "550 no such user", true), ("MAIL", "553 sender refused", true), (".", "554 looks like spam", true),
        ("DATA", "503 no", true), ("RCPT", "451 try again", false), (".", "452 no space", false),
        ("AUTH", "535 wrong password", false),
        ("EHLO", "502 unknown", false), ("", "554 closed", false), ("STARTTLS", "454 not now", false),
        ("RCPT", "close", false),
        ("", "close", false), ("EHLO", "nonsense", false), ("EHLO", "99 x", false), ("MAIL", "250", true),
      ] as [(String, String, Bool)]) func refusalsAreTransientOrPermanent(
        _ word: String, _ answer: String, _ isPermanent: Bool
      ) async throws
    {
      var script = TestMailServer.Script()
      script.answers[word] = answer
      let fault = try await fault(script) { $0.credentials = credentials }
      // A code needs no text.
      #expect(fault?.isPermanent == (answer == "250" ? nil : isPermanent), "\(fault?.description ?? "none")")
    }

    /// The lines of a server have bounds.
    @Test func endlessAnswersAreRefused() async throws {
      var script = TestMailServer.Script()
      script.answers[""] = String(repeating: "x", count: 100_000)
      #expect(try await fault(script)?.description.contains("bytes") == true)
      script.answers[""] = String(repeating: "220-x\r\n", count: 1000) + "220 x"
      #expect(try await fault(script)?.description.contains("lines") == true)
    }

    /// A server that never answers does not keep the connection.
    @Test func silentServerMissesTheDeadline() async throws {
      var script = TestMailServer.Script()
      script.answers["MAIL"] = "250-never"
      try await TestMailServer.run(script) { test async throws in
        var transport = SMTPTransport(server: test.server)
        transport.deadline = .milliseconds(300)
        await #expect(throws: MailFault.self) { try await transport.send(try message()) }
      }
    }

    @Test func addressesOfServers() {
      #expect(
        SMTPServer(url: "smtps://mail.example.com") == SMTPServer(host: "mail.example.com", port: 465, security: .tls))
      #expect(
        SMTPServer(url: "smtp://mail.example.com/")
          == SMTPServer(host: "mail.example.com", port: 587, security: .startTLS))
      #expect(
        SMTPServer(url: "smtp://mail.example.com:2525")
          == SMTPServer(host: "mail.example.com", port: 2525, security: .startTLS))
      #expect(SMTPServer(url: "smtp://localhost") == SMTPServer(host: "localhost", port: 25, security: .ifOffered))
      #expect(SMTPServer(url: "smtp://[::1]:26") == SMTPServer(host: "::1", port: 26, security: .ifOffered))
      for text in [
        "", "mail.example.com", "http://mail.example.com", "smtp://", "smtp://user:password@mail.example.com",
        "smtps://x/y", "smtps://x?y",
        "smtps://x:0", "smtps://x:99999", "smtps://x#y",
      ] { #expect(SMTPServer(url: text) == nil, "\(text)") }
    }

    @Test func credentialsAreTwoLines() {
      #expect(SMTPServer.Credentials(text: "user\npäss word\n") == .init(user: "user", password: "päss word"))
      #expect(SMTPServer.Credentials(text: "user\r\npass\r\n") == .init(user: "user", password: "pass"))
      for text in ["", "user", "user\n", "\npass", "a\nb\nc", "a\0\nb", String(repeating: "a", count: 256) + "\nb"] {
        #expect(SMTPServer.Credentials(text: text) == nil)
      }
    }
  }
#endif
