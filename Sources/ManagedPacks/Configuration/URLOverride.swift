/// Another base for the apps of one group, for a limited time: a developer sets it so that an app uses packs from a local server.
/// It has no effect outside the group, nor after its end.
///
/// Its data is stored in a separate folder below the group's: store, cache, views and journal. So the group's real store keeps its
/// packs, keys and version floors, and the apps use it again when the override ends.
package struct URLOverride: Hashable, Sendable {
  /// The site that replaces all sites of the apps' property lists.
  package var url: String

  /// The channel to follow there; `nil` for `live`.
  package var channel: SiteChannel?

  /// A certificate authority in PEM that must have issued the server's certificate, in place of the system's authorities; `nil` for
  /// those.
  package var authority: String?

  /// The key that must have signed the site; if `nil`, the first contact pins the site's key, in the override's store only.
  package var key: SitePublicKey?

  /// Whether unsigned packs of the site are accepted, as `PackStoreAllowsUnsigned` does for the site of a property list. Has no
  /// effect with a ``key``.
  package var allowsUnsigned = false

  /// The times of its beginning and end, in seconds since 1970. A clock that shows an earlier time than the beginning ends it, too.
  package var begin: Int
  package var end: Int

  package static let format = 1
  package static let byteCountLimit = 128 << 10
  package static let urlByteCountLimit = 2048
  package static let authorityByteCountLimit = 64 << 10
  /// The longest duration, in seconds: one year. A permanent site belongs in the property list.
  package static let longestTime = 366 * 86_400
  /// The time in seconds by which a clock may be set back without ending the override.
  package static let clockSlack = 300

  package init(
    url: String, channel: SiteChannel? = nil, authority: String? = nil, key: SitePublicKey? = nil,
    allowsUnsigned: Bool = false, begin: Int, end: Int
  ) {
    self.url = url
    self.channel = channel
    self.authority = authority
    self.key = key
    self.allowsUnsigned = allowsUnsigned
    self.begin = begin
    self.end = end
  }

  /// - Parameter now: seconds since 1970.
  package func isActive(at now: Double) -> Bool {
    now >= Double(begin) - Double(Self.clockSlack) && now < Double(end)
  }

  /// The name of the override's folder. An override of the same server has the same folder, so that setting it again continues with
  /// the existing data.
  package var folderName: String {
    var parts = [url, channel?.name ?? "", key.map { "\($0)" } ?? "", authority ?? ""]
    // Packs that were accepted without a signature do not stay when signatures are required.
    if allowsUnsigned { parts.append("unsigned") }
    return String(Digest256(hashing: Array(parts.joined(separator: "\0").utf8)).hex.prefix(32))
  }

  var site: ManagedConfiguration.Site {
    ManagedConfiguration.Site(url, channel: channel, trustedKey: key, allowsUnsigned: allowsUnsigned)
  }

  /// For example `https://localhost:8443/site until 2026-01-31T12:00:00Z`.
  package var summary: String { "\(withoutSecrets(url)) until \(endText)" }

  package var endText: String { Date(timeIntervalSince1970: Double(end)).formatted(.iso8601) }
}

extension ManagedConfiguration {
  /// Returns the configuration with the site of an override, if one is given.
  func overridden(by override: URLOverride?) -> Self {
    guard let override else { return self }
    var configuration = self
    configuration.sites = [override.site]
    return configuration
  }
}

// MARK: - Encoding

extension URLOverride {
  package func encode() -> [UInt8] {
    var members: [(String, [UInt8])] = [
      ("begin", Array("\(begin)".utf8)), ("end", Array("\(end)".utf8)), ("format", Array("\(Self.format)".utf8)),
      ("url", canonicalJSON(url)),
    ]
    if let channel { members.append(("channel", canonicalJSON(channel.name))) }
    if let authority { members.append(("authority", canonicalJSON(authority))) }
    if let key { members.append(("key", canonicalJSON("\(key)"))) }
    if allowsUnsigned { members.append(("allows_unsigned", Array("true".utf8))) }
    return canonicalJSONObject(members)
  }

  /// - Throws: ``Fault``.
  package init(decoding bytes: [UInt8]) throws {
    guard bytes.count <= Self.byteCountLimit else { throw Fault.malformed }
    let document = JSONReader.read(bytes)
    guard document.faults.isEmpty, let members = document.root?.object else { throw Fault.malformed }
    func value(_ name: String) -> JSONValue? { members.first { $0.name == name }?.value }
    func text(_ name: String, limit: Int) throws -> String? {
      guard let value = value(name) else { return nil }
      guard let text = value.string, !text.isEmpty, text.utf8.count <= limit else { throw Fault.malformed }
      return text
    }
    guard let format = value("format")?.integer(Int.self), format >= 1 else { throw Fault.malformed }
    guard format <= Self.format else { throw Fault.newer }
    guard let url = try text("url", limit: Self.urlByteCountLimit), let begin = value("begin")?.integer(Int.self),
      let end = value("end")?.integer(Int.self), begin >= 0, end >= begin, end - begin <= Self.longestTime
    else { throw Fault.malformed }
    var allowsUnsigned = false
    if let permission = value("allows_unsigned") {
      guard case .boolean(let isTrue) = permission.content else { throw Fault.malformed }
      allowsUnsigned = isTrue
    }
    func converted<Value>(_ name: String, _ convert: (String) -> Value?) throws -> Value? {
      guard let text = try text(name, limit: 256) else { return nil }
      guard let value = convert(text) else { throw Fault.malformed }
      return value
    }
    self.init(
      url: url, channel: try converted("channel") { try? SiteChannel($0) },
      authority: try text("authority", limit: Self.authorityByteCountLimit),
      key: try converted("key") { SitePublicKey($0) }, allowsUnsigned: allowsUnsigned, begin: begin, end: end)
  }

  package enum Fault: Error, Hashable, Sendable {
    case malformed
    /// Written by a later version.
    case newer
  }
}
