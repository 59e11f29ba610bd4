package import PackFormats
package import PackStore

/// The facts in a root that matter for trust. Its signature is already verified.
package struct RootClaims: Hashable, Sendable {
  /// The signer; `nil`: the root is not signed.
  package var signer: Signer?
  package var product: Store.Product
  package var channel: SiteChannel
  package var isClosed: Bool
  package var sequence: UInt64
  /// The date, in nanoseconds since 1970.
  package var madeAt: Int64
  /// The expiry, in nanoseconds since 1970; `nil`: never.
  package var expiresAt: Int64?
  /// The SHA-256 of the whole root.
  package var digest: Digest256
  /// The URL to which the site moved, by a statement of its root key; `nil`: it did not move.
  package var movedTo: String?

  /// The key that signs a root: the root keys, and the delegation with its serial by the last of them.
  package struct Signer: Hashable, Sendable {
    /// The root keys, the first one first. Never empty.
    package var rootKeys: [SitePublicKey]
    package var serial: UInt64
    /// The serial below which the delegation revokes others; 0: none.
    package var revokedBelow: UInt64
    /// The end of the delegation, in nanoseconds since 1970; `nil`: unlimited.
    package var endsAt: Int64?
    /// The channels whose roots it may sign, in order; empty: all.
    package var channels: [SiteChannel]

    package init(
      rootKeys: [SitePublicKey], serial: UInt64 = KeyDelegation.ownSerial, revokedBelow: UInt64 = 0,
      endsAt: Int64? = nil, channels: [SiteChannel] = []
    ) {
      self.rootKeys = rootKeys
      self.serial = serial
      self.revokedBelow = revokedBelow
      self.endsAt = endsAt
      self.channels = channels
    }

    package init(_ authority: SigningAuthority) {
      let delegation = authority.delegation
      self.init(
        rootKeys: authority.rootKeys, serial: delegation.serial, revokedBelow: delegation.revokedBelow,
        endsAt: delegation.endsAt, channels: delegation.channels)
    }

    fileprivate var firstKey: SitePublicKey { rootKeys[0] }
    fileprivate var rootKey: SitePublicKey { rootKeys[rootKeys.count - 1] }
  }

  package init(
    signer: Signer?, product: Store.Product = .standard, channel: SiteChannel = .live, isClosed: Bool = false,
    sequence: UInt64, madeAt: Int64 = 0, expiresAt: Int64?, digest: Digest256
  ) {
    self.signer = signer
    self.product = product
    self.channel = channel
    self.isClosed = isClosed
    self.sequence = sequence
    self.madeAt = madeAt
    self.expiresAt = expiresAt
    self.digest = digest
  }

  package init(_ signed: SignedSiteRoot) {
    self.init(
      signer: signed.authority.map(Signer.init), product: signed.root.product, channel: signed.root.channel,
      isClosed: signed.root.isClosed, sequence: signed.root.sequence, madeAt: signed.root.madeAt,
      expiresAt: signed.root.expiresAt, digest: signed.digest)
    movedTo = signed.move?.url
  }

  /// Returns these facts with another date; the expiry moves by the same time.
  fileprivate func dated(_ time: Int64) -> RootClaims {
    var claims = self
    claims.madeAt = time
    claims.expiresAt = expiresAt.map { time.addingClamped($0.subtractingClamped(madeAt)) }
    // The key of an old root may have ended; the newest root has another one.
    claims.signer?.endsAt = nil
    return claims
  }
}

/// The roots that the caller of a pull trusts.
package struct TrustPolicy: Hashable, Sendable {
  /// The only trusted root key, including its successors. A pinned place stays pinned.
  package var key: SitePublicKey?
  /// Whether to accept an unsigned site, if its place in a file system was given.
  package var allowsUnsigned = false
  /// The maximum age of a root, in nanoseconds; `nil`: unlimited.
  package var maximumAge: Int64?

  package init(key: SitePublicKey? = nil, allowsUnsigned: Bool = false, maximumAge: Int64? = nil) {
    self.key = key
    self.allowsUnsigned = allowsUnsigned
    self.maximumAge = maximumAge
  }
}

