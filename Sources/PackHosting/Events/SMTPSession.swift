#if Hosting
  import NIOCore

  /// The dialogue with a mail server (RFC 5321) about one message.
  ///
  /// All lines of the server are bounded. Bytes that follow the answer to STARTTLS in plain text are refused: an attacker could have
  /// inserted them (RFC 3207, section 6).
  struct SMTPSession {
    private let server: SMTPServer
    private let outbound: NIOAsyncChannelOutboundWriter<ByteBuffer>

    /// Encrypts the connection from now on.
    private let encrypt: @Sendable () async throws -> Void
    private var iterator: NIOAsyncChannelInboundStream<ByteBuffer>.AsyncIterator
    private var received: [UInt8] = []
    private var isEncrypted: Bool

    init(
      _ server: SMTPServer, _ inbound: NIOAsyncChannelInboundStream<ByteBuffer>,
      _ outbound: NIOAsyncChannelOutboundWriter<ByteBuffer>, encrypt: @escaping @Sendable () async throws -> Void
    ) {
      (self.server, self.outbound, self.encrypt) = (server, outbound, encrypt)
      iterator = inbound.makeAsyncIterator()
      isEncrypted = server.security == .tls
    }

    /// Sends a message.
    ///
    /// - Throws: `MailFault`; errors of the connection.
    mutating func send(_ message: MailMessage) async throws {
      try await expect([220], "greeting")
      var capabilities = try await greet(message)
      if try mustEncrypt(capabilities) {
        try await write("STARTTLS")
        try await expect([220], "STARTTLS")
        guard received.isEmpty else {
          throw MailFault(
            description: "the mail server sent more than its answer to STARTTLS; the connection is not safe")
        }
        try await encrypt()
        isEncrypted = true
        // Capabilities in plain text may be forged.
        capabilities = try await greet(message)
      }
      if let credentials = server.credentials { try await authenticate(credentials, capabilities) }
      try await deliver(message)
      // The message is accepted: a lost farewell must not repeat it.
      try? await write("QUIT")
    }

    private func mustEncrypt(_ capabilities: Set<String>) throws -> Bool {
      let isOffered = capabilities.contains("STARTTLS")
      guard server.security == .startTLS, !isOffered else { return !isEncrypted && isOffered }
      throw MailFault(description: "the mail server does not offer STARTTLS; use a server with TLS")
    }

    /// - Returns: the keywords of the server's capabilities, and of each kind of authentication such as `AUTH PLAIN`.
    private mutating func greet(_ message: MailMessage) async throws -> Set<String> {
      try await write("EHLO \(message.sender.domain)")
      let lines = try await expect([250], "EHLO")
      var found: Set<String> = []
      for line in lines.dropFirst() {
        let words = line.uppercased().split(separator: " ").map(String.init)
        guard let keyword = words.first else { continue }
        found.insert(keyword)
        if keyword == "AUTH" { found.formUnion(words.dropFirst().map { "AUTH \($0)" }) }
      }
      return found
    }

    /// A password is sent over TLS only, or to a server of the same machine.
    private mutating func authenticate(_ credentials: SMTPServer.Credentials, _ capabilities: Set<String>) async throws
    {
      guard isEncrypted || server.security == .ifOffered else {
        throw MailFault(description: "the connection to the mail server is not encrypted; the password is not sent")
      }
      if capabilities.contains("AUTH PLAIN") {
        let text = [0] + Array(credentials.user.utf8) + [0] + Array(credentials.password.utf8)
        try await write("AUTH PLAIN \(Base64.encode(text))")
      } else if capabilities.contains("AUTH LOGIN") {
        try await write("AUTH LOGIN")
        try await expect([334], "AUTH")
        try await write(Base64.encode(Array(credentials.user.utf8)))
        try await expect([334], "AUTH")
        try await write(Base64.encode(Array(credentials.password.utf8)))
      } else {
        throw MailFault(description: "the mail server offers neither AUTH PLAIN nor AUTH LOGIN")
      }
      try await expect([235], "AUTH")
    }

    private mutating func deliver(_ message: MailMessage) async throws {
      try await write("MAIL FROM:<\(message.sender)>")
      try await expect([250], "MAIL FROM", isFinal: true)
      try await write("RCPT TO:<\(message.recipient)>")
      try await expect([250, 251], "RCPT TO", isFinal: true)
      try await write("DATA")
      try await expect([354], "DATA", isFinal: true)
      try await outbound.write(ByteBuffer(bytes: message.bytes + Array(".\r\n".utf8)))
      try await expect([250], "message", isFinal: true)
    }

    // MARK: - Lines

    private func write(_ line: String) async throws { try await outbound.write(ByteBuffer(string: line + "\r\n")) }

    /// Reads an answer.
    ///
    /// - Parameter isFinal: whether a refusal with 5xx is about the message, so that another attempt is useless.
    /// - Returns: its lines without codes.
    @discardableResult
    private mutating func expect(_ codes: Set<Int>, _ step: String, isFinal: Bool = false) async throws -> [String] {
      let (code, lines) = try await answer()
      guard !codes.contains(code) else { return lines }
      let reason = (lines.last ?? "").filter {
        $0.isASCII && $0.isLetter || $0.isNumber || " .,:;-_/<>@()".contains($0)
      }
      throw MailFault(
        description: "\(step): the mail server answered \(code) \(reason.prefix(200))",
        isPermanent: isFinal && (500...599).contains(code))
    }

    private static let lineByteCountLimit = 2048
    private static let lineLimit = 100

    private mutating func answer() async throws -> (code: Int, lines: [String]) {
      var lines: [String] = []
      while lines.count < Self.lineLimit {
        let line = try await line()
        guard line.count >= 3, let code = Int(String(decoding: line.prefix(3), as: UTF8.self)),
          (200...599).contains(code)
        else { throw MailFault(description: "the mail server's answer has no code; use an SMTP server") }
        lines.append(String(decoding: line.dropFirst(4), as: UTF8.self))
        guard line.count > 3, line[line.startIndex + 3] == UInt8(ascii: "-") else { return (code, lines) }
      }
      throw MailFault(description: "the mail server's answer has more than \(Self.lineLimit) lines")
    }

    /// Reads a line without its end.
    private mutating func line() async throws -> ArraySlice<UInt8> {
      while true {
        if let end = received.firstIndex(of: UInt8(ascii: "\n")) {
          let line = received[..<end]
          received = Array(received[(end + 1)...])
          return line.last == UInt8(ascii: "\r") ? line.dropLast() : line
        }
        guard received.count < Self.lineByteCountLimit else {
          throw MailFault(
            description: "the mail server's answer has a line of more than \(Self.lineByteCountLimit) bytes")
        }
        guard let piece = try await iterator.next() else {
          throw MailFault.closed
        }
        received += piece.readableBytesView
      }
    }
  }
#endif
