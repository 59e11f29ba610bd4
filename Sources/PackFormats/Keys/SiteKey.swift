import PackStore

/// The secret key that signs sites, archives and deltas. Clients trust everything that its owner publishes.
///
/// A key is a *root key*, which identifies its publisher to clients, or a *release key*. The file of a release key also contains
/// its delegation: the root key, the end of validity, the product and the channels. A root key can sign for itself, but it can also
/// be stored away from the publishing machine: then only delegation requires it. A stolen release key can be revoked; a stolen root
/// key cannot.
///
/// The secret half may be elsewhere, such as in a key service: ``RootSigner``. If the file contains it, it is never printed: its text is
/// written only to its file.
public struct SiteKey: Sendable {
  package static let signatureByteCount = 64
  package static let firstLine = secretKeyLine

  /// The first line of the file of a key whose secret half is elsewhere.
  package static let publicFirstLine = "packstore public key 1"

  private var signer: any RootSigner

  /// The key sets of the publisher, including ``rotations``; `nil` if every root key is a single key. Only a release key has them.
  package private(set) var sets: KeySetChain?

  /// The key sets and delegations that this root key signed as one of several holders.
  package private(set) var holderNotes: [HolderNote] = []

  /// The rotations of the root key up to ``rootKey``, in order.
  package private(set) var rotations: [KeyRotation] = []

  /// The delegation to this key; `nil` if it is a root key.
  package private(set) var delegation: KeyDelegation?

  /// The highest serial that this root key or an earlier one assigned to a release key; `nil` if none is known.
  package private(set) var highestSerial: UInt64?

  /// The serials that this root key or an earlier one revoked.
  package private(set) var revocations = KeyRevocations()

  /// Generates a root key from the system's random numbers.
  public init() {
    var generator = SystemRandomNumberGenerator()
    let seed = (0..<Ed25519.seedByteCount).map { _ in UInt8.random(in: 0 ... .max, using: &generator) }
    guard let key = try? Ed25519.PrivateKey(seed: seed) else {
      preconditionFailure("cannot create a key from \(Ed25519.seedByteCount) bytes, although any such seed is valid")
    }
    signer = SeedSigner(key)
  }

  /// Creates a root key whose secret half is elsewhere. It signs after ``signed(by:)``.
  public init(publicKey: SitePublicKey) { signer = MissingSigner(publicKey: publicKey) }

  /// The public half of the key.
  public var publicKey: SitePublicKey { signer.publicKey }

  /// Whether the secret half is in the key's file.
  package var hasSecret: Bool { signer is SeedSigner }

  /// Whether the key can sign.
  package var canSign: Bool { !(signer is MissingSigner) }

  /// The date of everything that the key signs, in nanoseconds since 1970; `nil` for the clock.
  package var signingTime: Int64? { signer.signingTime }

  /// Returns this key with a signer for its secret half.
  ///
  /// - Throws: `untrusted` if the signer has another key; `invalidArgument` if the key's file contains its secret half.
  public func signed(by signer: some RootSigner) throws -> SiteKey {
    // Otherwise the next change of its file would lose the secret half.
    guard !hasSecret else {
      throw PackStoreError(
        .invalidArgument, "the file of the key \(publicKey) contains its secret half; sign with that")
    }
    guard signer.publicKey == publicKey else {
      throw PackStoreError(.untrusted, "the signer has the key \(signer.publicKey), not \(publicKey)")
    }
    return SiteKey(self, RememberingSigner(signer))
  }

  private init(_ key: SiteKey, _ signer: any RootSigner) {
    self = key
    self.signer = signer
  }

  /// The public root key, or the id of the key set, which clients trust.
  public var rootKey: SitePublicKey { delegation?.rootKey ?? publicKey }

  /// The first root key, which identifies the publisher and does not change with rotations.
  package var firstKey: SitePublicKey { sets?.firstID ?? rotations.first?.old ?? rootKey }

  // MARK: - Authority

  /// The time at which the key may no longer sign; `nil` if unlimited.
  public var endsAt: Date? { delegation?.endsAt.map { Date(timeIntervalSince1970: Double($0) / 1e9) } }

  /// Checks that clients accept signatures of this key at a time.
  ///
  /// - Parameter time: nanoseconds since 1970.
  /// - Throws: `untrusted` if the key has expired by then.
  package func requireValid(at time: Int64) throws {
    guard let end = delegation?.endsAt, end <= time, let endsAt else { return }
    throw refusal("the key expired at \(endsAt.formatted(.iso8601))")
  }

