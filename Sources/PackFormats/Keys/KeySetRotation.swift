import PackStore

/// The replacement of a key set by the next one. Both sets sign: neither a stolen old set nor a new set alone is sufficient.
package struct KeySetRotation: Hashable, Sendable {
  package let new: KeySet
  private let bySome: Signatures

  private struct Signatures: Hashable, Sendable {
    let old: KeySetSignatures
    let new: KeySetSignatures
  }

  /// Returns the bytes that both sets sign.
  ///
  /// - Parameters:
  ///   - first: the id of the publisher's first root key or key set.
  ///   - old: the id of the present key set.
  package static func message(first: SitePublicKey, old: SitePublicKey, new: KeySet) -> [UInt8] {
    var writer = ByteWriter()
    writer.append(first.bytes)
    writer.append(old.bytes)
    new.encode(to: &writer)
    return writer.bytes
  }

  /// - Parameter signatures: signatures by keys of both sets. A key that belongs to both signs once.
  /// - Throws: `untrusted` if a signature is invalid, or too few are given for one of the sets.
  package init(first: SitePublicKey, old: KeySet, new: KeySet, signatures: [SitePublicKey: [UInt8]]) throws {
    let message = Self.message(first: first, old: old.id, new: new)
    self.new = new
    bySome = Signatures(
      old: try KeySetSignatures(of: message, as: .setRotation, by: old, signatures),
      new: try KeySetSignatures(of: message, as: .setRotation, by: new, signatures))
  }

  /// The new set, the signatures of the old set, the signatures of the new set.
  package func encode(to writer: inout ByteWriter) {
    new.encode(to: &writer)
    bySome.old.encode(to: &writer)
    bySome.new.encode(to: &writer)
  }

  /// Decodes a rotation and verifies all signatures.
  ///
  /// - Throws: `untrusted` if a signature is invalid; `corrupt`.
  package init(from reader: inout ByteReader, first: SitePublicKey, old: KeySet) throws {
    let begin = reader.offset
    new = try KeySet(from: &reader)
    guard new.number == old.number + 1 else { throw reader.corrupt("key sets are not numbered in order", at: begin) }
    let message = Self.message(first: first, old: old.id, new: new)
    let oldSignatures = try KeySetSignatures(of: message, as: .setRotation, by: old, from: &reader)
    bySome = Signatures(
      old: oldSignatures, new: try KeySetSignatures(of: message, as: .setRotation, by: new, from: &reader))
  }
}
