#if Hosting
  import Foundation

  /// The mail server of the host, as its operator configures it.
  struct SMTPServer: Hashable, Sendable {
    enum Security: Hashable, Sendable {
      /// TLS from the first byte.
      case tls
      /// TLS after STARTTLS. A server that does not offer it gets no mail.
      case startTLS
      /// TLS if the server offers it: for servers of the same machine only.
      case ifOffered
    }

    struct Credentials: Hashable, Sendable {
      let user: String
      let password: String
    }

    var host: String
    var port: Int
    var security: Security
    var credentials: Credentials?

    /// Certificates to trust in PEM, in addition to the certificates of the system.
    var trustedCertificates: [String] = []

    init(host: String, port: Int, security: Security, credentials: Credentials? = nil) {
      (self.host, self.port, self.security, self.credentials) = (host, port, security, credentials)
    }

    /// Parses `smtps://HOST[:PORT]` or `smtp://HOST[:PORT]`; `nil` for other text. User and password are not part of it, because
    /// other users of the machine can see a program's arguments.
    init?(url: String) {
      guard let parts = URLComponents(string: url), let name = parts.host, !name.isEmpty, parts.user == nil,
        parts.password == nil, parts.query == nil, parts.fragment == nil, parts.path.isEmpty || parts.path == "/",
        (1...65_535).contains(parts.port ?? 25), name.utf8.allSatisfy({ (0x21...0x7E).contains($0) })
      else { return nil }
      let host = name.hasPrefix("[") && name.hasSuffix("]") ? String(name.dropFirst().dropLast()) : name
      switch parts.scheme {
      case "smtps": self.init(host: host, port: parts.port ?? 465, security: .tls)
      case "smtp":
        let isLocal = ["localhost", "127.0.0.1", "::1"].contains(host)
        self.init(host: host, port: parts.port ?? (isLocal ? 25 : 587), security: isLocal ? .ifOffered : .startTLS)
      default: return nil
      }
    }
  }

  extension SMTPServer.Credentials {
    /// Parses the text of a file: the user on the first line, the password on the second; `nil` for other text.
    init?(text: String) {
      let lines = text.replacing("\r\n", with: "\n").split(separator: "\n", omittingEmptySubsequences: false).map(
        String.init)
      guard lines.count == 2 || (lines.count == 3 && lines[2].isEmpty) else { return nil }
      let isValid = lines[..<2].allSatisfy { (1...255).contains($0.utf8.count) && !$0.utf8.contains { $0 < 0x20 } }
      guard isValid else { return nil }
      (user, password) = (lines[0], lines[1])
    }
  }
#endif