  /// Whether the key may sign the root of a channel of its product.
  package func maySign(_ channel: SiteChannel) -> Bool { delegation?.allows(channel) ?? true }

  /// The channel in the root of an archive that this key signs. Readers of archives ignore it.
  package var archiveChannel: SiteChannel {
    guard let delegation, !delegation.allows(.live), let first = delegation.channels.first else { return .live }
    return first
  }

  /// Returns this key as a release key with a delegation by a root key.
  ///
  /// - Throws: `invalidArgument` if `root` is itself a release key.
  package func delegated(
    by root: SiteKey, serial: UInt64, revokedBelow: UInt64 = 0, madeAt: Int64, endsAt: Int64?, product: Store.Product,
    channels: [SiteChannel]
  ) throws -> SiteKey {
    guard root.delegation == nil else {
      throw PackStoreError(.invalidArgument, "a release key cannot delegate; use the root key \(root.rootKey)")
    }
    var key = self
    key.rotations = root.rotations
    key.sets = nil
    key.highestSerial = nil
    key.revocations = KeyRevocations()
    key.holderNotes = []
    key.delegation = try KeyDelegation(
      to: publicKey, by: root, serial: serial, revokedBelow: revokedBelow, madeAt: madeAt, endsAt: endsAt,
      product: product, channels: channels)
    return key
  }

  /// Returns this key as a release key with a delegation by the last of a publisher's key sets.
  ///
  /// - Throws: `corrupt` if the delegation is for another key, or by another set.
  package func delegated(by sets: KeySetChain, _ delegation: KeyDelegation) throws -> SiteKey {
    guard delegation.releaseKey == publicKey, delegation.rootKey == sets.last.id, !sets.hasSingleKeys else {
      throw PackStoreError(.corrupt, "not a delegation to the key \(publicKey) by the present key set")
    }
    var key = self
    key.rotations = sets.before
    key.sets = sets
    key.highestSerial = nil
    key.revocations = KeyRevocations()
    key.holderNotes = []
    key.delegation = delegation
    return key
  }

  /// Returns this root key with a delegation recorded: the serial that it assigned, and the serial below which it revoked others of
  /// the same product.
  ///
  /// - Precondition: this is a root key, `serial` is from 1 to `PackVersion.lastNumber`, and `revokedBelow` is not above it.
  package func noting(
    _ serial: UInt64, revokedBelow: UInt64 = 0, of product: Store.Product = .standard
  ) -> SiteKey {
    precondition(delegation == nil && 1...PackVersion.lastNumber ~= serial && revokedBelow <= serial)
    var key = self
    key.highestSerial = max(highestSerial ?? 0, serial)
    key.revocations = revocations.revoking(below: revokedBelow, of: product)
    return key
  }

  /// Returns this root key with a note of the key sets and delegations that it signed as one of several holders. The note replaces the
  /// note for the same publisher.
  ///
  /// - Precondition: this is a root key.
  package func noting(_ note: HolderNote) -> SiteKey {
    precondition(delegation == nil)
    var key = self
    key.holderNotes = (holderNotes.filter { $0.first != note.first } + [note]).sorted { $0.line < $1.line }
    return key
  }

  /// Returns this key as the root key that replaces another.
  ///
  /// - Throws: `invalidArgument` if one of the keys is a release key, or if the rotations would be too many.
  package func following(_ root: SiteKey) throws -> SiteKey {
    guard root.delegation == nil, delegation == nil else {
      throw PackStoreError(.invalidArgument, "a release key cannot replace a root key or be replaced by one")
    }
    guard root.rotations.count < SigningAuthority.rotationLimit else {
      throw PackStoreError(.invalidArgument, "more than \(SigningAuthority.rotationLimit) key rotations")
    }
    var key = self
    key.rotations = root.rotations + [try KeyRotation(from: root, to: self)]
    key.highestSerial = [root.highestSerial, highestSerial].compactMap { $0 }.max()
    key.revocations = root.revocations.merging(revocations)
    return key
  }

