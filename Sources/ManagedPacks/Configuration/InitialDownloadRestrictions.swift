/// The limits for an app's downloads before its first launch: `BAInitialDownloadRestrictions`. For the app's own downloads, a missing
/// number is 0 and a missing list is empty. For asset packs, a missing key means no limit.
public struct InitialDownloadRestrictions: Hashable, Sendable {
  /// The limit for downloads that are not essential, in bytes: `BADownloadAllowance`.
  public var byteCount: Int

  /// The limit for essential downloads and the manifest, in bytes: `BAEssentialDownloadAllowance`.
  public var essentialByteCount: Int

  /// The permitted servers: a host, or `*.example.com` for every host below `example.com`: `BADownloadDomainAllowList`.
  public var domains: [String]

  /// Whether all servers are permitted.
  public var allowsAnyDomain = false

  /// The largest number of domains in a list.
  public static let domainLimit = 128

  public init(byteCount: Int = 0, essentialByteCount: Int = 0, domains: [String] = []) {
    self.byteCount = byteCount
    self.essentialByteCount = essentialByteCount
    self.domains = domains
  }

  /// Returns whether downloads from a server are permitted. Ignores case and a trailing dot.
  public func allows(host: String) -> Bool {
    guard !allowsAnyDomain else { return true }
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

  /// Returns whether a text is a valid domain of a list: labels of letters, digits and hyphens, or an address.
  static func isDomain(_ text: String) -> Bool {
    let name = text.hasPrefix("*.") ? text.dropFirst(2) : text[...]
    return (1...253).contains(name.utf8.count) && !name.hasPrefix(".")
      && name.utf8.allSatisfy { byte in
        UInt8(ascii: "a")...UInt8(ascii: "z") ~= byte | 0x20 || UInt8(ascii: "0")...UInt8(ascii: "9") ~= byte
          || "-._:".utf8.contains(byte)
      }
  }
}
