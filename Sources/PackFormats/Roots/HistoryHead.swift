import PackStore

/// The link from a root to the record of the change that made it: the newest one in the history of its channel. It is an extension of the
/// root that clients ignore.
package struct HistoryHead: Hashable, Sendable {
  /// The number of the newest record, above 0.
  package var number: UInt64

  /// The SHA-256 of the newest record.
  package var record: Digest256

  package init(number: UInt64, record: Digest256) {
    self.number = number
    self.record = record
  }

  /// The type of the extension: `Docs/FORMAT.md`, section 21.
  package static let extensionType: UInt16 = 0x11

  fileprivate static let numberByteCount = 8
  fileprivate static let byteCount = numberByteCount + Digest256.byteCount

  fileprivate var bytes: [UInt8] {
    var writer = ByteWriter()
    writer.append(number)
    writer.append(record.bytes)
    return writer.bytes
  }

  /// Decodes untrusted bytes.
  ///
  /// - Throws: `corrupt`.
  fileprivate init(_ bytes: [UInt8], file: String) throws {
    var reader = ByteReader(bytes[...], file: file)
    number = try reader.integer()
    record = try reader.digest()
    try reader.end()
    guard number > 0 else { throw reader.corrupt("a root with an empty history", at: 0) }
  }
}

extension SiteRoot {
  /// Returns the link to the newest record of the channel's history; `nil` if the root has none.
  ///
  /// - Throws: `corrupt`: clients ignore the fault.
  package func historyHead() throws -> HistoryHead? {
    let known = otherExtensions.first { $0.type == HistoryHead.extensionType }
    return try known.map { try HistoryHead($0.bytes, file: SitePath.root(channel).description) }
  }

  /// Sets or removes the link to the newest record.
  package mutating func setHistoryHead(_ head: HistoryHead?) {
    otherExtensions.removeAll { $0.type == HistoryHead.extensionType }
    guard let head else { return }
    otherExtensions.append(Extension(type: HistoryHead.extensionType, bytes: head.bytes))
    otherExtensions.sort { $0.type < $1.type }
  }

  /// Returns the SHA-256 of the root's bytes without the signature, with zeros in place of the SHA-256 of the newest record.
  ///
  /// - Parameter bytes: the file from which this root was decoded, or to which it was encoded.
  /// - Throws: `corrupt` if the bytes are not of this root.
  package func contentDigest(of bytes: [UInt8]) throws -> Digest256 {
    try contentDigest(ofMessage: Array(bytes.dropLast(SiteKey.signatureByteCount)))
  }

  /// - Parameter message: the signed bytes of the root.
  func contentDigest(ofMessage message: [UInt8]) throws -> Digest256 {
    var message = message
    if let range = try headRange(in: message) {
      message.replaceSubrange(range, with: [UInt8](repeating: 0, count: range.count))
    }
    return Digest256(hashing: message)
  }

  /// Returns the place of the SHA-256 of the newest record in an encoded root without its signature; `nil` if the root has none.
  private func headRange(in message: [UInt8]) throws -> Range<Int>? {
    var table = ByteWriter()
    encodeExtensions(to: &table)
    let begin = message.count - table.bytes.count
    var reader = ByteReader(table.bytes[...], file: SitePath.root(channel).description)
    guard begin >= 0, message[begin...].elementsEqual(table.bytes) else {
      throw reader.corrupt("the bytes belong to another root")
    }
    for _ in 0..<(try reader.integer(UInt32.self)) {
      let type: UInt16 = try reader.integer()
      _ = try reader.integer(UInt16.self)
      let byteCount = Int(try reader.integer(UInt32.self)), place = begin + reader.offset
      _ = try reader.take(byteCount)
      guard type == HistoryHead.extensionType, byteCount == HistoryHead.byteCount else { continue }
      return place + HistoryHead.numberByteCount..<place + HistoryHead.byteCount
    }
    return nil
  }
}
