import PackStore

extension SiteKey {
  /// A release key whose file has a delegation of the previous draft: its root key has to delegate to it again.
  package struct PreviousRelease: Sendable {
    /// The key without its delegation.
    package let key: SiteKey
    package let serial: UInt64
    package let product: Store.Product
    package let channels: [SiteChannel]
  }

  /// Parses the text of a release key's file of the previous draft; `nil` if the text is anything else.
  package static func previousRelease(fileText: String) -> PreviousRelease? {
    let lines = fileText.split(separator: "\n", omittingEmptySubsequences: false)
    guard lines.count >= 4, lines.last == "", let key = SiteKey(fileText: "\(lines[0])\n\(lines[1])\n"),
      let line = lines.dropLast().last, line.hasPrefix(delegationWord),
      let data = Data(base64Encoded: String(line.dropFirst(delegationWord.count)))
    else { return nil }
    var reader = ByteReader(Array(data)[...], file: "")
    return try? PreviousRelease(of: key, from: &reader, bytes: Array(data))
  }

  private static let delegationWord = "delegation "

  /// A root key's file whose rotations are of the previous draft: the key before it has to sign its rotation again.
  package struct PreviousRoot: Sendable {
    /// The key without its rotations.
    package let key: SiteKey
    package let rotations: [KeyRotation]

    /// The highest serial that the key or an earlier one assigned; `nil` if none is known.
    package let highestSerial: UInt64?
  }

  /// Parses the text of a rotated root key's file of the previous draft; `nil` if the text is anything else.
  package static func previousRoot(fileText: String) -> PreviousRoot? {
    var lines = fileText.split(separator: "\n", omittingEmptySubsequences: false)[...]
    guard lines.popLast() == "", lines.count >= 3 else { return nil }
    let secret = lines.prefix(2).map { $0 + "\n" }.joined()
    let words = lines.dropFirst(2).prefix { $0.hasPrefix(rotationWord) }
    let serialLine = lines.dropFirst(2 + words.count).map { $0 + "\n" }.joined()
    guard let key = SiteKey(fileText: secret), let noted = SiteKey(fileText: secret + serialLine),
      noted.delegation == nil
    else { return nil }
    var rotations: [KeyRotation] = []
    for line in words {
      guard let data = Data(base64Encoded: String(line.dropFirst(rotationWord.count))) else { return nil }
      var reader = ByteReader(Array(data)[...], file: "")
      guard let rotation = try? KeyRotation(from: &reader, isOfPreviousDraft: true), reader.remaining == 0,
        rotations.last.map({ $0.new == rotation.old }) ?? true
      else { return nil }
      rotations.append(rotation)
    }
    guard rotations.last?.new == key.publicKey else { return nil }
    return PreviousRoot(key: key, rotations: rotations, highestSerial: noted.highestSerial)
  }

  private static let rotationWord = "rotation "
}

extension SiteKey.PreviousRelease {
  /// Decodes the delegation, and verifies its root key's signature.
  fileprivate init(of key: SiteKey, from reader: inout ByteReader, bytes: [UInt8]) throws {
    self.key = key
    serial = try reader.integer()
    _ = try reader.take(16)  // the dates
    let root = Array(try reader.take(SitePublicKey.byteCount)), release = try reader.take(SitePublicKey.byteCount)
    product = try reader.product()
    let count = try reader.count(
      limit: KeyDelegation.channelLimit, byteCount: 5, "too many channels in a key delegation")
    var channels: [SiteChannel] = []
    for _ in 0..<count { channels.append(try reader.channel()) }
    self.channels = channels
    let signature = Array(try reader.take(SiteKey.signatureByteCount))
    let message = Array("packstore delegation\0".utf8) + bytes.dropLast(SiteKey.signatureByteCount)
    guard reader.remaining == 0, release.elementsEqual(key.publicKey.bytes), 1...PackVersion.lastNumber ~= serial,
      Ed25519.isValid(signature, of: message, by: root)
    else { throw reader.corrupt("invalid key delegation") }
  }
}
