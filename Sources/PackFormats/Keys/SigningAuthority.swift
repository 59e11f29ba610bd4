import PackStore

/// Who may sign for a product, and by whose word: the root keys that followed each other, and what the last of them
/// delegated.
///
/// The first root key is what a publisher is known by: with the product it is the origin of packs, whatever key follows
/// it.
package struct SigningAuthority: Hashable, Sendable {
  /// Each begins with the key to which the one before leads.
  package let rotations: [KeyRotation]
  package let delegation: KeyDelegation

  /// The most rotations that there can be.
  package static let rotationLimit = 63

  /// More bytes than any has.
  package static let byteCountLimit = 64 << 10

  package var firstKey: SitePublicKey { rotations.first?.old ?? delegation.rootKey }
  package var rootKey: SitePublicKey { delegation.rootKey }
  package var releaseKey: SitePublicKey { delegation.releaseKey }

  /// All root keys there were, the first one first.
  package var rootKeys: [SitePublicKey] { rotations.map(\.old) + [rootKey] }

  /// Whether both say the same, though signatures differ: a key may sign the same words otherwise each time.
  package func saysTheSame(as other: SigningAuthority) -> Bool {
    rootKeys == other.rootKeys && delegation.saysTheSame(as: other.delegation)
  }

  package var origin: Store.Origin { .signed(firstKey, delegation.product) }

  /// - Throws: `invalidArgument` when the rotations do not lead to the delegation's root key, or are too many.
  package init(rotations: [KeyRotation], delegation: KeyDelegation) throws {
    guard rotations.count <= Self.rotationLimit else {
      throw PackStoreError(.invalidArgument, "a root key follows another \(Self.rotationLimit) times at most")
    }
    guard Self.leads(rotations, to: delegation.rootKey) else {
      throw PackStoreError(.invalidArgument, "the delegation is not by the root key to which the rotations lead")
    }
    self.rotations = rotations
    self.delegation = delegation
  }

  /// Takes bytes from outside apart, of which every signature is right.
  ///
  /// - Throws: `untrusted` for a wrong signature, `corrupt`.
  package init(from reader: inout ByteReader) throws {
    let begin = reader.offset
    let count = try reader.count(
      limit: Self.rotationLimit, byteCount: KeyRotation.byteCount, "root keys follow each other too often")
    var rotations: [KeyRotation] = []
    for _ in 0..<count { rotations.append(try KeyRotation(from: &reader)) }
    delegation = try KeyDelegation(from: &reader)
    guard Self.leads(rotations, to: delegation.rootKey) else {
      throw reader.corrupt("the root keys do not lead to the one that delegates", at: begin)
    }
    self.rotations = rotations
  }

  private static func leads(_ rotations: [KeyRotation], to key: SitePublicKey) -> Bool {
    zip(rotations, rotations.dropFirst()).allSatisfy { $0.new == $1.old } && (rotations.last?.new ?? key) == key
  }

  package var bytes: [UInt8] {
    var writer = ByteWriter()
    writer.append(UInt32(rotations.count))
    for rotation in rotations { rotation.encode(to: &writer) }
    delegation.encode(to: &writer)
    return writer.bytes
  }
}
