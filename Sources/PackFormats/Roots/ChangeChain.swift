import PackStore

/// Checks the history of a channel, record by record, from the newest one back to the first one.
///
///     var chain = try ChangeChain(of: signed, bytes)
///     while let digest = chain.next { let record = try chain.add(read(digest)) }
package struct ChangeChain: Sendable {
  package let channel: SiteChannel

  /// The SHA-256 of the record to add next; `nil` after the first record of the history, and for a root without a history.
  package private(set) var next: Digest256?

  /// The number of the record to add next; 0 if none follows.
  package private(set) var nextNumber: UInt64

  /// The content digest that the next record must have for its new root.
  private var after: Digest256?

  /// The root, until the newest record was compared with it.
  private var newest: SignedSiteRoot?

  /// - Parameter bytes: the file of the root.
  /// - Throws: `corrupt` if the root's link to its history is damaged.
  package init(of signed: SignedSiteRoot, _ bytes: [UInt8]) throws {
    let head = try signed.root.historyHead()
    channel = signed.root.channel
    next = head?.record
    nextNumber = head?.number ?? 0
    after = try signed.root.contentDigest(of: bytes)
    newest = signed
  }

  /// Checks the next record, and continues with its predecessor.
  ///
  /// - Throws: `corrupt` if the record is damaged, or does not belong to the chain; `otherDraft`, `newerFormat`. The chain is then
  ///   unchanged.
  package mutating func add(_ bytes: [UInt8]) throws -> ChangeRecord {
    guard let next else { throw ByteReader(bytes[...], file: "history").corrupt("no record follows the first one") }
    let file = SitePath.record(next).description, reader = ByteReader(bytes[...], file: file)
    guard Digest256(hashing: bytes) == next else { throw reader.corrupt("checksum mismatch") }
    let record = try ChangeRecord(decoding: bytes, file: file)
    guard record.channel == channel, record.number == nextNumber, record.after == after else {
      throw reader.corrupt("the record does not belong to the history of '\(channel)'")
    }
    if let newest {
      guard record.sequence == newest.root.sequence, record.madeAt == newest.root.madeAt,
        record.releaseKey == newest.authority?.releaseKey
      else { throw reader.corrupt("the newest record differs from the root of '\(channel)'") }
    }
    newest = nil
    self.next = record.predecessor
    nextNumber -= 1
    after = record.before
    return record
  }
}
