/// What a root says of itself, as far as trust goes. Its signature was checked.
package struct RootClaims: Hashable, Sendable {
  /// 32 hexadecimal digits.
  package var site: String
  /// 32 bytes; nil: the root is not signed.
  package var key: [UInt8]?
  package var sequence: UInt64
  /// In nanoseconds since 1970; nil: never.
  package var expiresAt: Int64?
  /// The SHA-256 of the whole root, as 64 hexadecimal digits.
  package var digest: String

  package init(site: String, key: [UInt8]?, sequence: UInt64, expiresAt: Int64?, digest: String) {
    self.site = site
    self.key = key
    self.sequence = sequence
    self.expiresAt = expiresAt
    self.digest = digest
  }
}

/// Which roots whoever pulls wants to trust.
package struct TrustPolicy: Hashable, Sendable {
  /// Only this key, whatever is pinned; it becomes the pinned one.
  package var key: [UInt8]?
  /// Takes a site that is not signed, if its place in a file system was given.
  package var allowsUnsigned = false

  package init(key: [UInt8]? = nil, allowsUnsigned: Bool = false) {
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
    package var key: [UInt8]
    /// The highest that was seen.
    package var sequence: UInt64
    /// Of the root with that sequence.
    package var digest: String
  }

  /// By id.
  package private(set) var sites: [String: Site] = [:]
  /// Which site is at a URL or folder.
  package private(set) var places: [String: String] = [:]

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
    _ key: [UInt8], of site: String, at place: String, _ policy: TrustPolicy
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
    var lines = [Self.title]
    for (id, site) in sites.sorted(by: { $0.key < $1.key }) {
      lines.append("site \(id) \(hex(site.key)) \(site.sequence) \(site.digest)")
    }
    for (place, id) in places.sorted(by: { $0.key < $1.key }) { lines.append("place \(id) \(Self.escaped(place))") }
    return lines.joined(separator: "\n") + "\n"
  }

  /// Nil: this is not what `text` writes.
  package init?(text: String) {
    var lines = text.split(separator: "\n", omittingEmptySubsequences: false)
    guard lines.popLast() == "", lines.first == Self.title[...] else { return nil }
    for line in lines.dropFirst() {
      let fields = line.split(separator: " ", maxSplits: 2, omittingEmptySubsequences: false).map(String.init)
      guard fields.count == 3, isHex(fields[1], 32) else { return nil }
      switch fields[0] {
      case "site":
        let rest = fields[2].split(separator: " ", omittingEmptySubsequences: false).map(String.init)
        guard rest.count == 3, isHex(rest[0], 64), let sequence = UInt64(rest[1]), isHex(rest[2], 64),
          sites[fields[1]] == nil
        else { return nil }
        sites[fields[1]] = Site(key: bytes(ofHex: rest[0]), sequence: sequence, digest: rest[2])
      case "place":
        let place = Self.unescaped(fields[2])
        guard sites[fields[1]] != nil, places[place] == nil else { return nil }
        places[place] = fields[1]
      default: return nil
      }
    }
  }

  /// A place is a line's end; only a line break has to be hidden in it.
  private static func escaped(_ place: String) -> String {
    place.replacing("%", with: "%25").replacing("\n", with: "%0A")
  }

  private static func unescaped(_ text: String) -> String {
    text.replacing("%0A", with: "\n").replacing("%25", with: "%")
  }
}

private func isHex(_ text: String, _ count: Int) -> Bool {
  text.utf8.count == count
    && text.utf8.allSatisfy {
      (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) || (UInt8(ascii: "a")...UInt8(ascii: "f")).contains($0)
    }
}

/// Lower-case digits.
func hex(_ bytes: some Sequence<UInt8>) -> String {
  bytes.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
}

private func bytes(ofHex text: String) -> [UInt8] {
  let digits = Array(text.utf8)
  return stride(from: 0, to: digits.count, by: 2).map { index in
    UInt8(String(decoding: digits[index..<index + 2], as: UTF8.self), radix: 16)!
  }
}
