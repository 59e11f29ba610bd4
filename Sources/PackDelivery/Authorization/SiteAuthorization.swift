import PackStore

/// The proof of a user's access to a site's server: a token, a name and a password, or header fields of requests.
///
/// It goes to the scheme, host and port of the URL that the user gave, and to no other place that a server redirects to. It is not
/// stored, and appears in no error, event or log.
public struct SiteAuthorization: Sendable {
  struct Field: Hashable, Sendable {
    let name: String
    let value: String
  }

  /// A server refused a request with the status 401.
  public struct Challenge: Hashable, Sendable {
    /// The URL of the file, without its query.
    public let url: String
    /// The header field `WWW-Authenticate`; empty if the server sent none.
    public let challenge: String
    /// How many authorizations in a row the server has refused.
    public let refusalCount: Int
  }

  let fields: [Field]
  let provider: (@Sendable (Challenge) async throws -> SiteAuthorization?)?

  private init(_ fields: [Field], _ provider: (@Sendable (Challenge) async throws -> SiteAuthorization?)? = nil) {
    self.fields = fields
    self.provider = provider
  }

  /// A bearer token: `Authorization: Bearer TOKEN`.
  ///
  /// - Throws: `invalidLocation` for a token that is empty or has characters that no header field may have.
  public init(bearerToken token: String) throws {
    guard !token.isEmpty, token.utf8.allSatisfy({ (0x21...0x7e).contains($0) }) else {
      throw DeliveryError(.invalidLocation, "invalid token; use ASCII characters without spaces")
    }
    self.init([Field(name: "Authorization", value: "Bearer \(token)")])
  }

  /// A name and a password: `Authorization: Basic ...`.
  ///
  /// - Throws: `invalidLocation` for a name with a colon or control characters.
  public init(user: String, password: String) throws {
    guard !user.contains(":"),
      !(user + password).unicodeScalars.contains(where: { $0.value < 0x20 || $0.value == 0x7f })
    else { throw DeliveryError(.invalidLocation, "a user's name or password has a colon or a control character") }
    self.init([Field(name: "Authorization", value: "Basic " + Data("\(user):\(password)".utf8).base64EncodedString())])
  }

  /// Header fields of any kind, such as a cookie or a key.
  ///
  /// - Throws: `invalidLocation` for fields that the transport sets itself, and for names and values that are not of HTTP. The
  ///   value is not shown.
  public init(headers: [(name: String, value: String)]) throws {
    self.init(
      try headers.map { name, value in
        guard Self.isName(name) else { throw DeliveryError(.invalidLocation, "a header field has an invalid name") }
        guard !Self.reserved.contains(name.lowercased()) else {
          throw DeliveryError(.invalidLocation, "the header field '\(name)' is set by the program itself")
        }
        guard value.utf8.allSatisfy({ $0 >= 0x20 && $0 != 0x7f || $0 == 0x09 }) else {
          throw DeliveryError(.invalidLocation, "the header field '\(name)' has a control character in its value")
        }
        return Field(name: name, value: value)
      })
  }

  /// An authorization that is requested when a server refuses a request with the status 401, and again when it refuses later, such as
  /// after a token has expired: at most three times in a row.
  ///
  /// - Parameter provide: called by one task at a time; `nil` leaves the refusal as it is.
  public init(_ provide: @escaping @Sendable (Challenge) async throws -> SiteAuthorization?) { self.init([], provide) }

  private static func isName(_ name: String) -> Bool {
    !name.isEmpty && name.utf8.allSatisfy { (0x21...0x7e).contains($0) && !"\"(),/:;<=>?@[\\]{}".utf8.contains($0) }
  }

  private static let reserved: Set<String> = [
    "accept-encoding", "cache-control", "connection", "content-length", "expect", "host", "if-match",
    "if-modified-since",
    "if-none-match", "if-range", "if-unmodified-since", "keep-alive", "proxy-authorization", "proxy-connection",
    "range",
    "te", "trailer", "transfer-encoding", "upgrade",
  ]
}

/// Shows nothing of its content.
extension SiteAuthorization: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
  public var description: String { "SiteAuthorization(...)" }
  public var debugDescription: String { description }
  public var customMirror: Mirror { Mirror(self, children: []) }
}

// MARK: - Several sites

extension SiteAuthorization {
  /// The authorization for a client that reads all of some sites: a token names no host, so it is used only if the sites are on one
  /// server. A function decides by the URL that it receives.
  package func limited(toServerOf sites: [String]) -> SiteAuthorization? {
    provider != nil || Set(sites.compactMap(serverOfSite)).count <= 1 ? self : nil
  }
}

// MARK: - Files

extension SiteAuthorization {
  /// Reads header fields from a text: `Name: value` in each line. Empty lines, and lines that begin with `#`, are skipped.
  ///
  /// - Throws: `invalidLocation`.
  public init(headerLines text: String) throws {
    let lines = text.split(whereSeparator: \.isNewline).map { $0.trimming(" \t") }.filter {
      !$0.isEmpty && !$0.hasPrefix("#")
    }
    try self.init(
      headers: lines.map { line in
        guard let colon = line.firstIndex(of: ":") else {
          throw DeliveryError(.invalidLocation, "a header field lacks its colon; write 'Name: value'")
        }
        return (String(line[..<colon]), String(line[line.index(after: colon)...].trimming(" \t")))
      })
  }

  /// The name and password for a site's host in a file `.netrc`.
  ///
  /// - Parameters:
  ///   - site: the URL of the site. If it has a user's name, only entries of that name fit.
  ///   - netrc: the file's text.
  ///   - file: the file's name in errors.
  /// - Returns: `nil` if no entry fits, or the site is not on a server.
  /// - Throws: `invalidLocation` for a file in another form, and for a name that no request can carry.
  public init?(for site: String, inNetrc netrc: String, file: String = ".netrc") throws {
    guard let parts = SiteUserInfo(site), let host = parts.host else { return nil }
    guard let found = try Netrc(netrc, file: file).credential(for: host, user: parts.user) else { return nil }
    try self.init(user: found.user, password: found.password)
  }
}

extension Substring {
  fileprivate func trimming(_ characters: String) -> Substring {
    var text = self
    while let first = text.first, characters.contains(first) { text.removeFirst() }
    while let last = text.last, characters.contains(last) { text.removeLast() }
    return text
  }
}
