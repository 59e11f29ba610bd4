#if Serving || Hosting
  import NIOCore
  import PackStore

  /// The host names that this server accepts. Another site's page can make its own name resolve to this machine (DNS rebinding), so
  /// that its visitor's browser sends requests here under that name. Such requests are refused.
  ///
  /// Addresses are always accepted, because an address cannot be rebound. Ports are ignored, because they may be forwarded.
  package struct HostNames: Sendable {
    private let names: Set<String>

    package init(_ names: some Sequence<String>) { self.names = Set(names.map { $0.lowercased() }) }

    package enum Verdict: Equatable { case ours, missing, malformed, another }

    package func judge(_ authority: String?) -> Verdict {
      guard let authority, !authority.isEmpty else { return .missing }
      guard let host = Self.host(of: authority) else { return .malformed }
      if names.contains(host) || Self.isAddress(host) { return .ours }
      return .another
    }

    /// Returns the host of `host`, `host:port`, `[address]` and `[address]:port`, in lower case and without a trailing dot; `nil`
    /// for other text.
    package static func host(of authority: String) -> String? {
      guard authority.utf8.count <= 300 else { return nil }
      let host: Substring, rest: Substring
      if authority.hasPrefix("[") {
        guard let end = authority.firstIndex(of: "]") else { return nil }
        host = authority[authority.index(after: authority.startIndex)..<end]
        rest = authority[authority.index(after: end)...]
        guard isAddress(String(host)), host.contains(":") else { return nil }
      } else {
        let cut = authority.firstIndex(of: ":") ?? authority.endIndex
        host = authority[..<cut]
        rest = authority[cut...]
      }
      guard !host.isEmpty, rest.isEmpty || isPort(rest.dropFirst()) else { return nil }
      let isPlain = host.utf8.allSatisfy { byte in
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
          UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "_"),
          UInt8(ascii: ":"):
          true
        default: false
        }
      }
      guard isPlain, rest.isEmpty || rest.hasPrefix(":") else { return nil }
      let name = host.lowercased()
      return name.hasSuffix(".") && name.count > 1 ? String(name.dropLast()) : name
    }

    private static func isPort(_ digits: Substring) -> Bool {
      digits.utf8.count <= 5 && digits.utf8.allSatisfy { (0x30...0x39).contains($0) }
    }

    package static func isAddress(_ host: String) -> Bool { (try? SocketAddress(ipAddress: host, port: 0)) != nil }
  }
#endif
