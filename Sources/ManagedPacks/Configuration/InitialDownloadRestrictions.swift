/// What an app may download before it was launched for the first time: `BAInitialDownloadRestrictions`. It is for downloads of the
/// app's own; packs know no such limits.
public struct InitialDownloadRestrictions: Hashable, Sendable {
  /// Bytes of downloads that are not essential: `BADownloadAllowance`.
  public var byteCount: Int

  /// Bytes of essential downloads and of the manifest: `BAEssentialDownloadAllowance`.
  public var essentialByteCount: Int

  /// The servers that may be asked: a host, or `*.example.com` for every host below `example.com`: `BADownloadDomainAllowList`.
  public var domains: [String]

  /// The most domains of a list.
  public static let domainLimit = 128

  public init(byteCount: Int = 0, essentialByteCount: Int = 0, domains: [String] = []) {
    self.byteCount = byteCount
    self.essentialByteCount = essentialByteCount
    self.domains = domains
  }

  /// Whether a server may be asked. Case does not matter, nor does a dot at the end.
  public func allows(host: String) -> Bool {
    let host = Self.canonical(host)
    return domains.contains { domain in
      let domain = Self.canonical(domain)
      guard domain.hasPrefix("*.") else { return host == domain }
      let suffix = domain.dropFirst()
      return host.hasSuffix(suffix) && host.utf8.count > suffix.utf8.count
    }
  }

  private static func canonical(_ name: String) -> String {
    let name = name.lowercased()
    return name.hasSuffix(".") ? String(name.dropLast()) : name
  }

  /// Whether a domain of a list can be one: labels of letters, digits and hyphens, or an address.
  static func isDomain(_ text: String) -> Bool {
    let name = text.hasPrefix("*.") ? text.dropFirst(2) : text[...]
    return (1...253).contains(name.utf8.count) && !name.hasPrefix(".")
      && name.utf8.allSatisfy { byte in
        UInt8(ascii: "a")...UInt8(ascii: "z") ~= byte | 0x20 || UInt8(ascii: "0")...UInt8(ascii: "9") ~= byte
          || "-._:".utf8.contains(byte)
      }
  }
}