/// The place of a root.
package enum RootPlace: Hashable, Sendable {
  /// A channel of a URL or folder, which is pinned to the key and product found there first.
  case site(String, SiteChannel, isLocal: Bool)
  /// A file that may come from anywhere: nothing is pinned to it.
  case archive(String)

  package var name: String {
    switch self {
    case .site(let name, _, _), .archive(let name): name
    }
  }

  /// The key in the book; `nil`: nothing is pinned.
  fileprivate var key: TrustBook.PlaceKey? {
    guard case .site(let name, let channel, _) = self else { return nil }
    return TrustBook.PlaceKey(location: name, channel: channel)
  }

  fileprivate var noun: String {
    switch self {
    case .site: "the site"
    case .archive: "the archive"
    }
  }

  fileprivate var mayBeUnsigned: Bool {
    switch self {
    case .site(_, _, let isLocal): isLocal
    case .archive: true
    }
  }
}

private func dateText(_ nanoseconds: Int64) -> String {
  Date(timeIntervalSince1970: Double(nanoseconds) / 1e9).formatted(.iso8601)
}

/// The places that a store was pulled from: their publisher, and the newest root seen there.
///
/// A place is a channel of a URL or folder. It is pinned to a key and a product at first contact, until ``forget(_:)``. Its roots
/// are ordered by their sequences, regardless of the site id: a publisher who lost a site creates another in the same place.
package struct TrustBook: Hashable, Sendable {
  package struct PlaceKey: Hashable, Sendable {
    package var location: String
    package var channel: SiteChannel

    package init(location: String, channel: SiteChannel = .live) {
      self.location = location
      self.channel = channel
    }
  }

  package struct Place: Hashable, Sendable {
    /// The publisher's first root key.
    package var firstKey: SitePublicKey
    /// The current root key, which may be a successor of the first.
    package var rootKey: SitePublicKey
    package var product: Store.Product
    /// The highest serial seen: roots with a lower serial are signed by a replaced key.
    package var serial: UInt64
    /// The channels that the key of that serial may sign; empty: all.
    package var channels: [SiteChannel]
    /// The highest sequence seen since the last revocation.
    package var sequence: UInt64
    /// The digest of the root with that sequence.
    package var digest: Digest256
    /// The latest date of all accepted roots, in nanoseconds since 1970.
    package var madeAt: Int64

    package var origin: Store.Origin { .signed(firstKey, product) }

    fileprivate func allows(_ channel: SiteChannel) -> Bool { channels.isEmpty || channels.contains(channel) }

    /// Whether a root of the place is older than one already seen. Sequences begin again only after a revocation of the serial that was
    /// seen: a higher serial alone does not make an old root newer.
    fileprivate func isNewer(than signer: RootClaims.Signer, _ sequence: UInt64) -> Bool {
      signer.serial < serial || (signer.revokedBelow <= serial && sequence < self.sequence)
    }
  }

  package private(set) var places: [PlaceKey: Place] = [:]

  /// The place to which a site moved, from its URL or folder.
  package private(set) var moves: [String: Move] = [:]

  package struct Move: Hashable, Sendable {
    /// The URL without slashes at its end.
    package var url: String
    /// Whether only public addresses may be contacted there, because the server of the former place has one.
    package var needsPublicAddress: Bool

    package init(url: String, needsPublicAddress: Bool) {
      self.url = url
      self.needsPublicAddress = needsPublicAddress
    }
  }

  /// The channel followed at a URL or folder, if it is not `live`.
  private var channels: [String: SiteChannel] = [:]

  /// The channel that an unfinished pull began to follow at a URL or folder in place of another: packs may be from either.
  private var beginnings: [String: SiteChannel] = [:]

  package init() {}

  /// Returns the channel followed at a URL or folder.
  package func channel(at location: String) -> SiteChannel { beginnings[location] ?? channels[location] ?? .live }

  /// Whether a channel of a URL or folder differs from the channels that earlier packs may be from.
  package func changes(to channel: SiteChannel, at location: String) -> Bool {
    guard beginnings[location] == nil else { return true }
    let isKnown = places.keys.contains { $0.location == location && $0.channel != channel }
    return isKnown && channel != self.channel(at: location)
  }

  /// Returns the latest date of all roots accepted at a place, in nanoseconds since 1970; `nil` if none was recorded.
  package func newestDate(at place: RootPlace) -> Int64? { place.key.flatMap { places[$0]?.madeAt } }

  /// Whether any channel of a URL or folder was seen.
  package func knows(_ location: String) -> Bool { places.keys.contains { $0.location == location } }

  /// Records, before the commit, that another channel will be followed at a URL or folder.
  package mutating func begin(_ channel: SiteChannel, at location: String) { beginnings[location] = channel }

  /// Records the channel followed at a URL or folder from now on.
  package mutating func follow(_ channel: SiteChannel, at location: String) {
    channels[location] = channel == .live ? nil : channel
    beginnings[location] = nil
  }

  /// Records that a site moved, with the root found at the new place. The former place stays pinned.
  ///
  /// - Parameters:
  ///   - channel: the channel followed at the former place.
  ///   - root: the root of that channel at the new place.
  /// - Throws: `otherKey` if the root is of another publisher or product; `otherChannel`; `tooOld` if its serial or sequence is lower
  ///   than at the former place; `badResponse` if it refers back to that place. The book is then unchanged.
  package mutating func move(
    _ channel: SiteChannel, from location: String, to move: Move, _ root: RootClaims
  ) throws {
    guard let known = places[PlaceKey(location: location, channel: channel)], let signer = root.signer else {
      throw DeliveryError(.otherKey, "not signed by the key of the place from which the site moved", at: move.url)
    }
    try checkPublisher(root, signer, against: known, at: move.url)
    guard root.channel == channel else {
      throw DeliveryError(
        .otherChannel, "the root belongs to the channel '\(root.channel)', not to '\(channel)'", at: move.url)
    }
    guard !known.isNewer(than: signer, root.sequence) else {
      throw DeliveryError(.tooOld, "older than the root from which the site moved", at: move.url)
    }
    guard root.movedTo.map(Self.withoutSlashes) != location else {
      throw DeliveryError(.badResponse, "the site moved back to '\(location)'", at: move.url)
    }
    for (former, earlier) in moves where earlier.url == location {
      let needsPublicAddress = earlier.needsPublicAddress || move.needsPublicAddress
      moves[former] = Move(url: move.url, needsPublicAddress: needsPublicAddress)
    }
    moves[location] = move
    moves[move.url] = nil
    let key = PlaceKey(location: move.url, channel: channel)
    if places[key] == nil { places[key] = Place(root, signer, madeAt: root.madeAt) }
    follow(channel, at: move.url)
  }

  private static func withoutSlashes(_ url: String) -> String {
    var url = url[...]
    while url.hasSuffix("/") { url.removeLast() }
    return String(url)
  }

  package enum Verdict: Hashable, Sendable {
    case known
    /// First contact: the key is pinned now.
    case pinned
    case unsigned
    /// The root is older than one already seen at the place, because a mirror is out of date: skip it.
    case stale(seen: UInt64)
  }

  /// Decides whether to accept a root, and records it: by its keys, then its channel, serial and sequence, then its date. An
  /// expired root from an unknown publisher is reported as unknown. A root from an outdated mirror is stale if a newer one that is
  /// still valid was seen.
  ///
  /// - Parameter now: the current time, in nanoseconds since 1970.
  /// - Throws: `badSignature`, `otherKey`, `otherChannel`, `expired`, `tooOld`, `fromTheFuture`, `forkedRoot`; the book is then
  ///   unchanged.
  package mutating func admit(
    _ root: RootClaims, at place: RootPlace, _ policy: TrustPolicy, now: Int64
  ) throws -> Verdict {
    // Setting the clock back does not revive an expired root.
    let known = place.key.flatMap { places[$0] }
    let now = max(now, known?.madeAt ?? 0)
    guard let signer = root.signer else {
      try admitUnsigned(at: place, policy)
      try checkChannel(root, at: place)
      try checkTime(root, at: place, policy, now: now)
      return .unsigned
    }
    try checkKey(signer, at: place, policy)
    guard let key = place.key, let known else {
      for (other, known) in places where other.location == place.key?.location {
        try checkPublisher(root, signer, against: known, at: place.name)
      }
      try check(signer, of: root.product, root.channel, at: place.name)
      try checkChannel(root, at: place)
      try checkTime(root, at: place, policy, now: now)
      guard let key = place.key else { return .known }
      let isTrusted = policy.key != nil || knows(key.location)
      places[key] = Place(root, signer, madeAt: root.madeAt)
      return isTrusted ? .known : .pinned
    }
    // A mirror from before a key rotation does not have the current key; this is not an attack.
    let isReplaced = known.origin == .signed(signer.firstKey, root.product) && signer.serial < known.serial
    if !isReplaced { try checkPublisher(root, signer, against: known, at: place.name) }
    try checkChannel(root, at: place)
    guard !known.isNewer(than: signer, root.sequence) else {
      // Stale while the newest root seen is still valid. Afterwards, an old root must not hide the absence of new ones.
      try checkTime(root.dated(known.madeAt), at: place, policy, now: now)
      return .stale(seen: known.sequence)
    }
    guard signer.revokedBelow > known.serial || root.sequence > known.sequence || root.digest == known.digest else {
      throw DeliveryError(
        .forkedRoot, "two different roots have the sequence number \(root.sequence)", at: place.name)
    }
    try checkTime(root, at: place, policy, now: now)
    places[key] = Place(root, signer, madeAt: max(known.madeAt, root.madeAt))
    return .known
  }

  /// Checks archives and deltas, and places not seen before, against the keys seen on the publisher's sites: a replaced key is
  /// refused.
  ///
  /// - Parameter channel: the channel of the root; `nil` for files without a channel.
  /// - Throws: `otherKey`.
  package func check(
    _ signer: RootClaims.Signer, of product: Store.Product, _ channel: SiteChannel? = nil, at location: String
  ) throws {
    let known = places.filter { $0.value.origin == .signed(signer.firstKey, product) }
    guard known.values.allSatisfy({ signer.rootKeys.contains($0.rootKey) }), !isReplaced(signer, channel, by: known)
    else {
      var error = DeliveryError(
        .otherKey, "signed by a key that its publisher has since replaced", at: location)
      error.specificRemedy = "fetch it again from its publisher"
      throw error
    }
  }

  /// Whether a later delegation replaces this one for the channel; for files without a channel, for each followed channel that the
  /// key may sign. A delegation limited to some channels does not affect the others.
  private func isReplaced(
    _ signer: RootClaims.Signer, _ channel: SiteChannel?, by known: [PlaceKey: Place]
  ) -> Bool {
    let channels =
      channel.map { [$0] }
      ?? known.keys.map(\.channel).filter { signer.channels.isEmpty || signer.channels.contains($0) }
    return !channels.isEmpty
      && channels.allSatisfy { channel in
        known.values.contains { $0.allows(channel) && $0.serial > signer.serial }
      }
  }

  private func checkKey(_ signer: RootClaims.Signer, at place: RootPlace, _ policy: TrustPolicy) throws {
    guard let key = policy.key, !signer.rootKeys.contains(key) else { return }
    throw DeliveryError(
      .otherKey, "signed by \(signer.rootKey), not by the given key",
      at: place.name)
  }

  /// Checks the publisher: its first root key and the product. The last seen root key must be among the keys that lead to the
  /// current one, so that a stolen older key cannot start another succession.
  private func checkPublisher(
    _ root: RootClaims, _ signer: RootClaims.Signer, against known: Place, at name: String
  ) throws {
    let isSameKey = signer.firstKey == known.firstKey && signer.rootKeys.contains(known.rootKey)
    guard !isSameKey || root.product != known.product else { return }
    let (what, before) =
      isSameKey
      ? ("belongs to the product '\(root.product)'", "'\(known.product)'")
      : ("signed by another key, \(signer.rootKey)", "\(known.rootKey)")
    var error = DeliveryError(.otherKey, "\(what), not \(before), which is trusted", at: name)
    error.trustedOrigin = known.origin
    throw error
  }

  /// Checks the channel: clients of one channel never accept the root of another, however new.
  private func checkChannel(_ root: RootClaims, at place: RootPlace) throws {
    guard let wanted = place.key?.channel, root.channel != wanted else { return }
    throw DeliveryError(
      .otherChannel, "the root belongs to the channel '\(root.channel)', not to '\(wanted)'", at: place.name)
  }

  private func checkTime(
    _ root: RootClaims, at place: RootPlace, _ policy: TrustPolicy, now: Int64
  ) throws {
    if let end = root.expiresAt, end <= now {
      throw DeliveryError(.expired, "the root expired on \(dateText(end))", at: place.name)
    }
    if let end = root.signer?.endsAt, end <= now {
      throw DeliveryError(.expired, "the key that signed the root expired on \(dateText(end))", at: place.name)
    }
    let (age, overflows) = now.subtractingReportingOverflow(root.madeAt)
    guard overflows ? root.madeAt < 0 : age >= -SiteRoot.clockTolerance else {
      throw DeliveryError(
        .fromTheFuture, "the root is dated more than a day from now, \(dateText(root.madeAt))",
        at: place.name)
    }
    if let limit = policy.maximumAge, overflows || age > limit {
      throw DeliveryError(
        .tooOld, "the root of \(dateText(root.madeAt)) is older than allowed",
        at: place.name)
    }
  }

  private func admitUnsigned(at place: RootPlace, _ policy: TrustPolicy) throws {
    let known = places.first { $0.key.location == place.key?.location }?.value
    guard policy.key == nil, known == nil else {
      var error = DeliveryError(
        .otherKey, "not signed, but a key is trusted for it", at: place.name)
      error.trustedOrigin = known?.origin
      throw error
    }
    guard place.mayBeUnsigned else {
      throw DeliveryError(.badSignature, "not signed; only folders and archives can be unsigned", at: place.name)
    }
    guard policy.allowsUnsigned else {
      throw DeliveryError(.notSigned, "not signed", at: place.name)
    }
  }

  /// Forgets the places of an origin: the next contact counts as the first.
  ///
  /// - Returns: the number of places forgotten.
  @discardableResult
  package mutating func forget(_ origin: Store.Origin) -> Int {
    let lost = places.filter { $0.value.origin == origin }
    places = places.filter { $0.value.origin != origin }
    for location in lost.keys.map(\.location) where !knows(location) {
      channels[location] = nil
      beginnings[location] = nil
      moves[location] = nil
    }
    return lost.count
  }
}

