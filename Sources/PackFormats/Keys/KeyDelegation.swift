import PackStore

/// A signed permission of a root key, or of a key set, for a release key to sign for a product. Clients refuse files that are signed
/// under a lower serial than they have seen. A delegation may also revoke lower serials: then versions that clients accepted under them
/// bind no longer.
@dynamicMemberLookup
package struct KeyDelegation: Hashable, Sendable {
  private let terms: DelegationTerms
  private let proof: Proof

  private enum Proof: Hashable, Sendable {
    case key([UInt8])
    case set(KeySetSignatures)
  }

  /// The maximum number of channels in a delegation.
  package static let channelLimit = DelegationTerms.channelLimit

  /// The offset of the root key in an encoded delegation, in bytes.
  package static let rootKeyOffset = 32

  /// The serial of a root key that signs for itself: the lowest serial, so that any other delegation revokes it.
  package static let ownSerial: UInt64 = 1

  /// Creates and signs a delegation by a root key.
  ///
  /// - Throws: `invalidArgument` if the channels are too many, or the serial is out of range; errors of the key's signer.
  package init(
    to releaseKey: SitePublicKey, by root: SiteKey, serial: UInt64, revokedBelow: UInt64 = 0, madeAt: Int64,
    endsAt: Int64?, product: Store.Product, channels: [SiteChannel]
  ) throws {
    terms = try DelegationTerms(
      serial: serial, revokedBelow: revokedBelow, madeAt: madeAt, endsAt: endsAt, rootKey: root.publicKey,
      releaseKey: releaseKey, product: product, channels: channels)
    proof = .key(try root.signature(of: terms.bytes, as: .delegation))
  }

  /// Creates a delegation that keys of a set signed.
  ///
  /// - Parameter first: the id of the publisher's first root key or set.
  /// - Throws: `untrusted` if a signature is invalid, or too few are given; `invalidArgument` if the terms are of another set.
  package init(
    _ terms: DelegationTerms, by set: KeySet, first: SitePublicKey, signatures: [SitePublicKey: [UInt8]]
  ) throws {
    guard terms.rootKey == set.id else {
      throw PackStoreError(.invalidArgument, "the delegation is by another key set than the present one")
    }
    self.terms = terms
    proof = .set(
      try KeySetSignatures(of: Self.message(terms, first: first), as: .setDelegation, by: set, signatures))
  }

  /// Returns the bytes that the keys of a set sign.
  ///
  /// - Parameter first: the id of the publisher's first root key or set.
  package static func message(_ terms: DelegationTerms, first: SitePublicKey) -> [UInt8] { first.bytes + terms.bytes }

  package subscript<Value>(dynamicMember field: KeyPath<DelegationTerms, Value>) -> Value { terms[keyPath: field] }

  package func allows(_ channel: SiteChannel) -> Bool { terms.allows(channel) }

  /// Whether both delegations have equal fields. Their signatures may differ.
  package func saysTheSame(as other: KeyDelegation) -> Bool { terms == other.terms }

  // MARK: - As bytes

  /// Decodes a delegation by a root key and verifies its signature.
  ///
  /// - Parameter isOfPreviousDraft: whether it revokes nothing and is signed as in the previous draft. Such a delegation is not
  ///   encoded again.
  /// - Throws: `untrusted` if the signature is invalid, `corrupt`.
  package init(from reader: inout ByteReader, isOfPreviousDraft: Bool = false) throws {
    let start = reader
    terms = try DelegationTerms(from: &reader, isOfPreviousDraft: isOfPreviousDraft)
    var fields = start
    let signed = try fields.take(reader.offset - start.offset)
    let signature = Array(try reader.take(SiteKey.signatureByteCount))
    guard terms.rootKey.verifies(signature, of: signed, as: .delegation, isOfPreviousDraft: isOfPreviousDraft) else {
      throw PackStoreError(.untrusted, "a key delegation has an invalid signature", file: reader.file)
    }
    proof = .key(signature)
  }

  /// Decodes a delegation by a key set and verifies its signatures.
  ///
  /// - Parameter first: the id of the publisher's first root key or set.
  /// - Throws: `untrusted` if a signature is invalid; `corrupt`.
  package init(from reader: inout ByteReader, by set: KeySet, first: SitePublicKey) throws {
    let begin = reader.offset
    terms = try DelegationTerms(from: &reader)
    guard terms.rootKey == set.id else {
      throw reader.corrupt("the delegation is by another key set than the present one", at: begin)
    }
    proof = .set(
      try KeySetSignatures(of: Self.message(terms, first: first), as: .setDelegation, by: set, from: &reader))
  }

  package func encode(to writer: inout ByteWriter) {
    writer.append(terms.bytes)
    switch proof {
    case .key(let signature): writer.append(signature)
    case .set(let signatures): signatures.encode(to: &writer)
    }
  }
}