  /// Returns the keys that authorize this key's signatures for a product.
  ///
  /// - Parameter channel: the channel whose root is signed; `nil` if the signed file does not belong to a channel.
  /// - Throws: `untrusted` if the key may not sign for the product or the channel.
  package func authority(for product: Store.Product, _ channel: SiteChannel? = nil) throws -> SigningAuthority {
    guard let delegation else {
      // Serial, date and end are constant, so that the signed bytes depend only on the key and the content.
      let own = try KeyDelegation(
        to: publicKey, by: self, serial: KeyDelegation.ownSerial, madeAt: 0, endsAt: nil, product: product, channels: []
      )
      return try SigningAuthority(rotations: rotations, delegation: own)
    }
    guard delegation.product == product else {
      throw refusal("the key is for the product '\(delegation.product)', not for '\(product)'")
    }
    if let channel, !delegation.allows(channel) {
      let channels = delegation.channels.map { "'\($0)'" }.joined(separator: ", ")
      throw refusal("the key may sign only the channels \(channels), not '\(channel)'")
    }
    guard let sets else { return try SigningAuthority(rotations: rotations, delegation: delegation) }
    return try SigningAuthority(sets: sets, delegation: delegation)
  }

  private func refusal(_ reason: String) -> PackStoreError {
    var error = PackStoreError(.untrusted, reason)
    error.specificRemedy = "use the right key, or ask the owner of the root key to delegate again"
    return error
  }

  /// Returns the signature of exactly these bytes, which are not verified: for a signer that answers to others.
  package func signature(of message: SigningMessage) throws -> [UInt8] { try signer.signature(of: message) }

  /// Returns the 64-byte signature of `message` as bytes of a kind. It is deterministic except on Apple's platforms, where CryptoKit adds randomness.
  ///
  /// - Throws: `outOfMemory` if CryptoKit fails; errors of the signer; `untrusted` if the signer returned anything else than a signature
  ///   of these bytes by this key.
  package func signature(of message: [UInt8], as kind: SignedKind) throws -> [UInt8] {
    let signature = try signer.signature(of: SigningMessage(of: message, as: kind))
    guard hasSecret || publicKey.verifies(signature, of: message, as: kind) else {
      throw PackStoreError(
        .untrusted, "the signer of the key \(publicKey) returned a signature that is not valid for the request")
    }
    return signature
  }
}

// MARK: - As text

extension SiteKey {
  /// The text of the key file: a line with the file type, a line with the seed or the public key (base64 of 32 bytes), the rotations or
  /// key sets, and the delegation of a release key, or the highest serial of a root key, the serials that it revoked, and its notes as a
  /// holder.
  package var fileText: String {
    let lines =
      secretLines + rootLines
      + [delegation].compactMap { $0 }.map { Self.line("delegation", $0.encode) }
      + [highestSerial].compactMap { $0 }.map { "\(Self.serialWord)\($0)" } + revocations.lines
      + holderNotes.map(\.line)
    return lines.map { $0 + "\n" }.joined()
  }

  private var secretLines: [String] {
    guard let signer = signer as? SeedSigner else { return [Self.publicFirstLine, publicKey.description] }
    return [Self.firstLine, Data(signer.key.seed).base64EncodedString()]
  }

  private var rootLines: [String] {
    guard let sets else { return rotations.map { Self.line("rotation", $0.encode) } }
    return [Self.line("sets", sets.encode)]
  }

  /// Returns the text of a delegation by this root key to a key of another machine: the lines of ``fileText`` after the seed.
  ///
  /// - Throws: `invalidArgument` if this is a release key, or if the channels are too many.
  package func delegationText(
    for releaseKey: SitePublicKey, serial: UInt64, madeAt: Int64, endsAt: Int64?, product: Store.Product,
    channels: [SiteChannel]
  ) throws -> String {
    guard delegation == nil else {
      throw PackStoreError(.invalidArgument, "a release key cannot delegate; use the root key \(rootKey)")
    }
    let next = try KeyDelegation(
      to: releaseKey, by: self, serial: serial, revokedBelow: revocations.serial(for: product), madeAt: madeAt,
      endsAt: endsAt,
      product: product, channels: channels)
    let lines = rotations.map { Self.line("rotation", $0.encode) } + [Self.line("delegation", next.encode)]
    return lines.map { $0 + "\n" }.joined()
  }

  /// Returns this key with a delegation in place of its own, if any.
  ///
  /// - Parameter text: the result of `delegationText` for this key.
  /// - Throws: `corrupt` if the text is anything else, or is for another key.
  package func delegated(byText text: String) throws -> SiteKey {
    let secret = secretLines.map { $0 + "\n" }.joined()
    guard let key = SiteKey(fileText: secret + text), key.delegation != nil else {
      throw PackStoreError(.corrupt, "not a delegation to the key \(publicKey)")
    }
    return SiteKey(key, signer)
  }

