package import PackStore

/// What a root says of itself, as far as trust goes. Its signature was checked.
package struct RootClaims: Hashable, Sendable {
  package var site: SiteID
  /// Nil: the root is not signed.
  package var key: SitePublicKey?
  package var sequence: UInt64
  /// In nanoseconds since 1970; nil: never.
  package var expiresAt: Int64?
  /// The SHA-256 of the whole root.
  package var digest: Digest256

  package init(site: SiteID, key: SitePublicKey?, sequence: UInt64, expiresAt: Int64?, digest: Digest256) {
    self.site = site
    self.key = key
    self.sequence = sequence
    self.expiresAt = expiresAt
    self.digest = digest
  }

  package init(_ signed: SignedSiteRoot) {
    self.init(
      site: signed.root.site, key: signed.publicKey, sequence: signed.root.sequence, expiresAt: signed.root.expiresAt,
      digest: signed.digest)
  }
}

/// Which roots whoever pulls wants to trust.
package struct TrustPolicy: Hashable, Sendable {
  /// Only this key, whatever is pinned; it becomes the pinned one.
  package var key: SitePublicKey?
  /// Takes a site that is not signed, if its place in a file system was given.
  package var allowsUnsigned = false

  package init(key: SitePublicKey? = nil, allowsUnsigned: Bool = false) {
    self.key = key
    self.allowsUnsigned = allowsUnsigned
  }
}

/// The keys that a store trusts, and how new the roots were that it saw.
///
/// A key is pinned at first contact, to the site's id and to the place where it was found: neither another key for the
/// site nor another site at the place is taken afterwards, unless whoever pulls names the key.
package struct TrustBook: Hashable, Sendable {
  package struct Site: Hashable, Sendable {
    package var key: SitePublicKey
    /// The highest that was seen.
    package var sequence: UInt64
    /// Of the root with that sequence.
    package var digest: Digest256
  }

  package private(set) var sites: [SiteID: Site] = [:]
  /// Which site is at a URL or folder.
  package private(set) var places: [String: SiteID] = [:]

  package init() {}

  package enum Verdict: Hashable, Sendable {
    case known
    /// The first contact: the key is pinned now.
    case pinned
    case unsigned
  }

  /// Decides whether to take a root that was found at `place`, and remembers it.
  ///
  /// - Parameter now: in nanoseconds since 1970.
  /// - Throws: `badSignature`, `otherKey`, `expired`, `olderRoot`; the book is as it was then.
  package mutating func admit(
    _ root: RootClaims, at place: String, isLocal: Bool, _ policy: TrustPolicy, now: Int64
  ) throws(DeliveryError) -> Verdict {
    if let end = root.expiresAt, end <= now { throw DeliveryError(.expired, "the site's root has expired", at: place) }
    guard let key = root.key else {
      try admitUnsigned(at: place, isLocal: isLocal, policy)
      return .unsigned
    }
    let verdict = try admit(key, of: root.site, at: place, policy)
    // A key that was named by hand instead of the pinned one begins its own count.
    if let seen = sites[root.site], seen.key == key {
      guard root.sequence >= seen.sequence else {
        throw DeliveryError(
          .olderRoot, "the site's root has number \(root.sequence), and \(seen.sequence) was seen before", at: place)
      }
      guard root.sequence > seen.sequence || root.digest == seen.digest else {
        throw DeliveryError(
          .olderRoot, "the site's root has number \(root.sequence) like one that was seen and is another", at: place)
      }
    }
    sites[root.site] = Site(key: key, sequence: root.sequence, digest: root.digest)
    places[place] = root.site
    return verdict
  }

  private func admitUnsigned(at place: String, isLocal: Bool, _ policy: TrustPolicy) throws(DeliveryError) {
    guard policy.key == nil, places[place] == nil else {
      throw DeliveryError(.otherKey, "the site is not signed, and a key is trusted for it", at: place)
    }
    guard isLocal else {
      throw DeliveryError(.badSignature, "the site is not signed: only folders and archives may be", at: place)
    }
    guard policy.allowsUnsigned else {
      throw DeliveryError(.badSignature, "the site is not signed (--allow-unsigned takes it)", at: place)
    }
  }

  private func admit(
    _ key: SitePublicKey, of site: SiteID, at place: String, _ policy: TrustPolicy
  ) throws(DeliveryError) -> Verdict {
    if let trusted = policy.key {
      guard key == trusted else {
        throw DeliveryError(.otherKey, "the site is signed by another key than the one that was named", at: place)
      }
      return .known
    }
    if let known = places[place], known != site {
      throw DeliveryError(.otherKey, "another site is at this place than before", at: place)
    }
    guard let known = sites[site] else { return .pinned }
    guard known.key == key else {
      throw DeliveryError(.otherKey, "the site is signed by another key than before", at: place)
    }
    return .known
  }
}

// MARK: - As text

extension TrustBook {
  private static let title = "packstore trust 0"

  /// What is kept in the store: a line for each site and each place, in order.
  package var text: String {
    var sites = sites.map { "site \($0) \($1.key) \($1.sequence) \($1.digest.hex)" }
    var places = places.map { "place \($1) \(Self.escaped($0))" }
    sites.sort()
    places.sort()
    return ([Self.title] + sites + places).map { $0 + "\n" }.joined()
  }

  /// Nil: this is not what `text` writes.
  package init?(text: String) {
    // By bytes: as characters, a line feed is one with a carriage return before it, and a space with an accent behind it.
    for line in text.utf8.split(separator: UInt8(ascii: "\n")).dropFirst() {
      let fields = line.split(separator: UInt8(ascii: " "), maxSplits: 2, omittingEmptySubsequences: false)
        .map(Substring.init)
      guard fields.count == 3, let id = ID128(hex: fields[1]).map(SiteID.init) else { return nil }
      switch fields[0] {
      case "site":
        guard let site = Site(fields[2]) else { return nil }
        sites[id] = site
      case "place": places[Self.unescaped(fields[2])] = id
      default: return nil
      }
    }
    guard places.values.allSatisfy({ sites[$0] != nil }), self.text.utf8.elementsEqual(text.utf8) else { return nil }
  }

  /// A place goes to the end of its line; only a line break has to be hidden in it.
  private static func escaped(_ place: String) -> String {
    let bytes = place.utf8.flatMap { byte in
      switch byte {
      case UInt8(ascii: "%"): Array("%25".utf8)
      case UInt8(ascii: "\n"): Array("%0A".utf8)
      default: [byte]
      }
    }
    return String(decoding: bytes, as: UTF8.self)
  }

  private static func unescaped(_ text: Substring) -> String {
    // What follows a per cent sign that `escaped` wrote is one of two.
    let parts = text.utf8.split(separator: UInt8(ascii: "%"), omittingEmptySubsequences: false)
    let rest = parts.dropFirst().map { part in
      (part.starts(with: "0A".utf8) ? "\n" : "%") + String(decoding: part.dropFirst(2), as: UTF8.self)
    }
    return String(decoding: parts[0], as: UTF8.self) + rest.joined()
  }
}

extension TrustBook.Site {
  fileprivate init?(_ text: Substring) {
    let fields = text.split(separator: " ", omittingEmptySubsequences: false)
    guard fields.count == 3, let key = SitePublicKey(String(fields[0])), let sequence = UInt64(fields[1]),
      let digest = Digest256(hex: fields[2])
    else { return nil }
    self.init(key: key, sequence: sequence, digest: digest)
  }
}
