import PackStore

/// The record of one change of a channel's root. It never changes, is named by its SHA-256, and names its predecessor:
/// `Docs/FORMAT.md`, section 21.
package struct ChangeRecord: Hashable, Sendable {
  package var channel: SiteChannel

  /// The position in the history of the channel, from 1 on.
  package var number: UInt64

  /// The creation time of the new root, in nanoseconds since 1970.
  package var madeAt: Int64

  /// The sequence number of the new root.
  package var sequence: UInt64

  /// The release key that signed the new root.
  package var releaseKey: SitePublicKey

  /// The SHA-256 of the record before this one; `nil` for the first one, and only for it.
  package var predecessor: Digest256?

  /// The content digest of the previous root; `nil` if no previous root was readable.
  package var before: Digest256?

  /// The content digest of the new root.
  package var after: Digest256

  /// The SHA-256 of the private part; `nil` if the record has none.
  package var privatePart: Digest256?

  package static let byteCount = 264
  private static let magic: StaticString = "PKSHIST0"

  package init(
    channel: SiteChannel, number: UInt64, madeAt: Int64, sequence: UInt64, releaseKey: SitePublicKey,
    predecessor: Digest256?, before: Digest256?, after: Digest256, privatePart: Digest256?
  ) {
    self.channel = channel
    self.number = number
    self.madeAt = madeAt
    self.sequence = sequence
    self.releaseKey = releaseKey
    self.predecessor = predecessor
    self.before = before
    self.after = after
    self.privatePart = privatePart
  }

  /// The bytes of the file.
  package var bytes: [UInt8] {
    var writer = ByteWriter()
    writer.append(Self.magic.withUTF8Buffer(Array.init))
    writer.append(SiteFormat.current)
    writer.append(UInt32(0))
    writer.append(number)
    writer.append(madeAt)
    writer.append(sequence)
    writer.append(releaseKey.bytes)
    for digest in [predecessor, before, after, privatePart] { writer.append((digest ?? .zero).bytes) }
    writer.append(channel.name.utf8)
    writer.append([UInt8](repeating: 0, count: Self.byteCount - writer.bytes.count))
    return writer.bytes
  }

  package var digest: Digest256 { Digest256(hashing: bytes) }

  /// Decodes an untrusted record.
  ///
  /// - Parameter file: the file name for errors.
  /// - Throws: `corrupt`, `newerFormat`, `otherDraft`.
  package init(decoding bytes: [UInt8], file: String) throws {
    var reader = ByteReader(bytes[...], file: file)
    try reader.header(Self.magic)
    try reader.reserved()
    number = try reader.integer()
    madeAt = try reader.integer()
    sequence = try reader.integer()
    guard let key = SitePublicKey(try reader.take(SitePublicKey.byteCount)) else {
      throw reader.corrupt("a record of a change without a key")
    }
    releaseKey = key
    let digests = try (0..<4).map { _ in try reader.digest() }.map { $0 == .zero ? nil : $0 }
    guard let after = digests[2], number > 0, (digests[0] == nil) == (number == 1), sequence > 0 else {
      throw reader.corrupt("invalid number or digest in a record of a change")
    }
    (predecessor, before, self.after, privatePart) = (digests[0], digests[1], after, digests[3])
    let begin = reader.offset, name = try reader.take(SiteChannel.byteCountLimit)
    let text = String(decoding: name.prefix { $0 != 0 }, as: UTF8.self)
    guard let channel = try? SiteChannel(text), name.dropFirst(text.utf8.count).allSatisfy({ $0 == 0 }) else {
      throw reader.corrupt("invalid channel name", at: begin)
    }
    self.channel = channel
    try reader.end()
  }
}

extension SiteRoot {
  /// Adds this root to the history of its channel: sets the link to a new record.
  ///
  /// - Parameters:
  ///   - previous: the root that this one replaces, and its bytes; `nil` if none is readable.
  ///   - key: the key that signs this root.
  ///   - privatePart: the SHA-256 of the record's private part; `nil` if it has none.
  /// - Returns: the record, which must be durable before the root is written.
  /// - Throws: `invalidArgument`, `untrusted` as ``encode(signedBy:)``.
  package mutating func addToHistory(
    after previous: (root: SiteRoot, bytes: [UInt8])?, signedBy key: SiteKey, privatePart: Digest256?
  ) throws -> ChangeRecord {
    // A link that this version cannot read does not keep a publisher from signing: a new chain begins.
    let last = previous.flatMap { try? $0.root.historyHead() }
    let (next, overflows) = (last?.number ?? 0).addingReportingOverflow(1)
    let number = overflows ? 1 : next
    setHistoryHead(HistoryHead(number: number, record: .zero))
    let record = ChangeRecord(
      channel: channel, number: number, madeAt: madeAt, sequence: sequence,
      releaseKey: try key.authority(for: product, channel).releaseKey, predecessor: overflows ? nil : last?.record,
      before: try previous.map { try $0.root.contentDigest(of: $0.bytes) },
      after: try contentDigest(ofMessage: try message(signedBy: key)), privatePart: privatePart)
    setHistoryHead(HistoryHead(number: number, record: record.digest))
    return record
  }
}