// MARK: - As text

extension TrustBook {
  /// The title, with the version of the format.
  private static let title = "packstore trust 1"

  /// The text stored in the store: a line for each place, each other channel that is followed or begun, and each move, in order.
  package var text: String {
    var lines = places.map { key, place in "place \(key.channel) \(place.text) \(Self.escaped(key.location))" }
    lines += channels.map { location, channel in "follow \(channel) \(Self.escaped(location))" }
    lines += beginnings.map { location, channel in "begin \(channel) \(Self.escaped(location))" }
    lines += moves.map { location, move in
      "moved \(move.needsPublicAddress ? "public" : "any") \(move.url) \(Self.escaped(location))"
    }
    lines.sort()
    return ([Self.title] + lines).map { $0 + "\n" }.joined()
  }

  /// Whether a text was written in a draft of the format, or in a later version.
  package static func isOtherDraft(_ text: String) -> Bool {
    text.hasPrefix("packstore trust 0\n") || (text.hasPrefix("packstore trust ") && !text.hasPrefix(title + "\n"))
  }

  /// `nil` if the text is not in the form of `text`.
  package init?(text: String) {
    // Split by bytes: Swift treats CR LF, or a space with a combining accent, as one character.
    for line in text.utf8.split(separator: UInt8(ascii: "\n")).dropFirst() {
      guard Self.take(line, into: &self) else { return nil }
    }
    guard self.text.utf8.elementsEqual(text.utf8) else { return nil }
  }

