#if Delivery
  import PackStore

  /// A URL that files are fetched from: `http` or `https`, with a host, without user name and password.
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
      // The network library traps on a port that does not fit 16 bits, or takes another one; and a port of many digits
      // is none to `URL`.
      guard url.port.map({ (1...65_535).contains($0) }) ?? !Self.namesPort(text) else {
        throw DeliveryError(
          .invalidLocation, "the URL's port is not in 1 to 65535", at: shown)
      }
      self.text = String(text.prefix { $0 != "#" })
      self.scheme = scheme
      self.host = host.lowercased()
      port = url.port
    }

    /// The host is sent in a header: what ends a line or a host there must not be in it, however it was written.
    private static func mayBeInHost(_ byte: UInt8) -> Bool {
      byte > UInt8(ascii: " ") && byte != 0x7f && !"/\\?#@<>\"^`{|}".utf8.contains(byte)
    }

    /// Whether the host is in brackets, where only an address of IPv6 may be; the network library would look up a name.
    private static func hasBracket(_ text: String) -> Bool { text.contains(/^[^:]*:\/\/[^\/?#]*\[/) }

    /// Whether a host is written as addresses of IPv6 are.
    private static func isAddress(_ host: String) -> Bool {
      host.contains(":") && host.wholeMatch(of: /\[?[0-9A-Fa-f:.]+(%[^\]]+)?\]?/) != nil
    }

    /// Whether there is anything behind the host and a colon.
    private static func namesPort(_ text: String) -> Bool {
      text.contains(/^[^:]*:\/\/(\[[^\]]*\]|[^:\/?#\[]*):[^\/?#]/)
    }

    /// Of a file below this folder; a query stays at the end.
    func file(_ path: String) -> String {
      let (folder, query) = parts
      return (folder.hasSuffix("/") ? folder : folder + "/") + path + query
    }

    /// The folder of which `path` is a file, if it is one.
    func folder(of path: String) -> SiteURL? {
      let (file, query) = parts
      guard file.hasSuffix("/" + path) else { return nil }
      return try? SiteURL(String(file.dropLast(path.count)) + query)
    }

    /// The URL without a slash at its end, with the query if there is one: where a site is, however it was typed.
    var canonical: String {
      var (folder, query) = parts
      while folder.hasSuffix("/") { folder.removeLast() }
      return folder + query
    }

    /// `host`, or `host:port`.
    package var authority: String { port.map { "\(bracketedHost):\($0)" } ?? bracketedHost }

    private var bracketedHost: String { host.contains(":") && !host.hasPrefix("[") ? "[\(host)]" : host }

    /// What comes after the host: a path, perhaps with a query.
    package var target: Substring {
      let rest = text.drop { $0 != ":" }.dropFirst(3)
      return rest[(rest.firstIndex { $0 == "/" || $0 == "?" } ?? rest.endIndex)...]
    }

    /// The host without brackets.
    var plainHost: String { host.hasPrefix("[") ? String(host.dropFirst().dropLast()) : host }

    /// `https`, or this machine: what may be fetched that is not signed.
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

    /// Where a redirection leads.
    ///
    /// - Throws: `badResponse` when it leads nowhere or to a place that is less safe.
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
