import PackStore

/// A URL of a site without the name and the password in it, which go into a header field.
struct SiteUserInfo {
  let user: String?
  let password: String?
  /// The URL without both.
  let url: String
  /// In lower case, without brackets; `nil` if the URL has none.
  let host: String?

  /// `nil` for paths and for URLs of other kinds.
  init?(_ site: String) {
    guard let scheme = site.prefixMatch(of: /[Hh][Tt][Tt][Pp][Ss]?:\/\//)?.output else { return nil }
    let rest = site[scheme.endIndex...]
    let authority = rest.prefix { $0 != "/" && $0 != "?" && $0 != "#" }
    var place = authority
    if let end = authority.lastIndex(of: "@") {
      place = authority[authority.index(after: end)...]
      let parts = authority[..<end].split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
      user = parts.first.map(percentDecoded)
      password = parts.count > 1 ? percentDecoded(parts[1]) : nil
    } else {
      user = nil
      password = nil
    }
    url = String(scheme + place + rest[authority.endIndex...])
    let match = place.prefixMatch(of: /\[(?<address>[^\]]*)\]|(?<name>[^:]+)/)
    host = (match?.address ?? match?.name).map { $0.lowercased() }
  }

  /// The name and the password in the URL; `nil` if either is missing.
  var authorization: SiteAuthorization? {
    get throws {
      guard let user, let password else { return nil }
      return try SiteAuthorization(user: user, password: password)
    }
  }
}

/// The scheme, host and port of a site's URL; `nil` for sites that are not on a web server.
package func serverOfSite(_ site: String) -> String? {
  guard let info = SiteUserInfo(site), let host = info.host else { return nil }
  let scheme = info.url.prefix { $0 != ":" }.lowercased()
  let authority = info.url.dropFirst(scheme.count + 3).prefix { !"/?#".contains($0) }
  let port = authority.firstMatch(of: /:(?<port>[0-9]+)$/).map { String($0.port) } ?? (scheme == "https" ? "443" : "80")
  return "\(scheme)://\(host.contains(":") ? "[\(host)]" : host):\(port)"
}

/// A text with the bytes that `%40` and the like mean.
func percentDecoded(_ text: Substring) -> String {
  var bytes: [UInt8] = []
  var rest = text.utf8
  while let byte = rest.popFirst() {
    let digits = rest.prefix(2)
    if byte == UInt8(ascii: "%"), digits.count == 2, let value = UInt8(String(Substring(digits)), radix: 16) {
      bytes.append(value)
      rest = rest.dropFirst(2)
    } else {
      bytes.append(byte)
    }
  }
  return String(decoding: bytes, as: UTF8.self)
}
