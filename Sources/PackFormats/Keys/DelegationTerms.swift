import PackStore

/// The signed fields of a delegation.
package struct DelegationTerms: Hashable, Sendable {
  /// The serial number, which rises with each delegation of the product.
  package var serial: UInt64

  /// Serials below this one are revoked: versions that clients accepted under them bind no longer. 0 if none is; at most
  /// ``serial``.
  package var revokedBelow: UInt64

  /// The date of the delegation, in nanoseconds since 1970.
  package var madeAt: Int64

  /// The end of validity, in nanoseconds since 1970; `nil` if unlimited.
  package var endsAt: Int64?

  /// The root key, or the id of the key set.
  package var rootKey: SitePublicKey

  /// The key that signs roots, archives and deltas. It may be the root key itself.
  package var releaseKey: SitePublicKey

  package var product: Store.Product

  /// The channels that the release key may sign, in bytewise order; empty for all.
  package private(set) var channels: [SiteChannel]

  /// The maximum number of channels.
  package static let channelLimit = 64

  /// - Parameter channels: in any order.
  /// - Throws: `invalidArgument` if the channels are too many, or the serial is out of range.
  package init(
    serial: UInt64, revokedBelow: UInt64 = 0, madeAt: Int64, endsAt: Int64?, rootKey: SitePublicKey,
    releaseKey: SitePublicKey, product: Store.Product, channels: some Sequence<SiteChannel>
  ) throws {
    guard 1...PackVersion.lastNumber ~= serial, revokedBelow <= serial else {
      throw PackStoreError(.invalidArgument, "invalid serial of a delegation: \(serial)")
    }
    let sorted = Set(channels).sorted()
    guard sorted.count <= Self.channelLimit else {
      throw PackStoreError(
        .invalidArgument, "too many channels for a key; list at most \(Self.channelLimit), or none for all")
    }
    self.serial = serial
    self.revokedBelow = revokedBelow
    self.madeAt = madeAt
    self.endsAt = endsAt
    self.rootKey = rootKey
    self.releaseKey = releaseKey
    self.product = product
    self.channels = sorted
  }

  package func allows(_ channel: SiteChannel) -> Bool { channels.isEmpty || channels.contains(channel) }

  // MARK: - As bytes

  package var bytes: [UInt8] {
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

  /// - Parameter isOfPreviousDraft: whether the delegation revokes nothing and lacks that field.
  /// - Throws: `corrupt`.
  package init(from reader: inout ByteReader, isOfPreviousDraft: Bool = false) throws {
    let begin = reader.offset
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
  }
}
