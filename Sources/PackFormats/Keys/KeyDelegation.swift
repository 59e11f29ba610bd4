import PackStore

/// A root key's signed permission for a release key to sign for a product. Clients refuse files that are signed under a lower serial
/// than they have seen. A delegation may also revoke lower serials: then versions that clients accepted under them bind no longer.
package struct KeyDelegation: Hashable, Sendable {
  /// The serial number, which rises with each delegation of the product.
  package let serial: UInt64

  /// Serials below this one are revoked: versions that clients accepted under them bind no longer. 0 if none is; at most
  /// ``serial``.
  package let revokedBelow: UInt64

  /// The date of the delegation, in nanoseconds since 1970.
  package let madeAt: Int64

  /// The end of validity, in nanoseconds since 1970; `nil` if unlimited.
  package let endsAt: Int64?

  package let rootKey: SitePublicKey

  /// The key that signs roots, archives and deltas. It may be the root key itself.
  package let releaseKey: SitePublicKey

  package let product: Store.Product

  /// The channels that the release key may sign, in bytewise order; empty for all.
  package let channels: [SiteChannel]

  private let signature: [UInt8]

  /// The maximum number of channels in a delegation.
  package static let channelLimit = 64

  /// The offset of the root key in an encoded delegation, in bytes.
  package static let rootKeyOffset = 32

  /// The serial of a root key that signs for itself: the lowest serial, so that any other delegation revokes it.
  package static let ownSerial: UInt64 = 1

  /// Creates and signs a delegation.
  ///
  /// - Throws: `invalidArgument` if the channels are too many.
  package init(
    to releaseKey: SitePublicKey, by root: SiteKey, serial: UInt64, revokedBelow: UInt64 = 0, madeAt: Int64,
    endsAt: Int64?, product: Store.Product, channels: [SiteChannel]
  ) throws {
    let channels = Set(channels).sorted()
    guard channels.count <= Self.channelLimit else {
      throw PackStoreError(
        .invalidArgument, "too many channels for a key; list at most \(Self.channelLimit), or none for all")
    }
    precondition(revokedBelow <= serial)
    self.serial = serial
    self.revokedBelow = revokedBelow
    self.madeAt = madeAt
    self.endsAt = endsAt
    self.rootKey = root.publicKey
    self.releaseKey = releaseKey
    self.product = product
    self.channels = channels
    signature = try root.signature(
      of: Self.message(serial, revokedBelow, madeAt, endsAt, root.publicKey, releaseKey, product, channels),
      as: .delegation)
  }

  package func allows(_ channel: SiteChannel) -> Bool { channels.isEmpty || channels.contains(channel) }

  /// Whether both delegations have equal fields. Their signatures may differ.
  package func saysTheSame(as other: KeyDelegation) -> Bool { message == other.message }

  // MARK: - As bytes

  /// Decodes a delegation and verifies its root key's signature.
  ///
  /// - Parameter isOfPreviousDraft: whether it revokes nothing and is signed as in the previous draft. Such a delegation is not
  ///   encoded again.
  /// - Throws: `untrusted` if the signature is invalid, `corrupt`.
  package init(from reader: inout ByteReader, isOfPreviousDraft: Bool = false) throws {
    let begin = reader.offset, start = reader
    serial = try reader.integer()
    revokedBelow = isOfPreviousDraft ? 0 : try reader.integer()
    madeAt = try reader.integer()
    let end: Int64 = try reader.integer()
    guard 1...PackVersion.lastNumber ~= serial, revokedBelow <= serial, end >= 0,
      let rootKey = SitePublicKey(try reader.take(32)),
      let releaseKey = SitePublicKey(try reader.take(32))
    else { throw reader.corrupt("invalid key delegation", at: begin) }
    endsAt = end == 0 ? nil : end
    self.rootKey = rootKey
    self.releaseKey = releaseKey
    product = try reader.product()
    let count = try reader.count(limit: Self.channelLimit, byteCount: 5, "too many channels in a key delegation")
    var channels: [SiteChannel] = []
    for _ in 0..<count { channels.append(try reader.channel()) }
    guard zip(channels, channels.dropFirst()).allSatisfy({ $0 < $1 }) else {
      throw reader.corrupt("channels of a key delegation are out of order", at: begin)
    }
    self.channels = channels
    var fields = start
    let previous = try Array(fields.take(reader.offset - begin))
    signature = Array(try reader.take(SiteKey.signatureByteCount))
    let isValid =
      isOfPreviousDraft
      ? Ed25519.isValid(signature, of: SignedKind.delegation.previousMessage(of: previous), by: rootKey.bytes)
      : rootKey.verifies(signature, of: message, as: .delegation)
    guard isValid else {
      throw PackStoreError(.untrusted, "a key delegation has an invalid signature", file: reader.file)
    }
  }

  package func encode(to writer: inout ByteWriter) {
    writer.append(message)
    writer.append(signature)
  }

  private var message: [UInt8] {
    Self.message(serial, revokedBelow, madeAt, endsAt, rootKey, releaseKey, product, channels)
  }

  private static func message(
    _ serial: UInt64, _ revokedBelow: UInt64, _ madeAt: Int64, _ endsAt: Int64?, _ rootKey: SitePublicKey,
    _ releaseKey: SitePublicKey, _ product: Store.Product, _ channels: [SiteChannel]
  ) -> [UInt8] {
    var writer = ByteWriter()
    writer.append(serial)
    writer.append(revokedBelow)
    writer.append(madeAt)
    writer.append(endsAt ?? 0)
    writer.append(rootKey.bytes)
    writer.append(releaseKey.bytes)
    writer.append(text: product.name)
    writer.append(UInt32(channels.count))
    for channel in channels { writer.append(text: channel.name) }
    return writer.bytes
  }
}
