#if Hosting
  import HTTPTypes
  import PackServer

  /// The facts of a request's head that every handler needs.
  struct RequestHead: Sendable {
    /// A HEAD is handled as a GET whose body is not sent (RFC 9110, section 9.3.2).
    let method: String

    /// Path and query as sent. The codec removes scheme and host of a whole URL (RFC 9112, section 3.2.2).
    let target: String
    let path: Substring
    let query: Substring

    /// Scheme and host of links, without a final slash.
    let base: String

    /// Bytes of the body; `nil` for a chunked one.
    let contentLength: Int64?
    let hasBody: Bool
    let fields: HTTPFields

    /// - Throws: `APIError` 400 or 421 for a wrong host, 414 for a long target, 400 for a malformed length.
    init(_ head: HTTPRequest, _ options: ServerOptions, _ hosts: HostNames) throws {
      method = head.method == .head ? HTTPRequest.Method.get.rawValue : head.method.rawValue
      fields = head.headerFields
      let target = head.path ?? ""
      self.target = target
      guard target.utf8.count <= Self.targetLimit else {
        throw APIError.malformed(414, "target: longer than \(Self.targetLimit) bytes; send fewer parameters")
      }
      let cut = target.firstIndex(of: "?")
      path = cut.map { target[..<$0] } ?? target[...]
      query = cut.map { target[target.index(after: $0)...] } ?? ""
      try Self.check(head, hosts)
      base = Self.base(head, options)
      hasBody = Self.hasBody(head)
      contentLength = try Self.contentLength(head)
    }

    static let targetLimit = 8 << 10

    /// Whether a head announces a body.
    static func hasBody(_ head: HTTPRequest) -> Bool {
      if head.headerFields[.transferEncoding] != nil { return true }
      return head.headerFields[.contentLength].map { $0 != "0" } ?? false
    }

    private static func contentLength(_ head: HTTPRequest) throws -> Int64? {
      guard head.headerFields[.transferEncoding] == nil else { return nil }
      guard let text = head.headerFields[.contentLength] else { return 0 }
      guard let length = Int64(text), length >= 0 else {
        throw APIError.malformed(400, "Content-Length: not a number; send the body's length")
      }
      return length
    }

    private static func check(_ head: HTTPRequest, _ hosts: HostNames) throws {
      // The codec takes the first `Host` as authority and leaves further ones in the fields.
      guard head.headerFields[values: .host].isEmpty else {
        throw APIError.malformed(400, "Host: appears more than once; name one server")
      }
      switch hosts.judge(head.authority) {
      case .ours: return
      case .missing: throw APIError.malformed(400, "Host: missing; name the server")
      case .malformed: throw APIError.malformed(400, "Host: not a host name; name the server")
      case .another:
        throw APIError.malformed(
          Assumptions.foreignHostStatus, "Host: not a name of this server; configure it with '--name' or use another")
      }
    }

    /// Links have the configured base, or the host of the request: a client's URL may have been changed by name resolution alone.
    private static func base(_ head: HTTPRequest, _ options: ServerOptions) -> String {
      if let url = options.publicURL { return url }
      let forwarded = options.isBehindProxy ? head.headerFields[.forwardedProtocol] : nil
      return "\(forwarded == "https" ? "https" : "http")://\(head.authority ?? "localhost")"
    }

    /// Fails for a compressed body: its length, its checksums and the range of a part count the bytes as sent.
    ///
    /// - Throws: `APIError` 415.
    func requireUncompressed() throws {
      let codings = fields[values: .contentEncoding].flatMap { $0.split(separator: ",") }
        .map { $0.filter { $0 != " " && $0 != "\t" }.lowercased() }
      guard let coding = codings.first(where: { !$0.isEmpty && $0 != "identity" }) else { return }
      throw APIError(
        415, "UNSUPPORTED_MEDIA_TYPE", "The content coding is not supported",
        "Content-Encoding: '\(coding.prefix(40))' is not supported; send the body uncompressed")
    }

    /// Whether the client waits for permission to send the body.
    var expectsContinue: Bool { fields[.expect]?.lowercased() == "100-continue" }

    /// Whether the client closes the connection after the answer.
    var asksToClose: Bool {
      fields[values: .connection].flatMap { $0.split(separator: ",") }
        .contains { $0.filter { $0 != " " && $0 != "\t" }.lowercased() == "close" }
    }
  }

  extension HTTPField.Name {
    static var forwardedProtocol: Self { make("X-Forwarded-Proto") }
    static var host: Self { make("Host") }
    static var rateLimit: Self { make("X-Rate-Limit") }

    /// The name is a constant token, so it is always valid.
    private static func make(_ name: String) -> Self { Self(name) ?? .server }
  }

  extension APIError {
    /// A request that cannot be read.
    static func malformed(_ status: Int, _ detail: String) -> APIError {
      APIError(status, "REQUEST_INVALID", "The request is not valid", detail)
    }
  }
#endif
