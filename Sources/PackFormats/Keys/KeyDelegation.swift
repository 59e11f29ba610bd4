import PackStore

/// A root key's word that another key, the release key, may sign for a product. A publisher revokes a release key by a
/// delegation of a higher serial.
package struct KeyDelegation: Hashable, Sendable {
  /// Rises with each delegation of the product.
  package let serial: UInt64

  /// Nanoseconds since 1970.
  package let madeAt: Int64

  /// Nanoseconds since 1970; nil: without end.
  package let endsAt: Int64?

  package let rootKey: SitePublicKey

  /// The one that signs roots, archives and deltas. It may be the root key itself.
  package let releaseKey: SitePublicKey

  package let product: Store.Product

  /// Which channels it may sign, in order; empty: all.
  package let channels: [SiteChannel]

  private let signature: [UInt8]

  /// The most channels that a delegation names.
  package static let channelLimit = 64

  /// Where its bytes name the root key.
  package static let rootKeyOffset = 24

  /// Of a root key that signs for itself: the first that there is, so that any other revokes it.
  package static let ownSerial: UInt64 = 1

  /// - Throws: `invalidArgument` for too many channels.
  package init(
    to releaseKey: SitePublicKey, by root: SiteKey, serial: UInt64, madeAt: Int64, endsAt: Int64?,
    product: Store.Product, channels: [SiteChannel]
  ) throws {
    let channels = Set(channels).sorted()
    guard channels.count <= Self.channelLimit else {
      throw PackStoreError(.invalidArgument, "a key is for at most \(Self.channelLimit) channels, or for all")
    }
    self.serial = serial
    self.madeAt = madeAt
    self.endsAt = endsAt
    self.rootKey = root.publicKey
    self.releaseKey = releaseKey
    self.product = product
    self.channels = channels
    signature = try root.signature(
      of: Self.message(serial, madeAt, endsAt, root.publicKey, releaseKey, product, channels))
  }

  package func allows(_ channel: SiteChannel) -> Bool { channels.isEmpty || channels.contains(channel) }

  /// Whether both say the same, whatever their signatures are.
  package func saysTheSame(as other: KeyDelegation) -> Bool { message == other.message }

  // MARK: - As bytes

  /// Takes a delegation that its root key signed.
  ///
  /// - Throws: `untrusted` for a wrong signature, `corrupt`.
  package init(from reader: inout ByteReader) throws {
    let begin = reader.offset
    serial = try reader.integer()
    madeAt = try reader.integer()
    let end: Int64 = try reader.integer()
    guard 1...PackVersion.lastNumber ~= serial, end >= 0, let rootKey = SitePublicKey(try reader.take(32)),
      let releaseKey = SitePublicKey(try reader.take(32))
    else { throw reader.corrupt("no delegation is like this", at: begin) }
    endsAt = end == 0 ? nil : end
    self.rootKey = rootKey
    self.releaseKey = releaseKey
    product = try reader.product()
    let count = try reader.count(limit: Self.channelLimit, byteCount: 5, "a delegation names too many channels")
    var channels: [SiteChannel] = []
    for _ in 0..<count { channels.append(try reader.channel()) }
    guard zip(channels, channels.dropFirst()).allSatisfy({ $0 < $1 }) else {
      throw reader.corrupt("the channels of a delegation are out of order", at: begin)
    }
    self.channels = channels
    signature = Array(try reader.take(SiteKey.signatureByteCount))
    guard rootKey.verifies(signature, of: message) else {
      throw PackStoreError(
        .untrusted, "the root key did not sign what the release key may: a signature is wrong", file: reader.file)
    }
  }

  package func encode(to writer: inout ByteWriter) {
    writer.append(Self.fields(serial, madeAt, endsAt, rootKey, releaseKey, product, channels))
    writer.append(signature)
  }

  private var message: [UInt8] { Self.message(serial, madeAt, endsAt, rootKey, releaseKey, product, channels) }

  private static func message(
    _ serial: UInt64, _ madeAt: Int64, _ endsAt: Int64?, _ rootKey: SitePublicKey, _ releaseKey: SitePublicKey,
    _ product: Store.Product, _ channels: [SiteChannel]
  ) -> [UInt8] {
    Array("packstore delegation\0".utf8) + fields(serial, madeAt, endsAt, rootKey, releaseKey, product, channels)
  }

  private static func fields(
    _ serial: UInt64, _ madeAt: Int64, _ endsAt: Int64?, _ rootKey: SitePublicKey, _ releaseKey: SitePublicKey,
    _ product: Store.Product, _ channels: [SiteChannel]
  ) -> [UInt8] {
    var writer = ByteWriter()
    writer.append(serial)
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
