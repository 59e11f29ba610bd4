import PackStore

/// The secret key that signs sites, archives and deltas. Its owner can publish what clients trust.
///
/// A key is a *root key*, by which clients know its publisher, or a *release key*: then its file says, too, by which root
/// key's word it signs, until when, for which product and which channels. A root key signs for itself, but need not: it
/// can be kept apart from the machine that publishes, and is needed to delegate alone. A stolen release key is replaced;
/// a stolen root key is not.
///
/// It is never printed: its text goes to its file alone.
public struct SiteKey: Sendable {
  package static let signatureByteCount = 64
  package static let firstLine = "packstore secret key 1"

  private let key: Ed25519.PrivateKey

  /// The root keys that followed each other up to ``rootKey``.
  package private(set) var rotations: [KeyRotation] = []

  /// By what word it signs; nil: it is a root key.
  package private(set) var delegation: KeyDelegation?

  /// The highest serial that this root key, or one that it followed, gave to a release key; nil: none, as far as is known.
  package private(set) var highestSerial: UInt64?

  /// Generates a root key from the system's random numbers.
  public init() {
    var generator = SystemRandomNumberGenerator()
    let seed = (0..<Ed25519.seedByteCount).map { _ in UInt8.random(in: 0 ... .max, using: &generator) }
    guard let key = try? Ed25519.PrivateKey(seed: seed) else {
      preconditionFailure("every \(Ed25519.seedByteCount) bytes are the seed of a key")
    }
    self.key = key
  }

  /// The public half of the key.
  public var publicKey: SitePublicKey {
    guard let publicKey = SitePublicKey(key.publicKey) else {
      preconditionFailure("the public half of a key is a point, and all zeros are not that of any seed")
    }
    return publicKey
  }

  /// What clients are told to trust.
  public var rootKey: SitePublicKey { delegation?.rootKey ?? publicKey }

  /// What a publisher is known by, whatever root key follows it.
  package var firstKey: SitePublicKey { rotations.first?.old ?? rootKey }

  // MARK: - Authority

  /// Until when it may sign; nil: without end.
  public var endsAt: Date? { delegation?.endsAt.map { Date(timeIntervalSince1970: Double($0) / 1e9) } }

  /// - Parameter time: nanoseconds since 1970.
  /// - Throws: `untrusted` when clients refuse by then what the key signs.
  package func requireValid(at time: Int64) throws {
    guard let end = delegation?.endsAt, end <= time, let endsAt else { return }
    throw refusal("the key could sign until \(endsAt.formatted(.iso8601))")
  }

  /// Whether it may sign the roots of a channel, of the product that it signs for.
  package func maySign(_ channel: SiteChannel) -> Bool { delegation?.allows(channel) ?? true }

  /// The channel as whose an archive is signed, which its readers do not ask for.
  package var archiveChannel: SiteChannel {
    guard let delegation, !delegation.allows(.live), let first = delegation.channels.first else { return .live }
    return first
  }

  /// The same key as a release key, by the word of a root key.
  ///
  /// - Throws: `invalidArgument` when `root` is a release key itself.
  package func delegated(
    by root: SiteKey, serial: UInt64, madeAt: Int64, endsAt: Int64?, product: Store.Product, channels: [SiteChannel]
  ) throws -> SiteKey {
    guard root.delegation == nil else {
      throw PackStoreError(.invalidArgument, "a release key cannot delegate: that takes the root key \(root.rootKey)")
    }
    var key = self
    key.rotations = root.rotations
    key.highestSerial = nil
    key.delegation = try KeyDelegation(
      to: publicKey, by: root, serial: serial, madeAt: madeAt, endsAt: endsAt, product: product, channels: channels)
    return key
  }

  /// The same root key, with a serial noted that it gave.
  ///
  /// - Precondition: 1 to `PackVersion.lastNumber`.
  package func noting(_ serial: UInt64) -> SiteKey {
    precondition(delegation == nil && 1...PackVersion.lastNumber ~= serial)
    var key = self
    key.highestSerial = max(highestSerial ?? 0, serial)
    return key
  }

  /// The same key as the root key that follows another.
  ///
  /// - Throws: `invalidArgument` when one of them is a release key, or root keys followed each other too often.
  package func following(_ root: SiteKey) throws -> SiteKey {
    guard root.delegation == nil, delegation == nil else {
      throw PackStoreError(.invalidArgument, "only a root key follows a root key, and one of these is a release key")
    }
    guard root.rotations.count < SigningAuthority.rotationLimit else {
      throw PackStoreError(
        .invalidArgument, "a root key follows another \(SigningAuthority.rotationLimit) times at most")
    }
    var key = self
    key.rotations = root.rotations + [try KeyRotation(from: root, to: self)]
    key.highestSerial = [root.highestSerial, highestSerial].compactMap { $0 }.max()
    return key
  }