  private static let serialWord = "serial "

  private static func line(_ word: String, _ encode: (inout ByteWriter) -> Void) -> String {
    var writer = ByteWriter()
    encode(&writer)
    return "\(word) \(Data(writer.bytes).base64EncodedString())"
  }

  /// Parses ``fileText``; `nil` if the text is not exactly of that form.
  package init?(fileText: String) {
    var lines = fileText.split(separator: "\n", omittingEmptySubsequences: false)[...]
    guard let first = lines.popFirst(), lines.popLast() == "", let secret = lines.popFirst(),
      let signer = Self.signer(first, secret)
    else { return nil }
    self.signer = signer
    if let line = lines.first, line.hasPrefix("sets ") {
      guard let sets = Self.value(line, { try KeySetChain(from: &$0) }), !sets.hasSingleKeys else { return nil }
      self.sets = sets
      rotations = sets.before
      lines.removeFirst()
    }
    while sets == nil, let line = lines.first, line.hasPrefix("rotation ") {
      guard let rotation = Self.value(line, { try KeyRotation(from: &$0) }) else { return nil }
      rotations.append(rotation)
      lines.removeFirst()
    }
    let notes = Array(lines.reversed().prefix { $0.hasPrefix(HolderNote.word) }.reversed())
    guard let holderNotes = HolderNote.parse(notes) else { return nil }
    self.holderNotes = holderNotes
    lines = lines.dropLast(notes.count)
    if let line = lines.first, line.hasPrefix(Self.serialWord) {
      guard let serial = Self.serial(line, after: Self.serialWord),
        let revocations = KeyRevocations(lines: lines.dropFirst(), highest: serial)
      else { return nil }
      highestSerial = serial
      self.revocations = revocations
      lines = []
    } else if let line = lines.popFirst() {
      guard line.hasPrefix("delegation "), holderNotes.isEmpty,
        let delegation = Self.value(line, { [sets = self.sets] in try Self.delegation(from: &$0, by: sets) })
      else { return nil }
      self.delegation = delegation
    }
    guard lines.isEmpty, delegation.map({ $0.releaseKey == publicKey }) ?? true, sets == nil || delegation != nil,
      sets != nil || (rotations.last?.new ?? rootKey) == rootKey, rotations.count <= SigningAuthority.rotationLimit,
      zip(rotations, rotations.dropFirst()).allSatisfy({ $0.new == $1.old })
    else { return nil }
  }

  /// Returns the signer for the first two lines of a key file; `nil` if they are invalid.
  private static func signer(_ first: Substring, _ second: Substring) -> (any RootSigner)? {
    guard first == Substring(firstLine) else {
      guard first == Substring(publicFirstLine), let key = SitePublicKey(String(second)) else { return nil }
      return MissingSigner(publicKey: key)
    }
    guard let bytes = Data(canonicalBase64: second), let key = try? Ed25519.PrivateKey(seed: Array(bytes)) else {
      return nil
    }
    return SeedSigner(key)
  }

  private static func delegation(from reader: inout ByteReader, by sets: KeySetChain?) throws -> KeyDelegation {
    guard let sets else { return try KeyDelegation(from: &reader) }
    return try KeyDelegation(from: &reader, by: sets.last, first: sets.firstID)
  }

  /// Reads the serial after a line's first word; `nil` if it is invalid.
  private static func serial(_ line: Substring, after word: String) -> UInt64? {
    guard line.hasPrefix(word), let serial = UInt64(line.dropFirst(word.count)), "\(word)\(serial)" == line,
      1...PackVersion.lastNumber ~= serial
    else { return nil }
    return serial
  }

  /// Decodes the base64 after a line's first word; `nil` if it is invalid.
  private static func value<Value>(_ line: Substring, _ read: (inout ByteReader) throws -> Value) -> Value? {
    guard let text = line.split(separator: " ", maxSplits: 1).last, let bytes = Data(canonicalBase64: text) else {
      return nil
    }
    var reader = ByteReader(Array(bytes)[...], file: "")
    guard let value = try? read(&reader), reader.remaining == 0 else { return nil }
    return value
  }
}

extension Data {
  /// Decodes base64; `nil` if the text is not in canonical form.
  fileprivate init?(canonicalBase64 text: some StringProtocol) {
    guard let data = Data(base64Encoded: String(text)), data.base64EncodedString() == text else { return nil }
    self = data
  }
}
