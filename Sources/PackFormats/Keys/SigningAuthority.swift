import PackStore

/// The chain of keys that authorizes a signature for a product: the rotations of the root key or of the key sets, and the delegation by
/// the last of them to a release key.
///
/// The id of a key set takes the place of a root key. The first root key identifies the publisher. With the product it is the origin of packs, which rotations do not change.
package struct SigningAuthority: Hashable, Sendable {
  /// The rotations in order: the old key of each is the new key of the previous one.
  package let rotations: [KeyRotation]

  /// The key sets, including `rotations`; `nil` if every root key is a single key.
  package let sets: KeySetChain?
  package let delegation: KeyDelegation

  /// The maximum number of rotations.
  package static let rotationLimit = 63

  /// An upper bound for the size of an encoded authority in bytes.
  package static let byteCountLimit = 256 << 10

  package var firstKey: SitePublicKey { sets?.firstID ?? rotations.first?.old ?? delegation.rootKey }
  package var rootKey: SitePublicKey { delegation.rootKey }
  package var releaseKey: SitePublicKey { delegation.releaseKey }

  /// All root keys in order, from the first one to the present one.
  package var rootKeys: [SitePublicKey] { sets?.ids ?? (rotations.map(\.old) + [rootKey]) }

  /// Whether both authorities have equal fields. Their signatures may differ, because a key may sign the same bytes differently
  /// each time.
  package func saysTheSame(as other: SigningAuthority) -> Bool {
    rootKeys == other.rootKeys && delegation.saysTheSame(as: other.delegation)
  }

  package var origin: Store.Origin { .signed(firstKey, delegation.product) }

  /// - Throws: `invalidArgument` if the last rotation does not end at the delegation's root key, or if the rotations are too many.
  package init(rotations: [KeyRotation], delegation: KeyDelegation) throws {
    guard rotations.count <= Self.rotationLimit else {
      throw PackStoreError(.invalidArgument, "more than \(Self.rotationLimit) key rotations")
    }
    guard Self.leads(rotations, to: delegation.rootKey) else {
      throw PackStoreError(.invalidArgument, "the delegation is not signed by the last root key of the rotations")
    }
    self.rotations = rotations
    sets = nil
    self.delegation = delegation
  }

  /// - Throws: `invalidArgument` if the delegation is not by the last set, or if single keys are enough.
  package init(sets: KeySetChain, delegation: KeyDelegation) throws {
    guard !sets.hasSingleKeys, sets.last.id == delegation.rootKey else {
      throw PackStoreError(.invalidArgument, "the delegation is not signed by the present key set")
    }
    rotations = sets.before
    self.sets = sets
    self.delegation = delegation
  }

  /// Decodes an untrusted authority and verifies every signature in it.
  ///
  /// - Parameter isOfPreviousDraft: whether it is signed as in the previous draft. Such an authority is not encoded again.
  /// - Throws: `untrusted` if a signature is invalid, `corrupt`.
  package init(from reader: inout ByteReader, isOfPreviousDraft: Bool = false) throws {
    let begin = reader.offset
    var peek = reader
    if !isOfPreviousDraft, try peek.integer(UInt32.self) == KeySetChain.mark {
      self = try Self(withSetsFrom: &reader)
      return
    }
    let count = try reader.count(
      limit: Self.rotationLimit, byteCount: KeyRotation.byteCount, "too many key rotations")
    var rotations: [KeyRotation] = []
    for _ in 0..<count { rotations.append(try KeyRotation(from: &reader, isOfPreviousDraft: isOfPreviousDraft)) }
    let delegation = try KeyDelegation(from: &reader, isOfPreviousDraft: isOfPreviousDraft)
    guard Self.leads(rotations, to: delegation.rootKey) else {
      throw reader.corrupt("rotations do not end at the root key of the delegation", at: begin)
    }
    self.rotations = rotations
    sets = nil
    self.delegation = delegation
  }

  private init(withSetsFrom reader: inout ByteReader) throws {
    let begin = reader.offset
    let sets = try KeySetChain(from: &reader)
    guard !sets.hasSingleKeys else { throw reader.corrupt("key sets of single keys", at: begin) }
    delegation = try KeyDelegation(from: &reader, by: sets.last, first: sets.firstID)
    rotations = sets.before
    self.sets = sets
  }

  private static func leads(_ rotations: [KeyRotation], to key: SitePublicKey) -> Bool {
    zip(rotations, rotations.dropFirst()).allSatisfy { $0.new == $1.old } && (rotations.last?.new ?? key) == key
  }

  package var bytes: [UInt8] {
    var writer = ByteWriter()
    if let sets {
      sets.encode(to: &writer)
    } else {
      writer.append(UInt32(clamping: rotations.count))
      for rotation in rotations { rotation.encode(to: &writer) }
    }
    delegation.encode(to: &writer)
    return writer.bytes
  }
}
