#if canImport(CSodium)
  import CSodium
  import PackStore

  extension Ed25519 {
    /// A secret key with its public key. Signatures are deterministic: the same key and message give the same bytes.
    struct PrivateKey: Sendable {
      let seed: [UInt8]
      let publicKey: [UInt8]
      /// libsodium's own form: the seed followed by the public key.
      private let expanded: [UInt8]

      /// - Parameter seed: 32 random bytes.
      /// - Throws: `invalidArgument` if the seed has another length.
      init(seed: [UInt8]) throws {
        guard seed.count == Ed25519.seedByteCount else {
          throw PackStoreError(.invalidArgument, "the secret key does not have \(Ed25519.seedByteCount) bytes")
        }
        Ed25519.prepare
        var publicKey = [UInt8](repeating: 0, count: Ed25519.publicKeyByteCount)
        var expanded = [UInt8](repeating: 0, count: Ed25519.seedByteCount + Ed25519.publicKeyByteCount)
        crypto_sign_ed25519_seed_keypair(&publicKey, &expanded, seed)
        (self.seed, self.publicKey, self.expanded) = (seed, publicKey, expanded)
      }

      /// - Throws: never; signing with CryptoKit can fail.
      func signature(of message: [UInt8]) throws -> [UInt8] {
        var signature = [UInt8](repeating: 0, count: Ed25519.signatureByteCount)
        crypto_sign_ed25519_detached(&signature, nil, message, UInt64(message.count), expanded)
        return signature
      }
    }

    static func libraryAccepts(_ signature: [UInt8], of message: [UInt8], by publicKey: [UInt8]) -> Bool {
      prepare
      return crypto_sign_ed25519_verify_detached(signature, message, UInt64(message.count), publicKey) == 0
    }

    /// Selects libsodium's fastest code for this processor, once. Signing and verifying work even if the selection fails.
    private static let prepare: Void = { _ = sodium_init() }()
  }
#endif
