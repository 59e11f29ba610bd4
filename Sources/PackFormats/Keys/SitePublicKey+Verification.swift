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
}