  /// By whose word it signs for a product.
  ///
  /// - Parameter channel: that whose root it is to sign; nil: what is signed is of no channel.
  /// - Throws: `untrusted` when it may not sign for the product or the channel.
  package func authority(for product: Store.Product, _ channel: SiteChannel? = nil) throws -> SigningAuthority {
    guard let delegation else {
      // Always the same, so that what is signed depends on nothing but the key and what it signs.
      let own = try KeyDelegation(
        to: publicKey, by: self, serial: KeyDelegation.ownSerial, madeAt: 0, endsAt: nil, product: product, channels: []
      )
      return try SigningAuthority(rotations: rotations, delegation: own)
    }
    guard delegation.product == product else {
      throw refusal("the key is for the product '\(delegation.product)', and not for '\(product)'")
    }
    if let channel, !delegation.allows(channel) {
      let channels = delegation.channels.map { "'\($0)'" }.joined(separator: ", ")
      throw refusal("the key may sign \(channels), and not '\(channel)'")
    }
    return try SigningAuthority(rotations: rotations, delegation: delegation)
  }

  private func refusal(_ reason: String) -> PackStoreError {
    var error = PackStoreError(.untrusted, reason)
    error.specificRemedy = "use the key that was made for it, or have the owner of the root key delegate again"
    return error
  }

  /// Returns the 64-byte signature of `message`. It is deterministic, except on Apple's platforms: CryptoKit adds randomness.
  ///
  /// - Throws: `outOfMemory` if CryptoKit fails.
  package func signature(of message: [UInt8]) throws -> [UInt8] { try key.signature(of: message) }
}

// MARK: - As text

extension SiteKey {
  /// What a key file holds: a line that says what it is, base64 of 32 bytes, and by whose word it signs, or what it gave.
  package var fileText: String {
    let lines =
      [Self.firstLine, Data(key.seed).base64EncodedString()] + rotations.map { Self.line("rotation", $0.encode) }
      + [delegation].compactMap { $0 }.map { Self.line("delegation", $0.encode) }
      + [highestSerial].compactMap { $0 }.map { "\(Self.serialWord)\($0)" }
    return lines.map { $0 + "\n" }.joined()
  }

  private static let serialWord = "serial "

  private static func line(_ word: String, _ encode: (inout ByteWriter) -> Void) -> String {
    var writer = ByteWriter()
    encode(&writer)
    return "\(word) \(Data(writer.bytes).base64EncodedString())"
  }

  /// Reads what ``fileText`` says. Nil for anything else.
  package init?(fileText: String) {
    var lines = fileText.split(separator: "\n", omittingEmptySubsequences: false)[...]
    guard lines.popFirst() == Substring(Self.firstLine), lines.popLast() == "", let secret = lines.popFirst(),
      let bytes = Data(canonicalBase64: secret), let key = try? Ed25519.PrivateKey(seed: Array(bytes))
    else { return nil }
    self.key = key
    while let line = lines.first, line.hasPrefix("rotation ") {
      guard let rotation = Self.value(line, KeyRotation.init) else { return nil }
      rotations.append(rotation)
      lines.removeFirst()
    }
    if let line = lines.first, line.hasPrefix(Self.serialWord) {
      let text = line.dropFirst(Self.serialWord.count)
      guard let serial = UInt64(text), "\(serial)" == text, 1...PackVersion.lastNumber ~= serial else { return nil }
      highestSerial = serial
      lines.removeFirst()
    } else if let line = lines.popFirst() {
      guard line.hasPrefix("delegation "), let delegation = Self.value(line, KeyDelegation.init) else { return nil }
      self.delegation = delegation
    }
    guard lines.isEmpty, delegation.map({ $0.releaseKey == publicKey }) ?? true,
      (rotations.last?.new ?? rootKey) == rootKey, rotations.count <= SigningAuthority.rotationLimit,
      zip(rotations, rotations.dropFirst()).allSatisfy({ $0.new == $1.old })
    else { return nil }
  }

  /// What base64 behind a line's first word says.
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
  /// Reads base64 in its one canonical form.
  fileprivate init?(canonicalBase64 text: some StringProtocol) {
    guard let data = Data(base64Encoded: String(text)), data.base64EncodedString() == text else { return nil }
    self = data
  }
}