  /// Reads a line; false if it is invalid.
  private static func take(_ line: Substring.UTF8View, into book: inout TrustBook) -> Bool {
    func fields(_ count: Int) -> [Substring]? {
      let fields = line.split(separator: UInt8(ascii: " "), maxSplits: count - 1, omittingEmptySubsequences: false)
      return fields.count == count ? fields.map(Substring.init) : nil
    }
    if let fields = fields(3), fields[0] == "follow", let channel = try? SiteChannel(fields[1]) {
      book.channels[unescaped(fields[2])] = channel
      return channel != .live
    }
    if let fields = fields(3), fields[0] == "begin", let channel = try? SiteChannel(fields[1]) {
      book.beginnings[unescaped(fields[2])] = channel
      return true
    }
    if let fields = fields(4), fields[0] == "moved", ["any", "public"].contains(fields[1]) {
      book.moves[unescaped(fields[3])] = Move(url: String(fields[2]), needsPublicAddress: fields[1] == "public")
      return SiteMove.isSuitable(String(fields[2]))
    }
    guard let fields = fields(11), fields[0] == "place", let channel = try? SiteChannel(fields[1]),
      let place = Place(fields[2...9])
    else { return false }
    book.places[PlaceKey(location: unescaped(fields[10]), channel: channel)] = place
    return true
  }

