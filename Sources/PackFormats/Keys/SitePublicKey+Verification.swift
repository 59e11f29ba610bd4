import PackStore

extension SitePublicKey {
  /// Whether the owner of the key signed `message` as bytes of a kind.
  ///
  /// - Parameter isOfPreviousDraft: whether it is signed as in the previous draft of the format.
  /// - Complexity: O(*n*) in the bytes of the message.
  package func verifies(
    _ signature: some Collection<UInt8>, of message: some Collection<UInt8>, as kind: SignedKind,
    isOfPreviousDraft: Bool = false
  ) -> Bool {
    let signed = isOfPreviousDraft ? kind.previousMessage(of: Array(message)) : kind.message(of: message)
    return Ed25519.isValid(Array(signature), of: signed, by: bytes)
  }

  /// Whether the owner of the key signed exactly these bytes: ``SigningMessage/bytes``.
  package func verifies(_ signature: [UInt8], ofSigned bytes: [UInt8]) -> Bool {
    Ed25519.isValid(signature, of: bytes, by: self.bytes)
  }
}
