import PackStore

/// A set of root keys. A fixed number of them sign together. Section 21 of `Docs/FORMAT.md` defines the bytes.
///
/// Invariants: the keys are in bytewise order, each once, each with a canonical encoding and not of small order; the threshold is from
/// 1 to their number.
package struct KeySet: Hashable, Sendable {
  /// 1 for a publisher's first set, and one more for each rotation.
  package let number: UInt32

  /// How many of the keys sign.
  package let threshold: Int

  package let keys: [SitePublicKey]

  /// The identity of the set, which takes the place of a root key in origins, draws, places and options: the key itself if it is the
  /// only one, otherwise a SHA-256.
  package let id: SitePublicKey

  /// The maximum number of keys of a set.
  package static let keyLimit = 16

  /// The highest number of a set: each publisher's root keys can be replaced 63 times.
  package static let numberLimit = UInt32(SigningAuthority.rotationLimit) + 1

  /// - Throws: `invalidArgument` if a set cannot have these keys or this threshold.
  package init(number: UInt32 = 1, threshold: Int, keys: some Sequence<SitePublicKey>) throws {
    let sorted = keys.sorted { $0.bytes.lexicographicallyPrecedes($1.bytes) }
    func fault(_ reason: String) -> PackStoreError { PackStoreError(.invalidArgument, reason) }
    guard 1...Self.keyLimit ~= sorted.count else { throw fault("a key set has from 1 to \(Self.keyLimit) keys") }
    guard 1...sorted.count ~= threshold else {
      throw fault("the threshold of a key set is from 1 to the number of its keys, \(sorted.count)")
    }
    guard Set(sorted).count == sorted.count else { throw fault("a key set contains a key twice") }
    if let weak = sorted.first(where: { !Ed25519.isAcceptable(publicKey: $0.bytes) }) {
      throw fault("'\(weak)' is not a public key that can sign")
    }
    guard 1...Self.numberLimit ~= number else {
      throw fault("more than \(SigningAuthority.rotationLimit) key rotations")
    }
    self.number = number
    self.threshold = threshold
    self.keys = sorted
    id = Self.id(threshold, sorted)
  }

  private static func id(_ threshold: Int, _ keys: [SitePublicKey]) -> SitePublicKey {
    guard keys.count > 1 else { return keys[0] }
    let counts = [UInt8(clamping: threshold), UInt8(clamping: keys.count)]
    let digest = Digest256(hashing: Array("packstore key set\0".utf8) + counts + keys.flatMap(\.bytes))
    guard let id = SitePublicKey(digest.bytes) else { preconditionFailure("a SHA-256 of all zeros") }
    return id
  }

  /// The index of a key in signatures; `nil` if the set does not contain it.
  package func index(of key: SitePublicKey) -> Int? { keys.firstIndex(of: key) }

  // MARK: - As bytes

  /// le32 number, u8 threshold, u8 number of keys, the keys.
  package func encode(to writer: inout ByteWriter) {
    writer.append(number)
    writer.append([UInt8(clamping: threshold), UInt8(clamping: keys.count)])
    for key in keys { writer.append(key.bytes) }
  }

  /// - Throws: `corrupt`.
  package init(from reader: inout ByteReader) throws {
    let begin = reader.offset
    let number: UInt32 = try reader.integer()
    let threshold: UInt8 = try reader.integer(), count: UInt8 = try reader.integer()
    guard 1...Self.keyLimit ~= Int(count) else {
      throw reader.corrupt("invalid number of keys in a key set", at: begin)
    }
    var keys: [SitePublicKey] = []
    for _ in 0..<count {
      guard let key = SitePublicKey(try reader.take(SitePublicKey.byteCount)) else {
        throw reader.corrupt("invalid key in a key set", at: begin)
      }
      keys.append(key)
    }
    guard let set = try? Self(number: number, threshold: Int(threshold), keys: keys), set.keys == keys else {
      throw reader.corrupt("invalid number, threshold or keys of a key set", at: begin)
    }
    self = set
  }
}
