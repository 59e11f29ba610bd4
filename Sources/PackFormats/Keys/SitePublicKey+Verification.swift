import PackStore

extension SitePublicKey {
  /// Whether the owner of the key signed `message`.
  ///
  /// - Complexity: O(*n*) in the bytes of the message.
  package func verifies(_ signature: some Collection<UInt8>, of message: some Collection<UInt8>) -> Bool {
    Ed25519.isValid(Array(signature), of: Array(message), by: bytes)
  }
}
