public import PackStore
import Synchronization

/// Signs with a key whose secret half may be outside this process: in a key service, or on another machine. ``SiteKey`` verifies every
/// signature before it uses it.
public protocol RootSigner: Sendable {
  /// The public half of the key.
  var publicKey: SitePublicKey { get }

  /// The date of everything that is signed, in nanoseconds since 1970; `nil` for the clock. A signer that needs several runs of a command
  /// has one, so that each run signs the same bytes.
  var signingTime: Int64? { get }

  /// Returns the Ed25519 signature of the message: 64 bytes. Called on a thread that may block, by one thread at a time for each
  /// publication.
  ///
  /// - Throws: an error that ends the publication; roots that were not signed are unchanged.
  func signature(of message: SigningMessage) throws -> [UInt8]
}

extension RootSigner {
  public var signingTime: Int64? { nil }
}

/// The exact bytes that a key signs, for a purpose. A signature for one purpose is never valid for another one.
public struct SigningMessage: Hashable, Sendable {
  /// The kind of the signed object: `root`, `delta`, `image`, `delegation`, `rotation`, `move`, `key set delegation` or
  /// `key set rotation`.
  public let purpose: String

  /// The bytes to sign with Ed25519 as in RFC 8032, without prehashing. They contain the purpose and the SHA-256 of the signed object.
  public let bytes: [UInt8]

  package init(of content: some Collection<UInt8>, as kind: SignedKind) {
    purpose = kind.rawValue
    bytes = kind.message(of: content)
  }

  /// A message as another machine receives it; `nil` if the bytes are not a message.
  package init?(signed bytes: [UInt8]) {
    guard
      let kind = SignedKind.allCases.first(where: { kind in
        let begin = Array("packstore \(kind.rawValue)\0".utf8)
        return bytes.starts(with: begin) && bytes.count == begin.count + Digest256.byteCount
      })
    else { return nil }
    purpose = kind.rawValue
    self.bytes = bytes
  }
}

/// The signer of a key whose secret half is in its file.
struct SeedSigner: RootSigner {
  let key: Ed25519.PrivateKey
  let publicKey: SitePublicKey

  init(_ key: Ed25519.PrivateKey) {
    self.key = key
    guard let publicKey = SitePublicKey(key.publicKey) else {
      preconditionFailure("invalid public key: the key of a valid seed is never all zeros")
    }
    self.publicKey = publicKey
  }

  func signature(of message: SigningMessage) throws -> [UInt8] { try key.signature(of: message.bytes) }
}

/// Asks another signer for each message once. A root key that signs for itself needs the same delegation for each root.
final class RememberingSigner: RootSigner {
  private let signer: any RootSigner
  private let signatures = Mutex<[SigningMessage: [UInt8]]>([:])

  init(_ signer: any RootSigner) { self.signer = signer }

  var publicKey: SitePublicKey { signer.publicKey }
  var signingTime: Int64? { signer.signingTime }

  func signature(of message: SigningMessage) throws -> [UInt8] {
    if let known = signatures.withLock({ $0[message] }) { return known }
    let signature = try signer.signature(of: message)
    signatures.withLock { $0[message] = signature }
    return signature
  }
}

/// The signer of a key whose secret half is unknown: it signs nothing.
struct MissingSigner: RootSigner {
  let publicKey: SitePublicKey

  func signature(of message: SigningMessage) throws -> [UInt8] {
    var error = PackStoreError(.invalidArgument, "the file of the key \(publicKey) does not contain its secret half")
    error.specificRemedy = "sign with the command or the person that has it, or name the file with the secret half"
    throw error
  }
}
