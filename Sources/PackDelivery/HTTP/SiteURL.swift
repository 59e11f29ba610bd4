#if Delivery
  import PackStore

  /// A URL for fetching files: `http` or `https`, with a host, without user name and password.
  package struct SiteURL: Hashable, Sendable {
    package let text: String
    package let scheme: String
    let host: String
    let port: Int?

    /// - Throws: `invalidLocation`.
    package init(_ text: String) throws {
      let shown = withoutSecrets(text)
      guard let url = URL(string: text), let scheme = url.scheme?.lowercased() else {
        throw DeliveryError(.invalidLocation, "not a URL", at: shown)
      }
      guard scheme == "http" || scheme == "https" else {
        throw DeliveryError(.invalidLocation, "not an http or https URL", at: shown)
      }
      guard url.user == nil, url.password == nil else {
        throw DeliveryError(
          .invalidLocation, "the URL contains a user's name or password",
          at: shown)
      }
      guard let host = url.host, !host.isEmpty else {
        throw DeliveryError(.invalidLocation, "the URL lacks a host", at: shown)
      }
      guard host.utf8.allSatisfy(Self.mayBeInHost), Self.isAddress(host) || !Self.hasBracket(text) else {
        throw DeliveryError(
          .invalidLocation, "the URL's host contains invalid characters", at: shown)
      }
      // The network library traps on a port that does not fit 16 bits, or uses another one; `URL` ignores a port of many digits.
      guard url.port.map({ (1...65_535).contains($0) }) ?? !Self.namesPort(text) else {
        throw DeliveryError(
          .invalidLocation, "the URL's port is not in 1 to 65535", at: shown)
      }
      self.text = String(text.prefix { $0 != "#" })
      self.scheme = scheme
      self.host = host.lowercased()
      port = url.port
    }

    /// The host is sent in a header, so it must not contain characters that end a line or a host, in any encoding.
    private static func mayBeInHost(_ byte: UInt8) -> Bool {
      byte > UInt8(ascii: " ") && byte != 0x7f && !"/\\?#@<>\"^`{|}".utf8.contains(byte)
    }

    /// Whether the host is in brackets, which only an IPv6 address may be; the network library would look up a name.
    private static func hasBracket(_ text: String) -> Bool { text.contains(/^[^:]*:\/\/[^\/?#]*\[/) }

    /// Whether a host has the form of an IPv6 address.
    private static func isAddress(_ host: String) -> Bool {
      host.contains(":") && host.wholeMatch(of: /\[?[0-9A-Fa-f:.]+(%[^\]]+)?\]?/) != nil
    }

    /// Whether text follows the host and a colon.
    private static func namesPort(_ text: String) -> Bool {
      text.contains(/^[^:]*:\/\/(\[[^\]]*\]|[^:\/?#\[]*):[^\/?#]/)
    }

    /// Returns the URL of a file below this folder; a query stays at the end.
    func file(_ path: String) -> String {
      let (folder, query) = parts
      return (folder.hasSuffix("/") ? folder : folder + "/") + path + query
    }

    /// The folder whose file `path` this URL is; `nil` if it is not.
    func folder(of path: String) -> SiteURL? {
      let (file, query) = parts
      guard file.hasSuffix("/" + path) else { return nil }
      return try? SiteURL(String(file.dropLast(path.count)) + query)
    }

    /// The URL without a trailing slash, with its query: the place of a site, regardless of how it was typed.
    var canonical: String {
      var (folder, query) = parts
      while folder.hasSuffix("/") { folder.removeLast() }
      return folder + query
    }

    /// `host`, or `host:port`.
    package var authority: String { port.map { "\(bracketedHost):\($0)" } ?? bracketedHost }

    private var bracketedHost: String { host.contains(":") && !host.hasPrefix("[") ? "[\(host)]" : host }

    /// The part after the host: the path, and the query if any.
    package var target: Substring {
      let rest = text.drop { $0 != ":" }.dropFirst(3)
      return rest[(rest.firstIndex { $0 == "/" || $0 == "?" } ?? rest.endIndex)...]
    }

    /// The host without brackets.
    var plainHost: String { host.hasPrefix("[") ? String(host.dropFirst().dropLast()) : host }

    /// Whether unsigned data may be fetched: `https`, or this machine.
    var isSafe: Bool { scheme == "https" || isLoopback }

    private var isLoopback: Bool {
      plainHost == "localhost" || plainHost == "::1"
        || plainHost.wholeMatch(of: /127\.[0-9]{1,3}\.[0-9]{1,3}\.[0-9]{1,3}/) != nil
    }

    /// Whether two URLs have the same scheme, host and port.
    func hasSameOrigin(as other: SiteURL) -> Bool {
      scheme == other.scheme && host == other.host && effectivePort == other.effectivePort
    }

    /// The port, or the default port of the scheme.
    var effectivePort: Int { port ?? (scheme == "https" ? 443 : 80) }

    /// The query with its question mark; empty if the URL has none.
    var query: String { parts.query }

    private var parts: (path: String, query: String) {
      guard let mark = text.firstIndex(of: "?") else { return (text, "") }
      return (String(text[..<mark]), String(text[mark...]))
    }

    /// Returns the target of a redirect.
    ///
    /// - Throws: `badResponse` for an invalid target, or a less secure one.
    func redirected(to location: String) throws -> SiteURL {
      guard let base = URL(string: text), let target = URL(string: location, relativeTo: base)?.absoluteURL else {
        throw DeliveryError(.badResponse, "the server redirects to an invalid URL", at: text)
      }
      let url: SiteURL
      do {
        url = try SiteURL(target.absoluteString)
      } catch let error as DeliveryError {
        throw DeliveryError(.badResponse, "the server redirects to a URL that is refused (\(error.finding))", at: text)
      }
      guard scheme != "https" || url.scheme == "https" else {
        throw DeliveryError(.badResponse, "the server redirects from https to http, which is refused", at: text)
      }
      return url
    }
  }
#endif
