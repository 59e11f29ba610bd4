import PackStore

extension SitePublicKey {
  /// Whether the owner of the key signed `message` as bytes of a kind.
  ///
  /// - Complexity: O(*n*) in the bytes of the message.
  package func verifies(_ signature: some Collection<UInt8>, of message: some Collection<UInt8>, as kind: SignedKind)
    -> Bool
  {
    Ed25519.isValid(Array(signature), of: kind.message(of: message), by: bytes)
  }
}
