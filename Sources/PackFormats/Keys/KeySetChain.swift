import PackStore

/// The key sets of a publisher in order. A publisher with one root key needs none: its rotations have a shorter form, and come before
/// the first set if it changed to key sets.
package struct KeySetChain: Hashable, Sendable {
  /// The rotations of single root keys before the first set.
  package let before: [KeyRotation]
  package let first: KeySet
  package let rotations: [KeySetRotation]

  /// The number of the authority's rotations in bytes that begin with a key set chain. Readers of single keys refuse it.
  package static let mark: UInt32 = 0xffff_ffff

  /// The present set.
  package var last: KeySet { rotations.last?.new ?? first }

  /// The ids in order, from the publisher's first root key or set to the present set.
  package var ids: [SitePublicKey] { before.map(\.old) + [first.id] + rotations.map(\.new.id) }

  /// The id that identifies the publisher, and does not change with rotations.
  package var firstID: SitePublicKey { before.first?.old ?? first.id }

  /// Whether single root keys are enough to describe the chain.
  package var hasSingleKeys: Bool { first.keys.count == 1 && rotations.allSatisfy { $0.new.keys.count == 1 } }

  /// - Throws: `invalidArgument` if the first set does not continue the rotations of single keys.
  package init(after before: [KeyRotation] = [], first: KeySet) throws {
    guard Self.continues(before, first) else {
      throw PackStoreError(.invalidArgument, "the first key set does not continue the rotations of the root key")
    }
    self.before = before
    self.first = first
    rotations = []
  }

  private init(_ chain: KeySetChain, _ rotations: [KeySetRotation]) {
    (before, first, self.rotations) = (chain.before, chain.first, rotations)
  }

  /// Returns the chain with one more rotation.
  ///
  /// - Throws: `invalidArgument` if the set has another number than the next one, or was used before.
  package func appending(_ rotation: KeySetRotation) throws -> KeySetChain {
    try requireNext(rotation.new)
    return KeySetChain(self, rotations + [rotation])
  }

  /// - Throws: `invalidArgument` if a rotation cannot lead to the set.
  package func requireNext(_ set: KeySet) throws {
    guard set.number == last.number + 1, !ids.contains(set.id) else {
      throw PackStoreError(
        .invalidArgument, "the set \(set.number) cannot replace the set \(last.number): a set is used once, in order")
    }
  }

  private static func continues(_ before: [KeyRotation], _ first: KeySet) -> Bool {
    guard let last = before.last else { return first.number == 1 }
    return first.number == before.count + 1 && first.keys == [last.new]
      && zip(before, before.dropFirst()).allSatisfy { $0.new == $1.old }
  }

  // MARK: - As bytes

  /// le32 mark, le32 number of rotations of single keys, those rotations, the first set, le32 number of rotations, the rotations.
  package func encode(to writer: inout ByteWriter) {
    writer.append(Self.mark)
    writer.append(UInt32(clamping: before.count))
    for rotation in before { rotation.encode(to: &writer) }
    first.encode(to: &writer)
    writer.append(UInt32(clamping: rotations.count))
    for rotation in rotations { rotation.encode(to: &writer) }
  }

  package var bytes: [UInt8] {
    var writer = ByteWriter()
    encode(to: &writer)
    return writer.bytes
  }

  /// Decodes a chain and verifies all signatures.
  ///
  /// - Throws: `untrusted` if a signature is invalid; `corrupt`.
  package init(from reader: inout ByteReader) throws {
    let begin = reader.offset
    guard try reader.integer(UInt32.self) == Self.mark else {
      throw reader.corrupt("not a chain of key sets", at: begin)
    }
    let limit = SigningAuthority.rotationLimit
    let count = try reader.count(limit: limit, byteCount: KeyRotation.byteCount, "too many key rotations")
    var before: [KeyRotation] = []
    for _ in 0..<count { before.append(try KeyRotation(from: &reader)) }
    let first = try KeySet(from: &reader)
    guard var chain = try? Self(after: before, first: first) else {
      throw reader.corrupt("the first key set does not continue the key rotations", at: begin)
    }
    let rotationCount = try reader.count(
      limit: limit - count, byteCount: Self.rotationByteCount, "too many key rotations")
    for _ in 0..<rotationCount {
      let place = reader.offset
      let rotation = try KeySetRotation(from: &reader, first: chain.firstID, old: chain.last)
      guard let next = try? chain.appending(rotation) else {
        throw reader.corrupt("a key set is used twice", at: place)
      }
      chain = next
    }
    self = chain
  }

  /// The size of the shortest rotation: to one key, with one signature of each set.
  private static let rotationByteCount = 6 + SitePublicKey.byteCount + 2 * (1 + SiteKey.signatureByteCount)
}