  /// A place extends to the end of its line; only line breaks must be escaped.
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
    // `escaped` writes one of two codes after a per cent sign.
    let parts = text.utf8.split(separator: UInt8(ascii: "%"), omittingEmptySubsequences: false)
    let rest = parts.dropFirst().map { part in
      (part.starts(with: "0A".utf8) ? "\n" : "%") + String(decoding: part.dropFirst(2), as: UTF8.self)
    }
    return String(decoding: parts[0], as: UTF8.self) + rest.joined()
  }
}

extension TrustBook.Place {
  fileprivate init(_ root: RootClaims, _ signer: RootClaims.Signer, madeAt: Int64) {
    self.init(
      firstKey: signer.firstKey, rootKey: signer.rootKey, product: root.product, serial: signer.serial,
      channels: signer.channels, sequence: root.sequence, digest: root.digest, madeAt: madeAt)
  }

  fileprivate var text: String {
    let channels = channels.isEmpty ? "*" : channels.map(\.name).joined(separator: ",")
    return "\(firstKey) \(rootKey) \(product) \(serial) \(channels) \(sequence) \(digest.hex) \(madeAt)"
  }

  fileprivate init?(_ fields: ArraySlice<Substring>) {
    let fields = Array(fields)
    guard fields.count == 8, let firstKey = SitePublicKey(String(fields[0])),
      let rootKey = SitePublicKey(String(fields[1])), let product = try? Store.Product(fields[2]),
      let serial = UInt64(fields[3]), let channels = Self.channels(fields[4]), let sequence = UInt64(fields[5]),
      let digest = Digest256(hex: fields[6]), let madeAt = Int64(fields[7])
    else { return nil }
    self.init(
      firstKey: firstKey, rootKey: rootKey, product: product, serial: serial, channels: channels, sequence: sequence,
      digest: digest, madeAt: madeAt)
  }

  private static func channels(_ text: Substring) -> [SiteChannel]? {
    guard text != "*" else { return [] }
    return try? text.split(separator: ",", omittingEmptySubsequences: false).map { try SiteChannel($0) }
  }
}
