import PackStore

/// The kinds of signed bytes. A signature covers the kind and the SHA-256 of the bytes, so that a signature of one kind is never
/// valid for bytes of another kind.
package enum SignedKind: String, Hashable, CaseIterable, Sendable {
  case root, delegation, rotation, image, delta, move
  case setDelegation = "key set delegation"
  case setRotation = "key set rotation"

  /// Returns the bytes that Ed25519 signs.
  package func message(of bytes: some Collection<UInt8>) -> [UInt8] {
    Array("packstore \(rawValue)\0".utf8) + Digest256(hashing: Array(bytes)).bytes
  }

  /// Returns the bytes that Ed25519 signed in the previous draft. Roots and deltas did not have their kind before them.
  package func previousMessage(of bytes: [UInt8]) -> [UInt8] {
    switch self {
    case .delegation, .rotation, .image: Array("packstore \(rawValue)\0".utf8) + bytes
    case .root, .delta, .move, .setDelegation, .setRotation: bytes
    }
  }
}
