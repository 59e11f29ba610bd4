#if Delivery
  /// A proxy.
  struct ProxyServer: Hashable, Sendable {
    enum Kind: Hashable, Sendable { case http, socks }
    var kind: Kind
    var host: String
    var port: Int
    var user: String?
    var password = ""
    /// The environment variable that specifies it.
    var variable = ""

    /// `host:port`, without name and password.
    var authority: String { "\(host.contains(":") ? "[\(host)]" : host):\(port)" }
  }

  /// The proxies in the environment: `http_proxy`, `https_proxy`, `all_proxy` and `no_proxy`; the last three also in upper case.
  /// (`HTTP_PROXY` is ignored: web servers set it from a request's header for the programs they start.)
  struct ProxySettings: Sendable {
    private let environment: [String: String]

    init(environment: [String: String]) { self.environment = environment }

    /// - Throws: `invalidLocation` for an invalid proxy.
    func proxy(for url: SiteURL) throws -> ProxyServer? {
      guard let (variable, text) = setting(for: url.scheme), !isExcepted(url) else { return nil }
      var server = try Self.parse(text)
      server.variable = variable
      return server
    }

    private func setting(for scheme: String) -> (variable: String, value: String)? {
      let names = scheme == "http" ? ["http_proxy"] : ["https_proxy", "HTTPS_PROXY"]
      return setting(of: names + ["all_proxy", "ALL_PROXY"])
    }

    private func setting(of names: [String]) -> (variable: String, value: String)? {
      names.lazy.compactMap { name in environment[name].map { (name, $0) } }.first { !$0.1.isEmpty }
    }

    /// `no_proxy` is a list of hosts and domains, with optional ports, or `*`.
    private func isExcepted(_ url: SiteURL) -> Bool {
      let port = url.port ?? (url.scheme == "https" ? 443 : 80)
      return (setting(of: ["no_proxy", "NO_PROXY"])?.value ?? "").split { $0 == "," || $0 == " " }.contains { entry in
        if entry == "*" { return true }
        var name = entry.lowercased()
        if let match = name.wholeMatch(of: /(?<name>[^:]+|\[.*\]):(?<port>[0-9]+)/) {
          guard Int(match.port) == port else { return false }
          name = String(match.name)
        }
        if name.hasPrefix(".") { name.removeFirst() }
        return url.host == name || url.host.hasSuffix("." + name)
      }
    }

    /// `http://user:password@host:port`, `socks5://host:port`, or `host:port`.
    private static func parse(_ text: String) throws -> ProxyServer {
      let pattern =
        /(?:(?<scheme>[a-zA-Z0-9]+):\/\/)?(?:(?<user>[^@]*)@)?(?<host>\[[0-9a-fA-F:.]+\]|[^:\/@\[\]]+)(?::(?<port>[0-9]+))?\/?/
      guard let match = text.wholeMatch(of: pattern) else { throw refusal("is not a URL") }
      let host = String(match.host).trimmingBrackets
      let port = match.port.map { Int($0) ?? 0 }
      if let port, !(1...65_535).contains(port) { throw refusal("has an invalid port") }
      switch match.scheme?.lowercased() ?? "http" {
      case "http":
        let parts = match.user?.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false) ?? []
        return ProxyServer(
          kind: .http, host: host, port: port ?? 80, user: parts.first.map(percentDecoded),
          password: parts.count > 1 ? percentDecoded(parts[1]) : "")
      case "socks5", "socks5h": return ProxyServer(kind: .socks, host: host, port: port ?? 1080)
      default: throw refusal("has an unknown scheme")
      }
    }

    private static func refusal(_ why: String) -> DeliveryError {
      DeliveryError(.invalidLocation, "the proxy in the environment \(why)")
    }
  }

  extension String {
    fileprivate var trimmingBrackets: String {
      hasPrefix("[") && hasSuffix("]") ? String(dropFirst().dropLast()) : self
    }
  }
#endif
