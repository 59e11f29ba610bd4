#if canImport(CryptoKit)
  import CryptoKit
  import PackStore

  extension Ed25519 {
    /// A secret key with its public key. CryptoKit adds randomness: two signatures of the same message differ, and both are valid.
    struct PrivateKey: Sendable {
      let seed: [UInt8]
      let publicKey: [UInt8]
      private let key: Curve25519.Signing.PrivateKey

      /// - Parameter seed: 32 random bytes.
      /// - Throws: `invalidArgument` if the seed has another length.
      init(seed: [UInt8]) throws {
        guard let key = try? Curve25519.Signing.PrivateKey(rawRepresentation: seed) else {
          throw PackStoreError(.invalidArgument, "the secret key does not have \(Ed25519.seedByteCount) bytes")
        }
        (self.seed, self.publicKey, self.key) = (seed, [UInt8](key.publicKey.rawRepresentation), key)
      }

      func signature(of message: [UInt8]) throws -> [UInt8] {
        do { return try [UInt8](key.signature(for: message)) } catch {
          throw PackStoreError(.outOfMemory, "cannot sign; CryptoKit failed")
        }
      }
    }

    static func libraryAccepts(_ signature: [UInt8], of message: [UInt8], by publicKey: [UInt8]) -> Bool {
      guard let key = try? Curve25519.Signing.PublicKey(rawRepresentation: publicKey) else { return false }
      return key.isValidSignature(signature, for: message)
    }
  }
#endif
