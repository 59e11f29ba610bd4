import PackStore

/// Ed25519 signatures as in RFC 8032, by CryptoKit on Apple's platforms and by libsodium elsewhere.
///
/// The libraries accept different degenerate inputs. Section 21 of `FORMAT.md` therefore lists signatures that are refused before
/// the library checks them, so that a signature is valid on every platform or on none.
enum Ed25519 {
  static let seedByteCount = 32
  static let publicKeyByteCount = 32
  static let signatureByteCount = 64

  /// Whether `signature` is the key owner's signature of `message`.
  ///
  /// - Complexity: O(*n*) in the bytes of the message.
  static func isValid(_ signature: [UInt8], of message: [UInt8], by publicKey: [UInt8]) -> Bool {
    guard signature.count == signatureByteCount, publicKey.count == publicKeyByteCount else { return false }
    let point = signature.prefix(publicKeyByteCount), scalar = signature.suffix(publicKeyByteCount)
    guard isAcceptable(point: publicKey[...]), isAcceptable(point: point), isCanonical(scalar: scalar) else {
      return false
    }
    return libraryAccepts(signature, of: message, by: publicKey)
  }

  // MARK: - Encodings

  /// Whether 32 bytes can be a public key: a canonical encoding of a point that is not of small order. The library checks whether the
  /// point exists.
  static func isAcceptable(publicKey: [UInt8]) -> Bool {
    publicKey.count == publicKeyByteCount && isAcceptable(point: publicKey[...])
  }

  /// Whether a little-endian scalar is below the order of the group, L.
  private static func isCanonical(scalar: ArraySlice<UInt8>) -> Bool {
    scalar.reversed().lexicographicallyPrecedes(order.reversed())
  }

  /// Whether 32 bytes are the canonical encoding of a point whose order is not 1, 2, 4 or 8.
  ///
  /// An encoding is the y coordinate, little-endian, with the sign of x in the highest bit. The library checks whether a point with
  /// this coordinate exists.
  private static func isAcceptable(point: ArraySlice<UInt8>) -> Bool {
    var y = Array(point)
    y[publicKeyByteCount - 1] &= 0x7f
    return y.reversed().lexicographicallyPrecedes(prime.reversed()) && !smallOrderCoordinates.contains(y)
  }

  /// L = 2^252 + 27742317777372353535851937790883648493.
  private static let order: [UInt8] =
    [
      0xed, 0xd3, 0xf5, 0x5c, 0x1a, 0x63, 0x12, 0x58, 0xd6, 0x9c, 0xf7, 0xa2, 0xde, 0xf9, 0xde, 0x14,
    ] + [UInt8](repeating: 0, count: 15) + [0x10]

  /// p = 2^255 - 19.
  private static let prime: [UInt8] = [0xed] + [UInt8](repeating: 0xff, count: 30) + [0x7f]

  /// The y coordinates of the eight points whose order divides 8: 1, -1, 0 and the two of order 8.
  private static let smallOrderCoordinates: [[UInt8]] = [
    [1] + [UInt8](repeating: 0, count: 31),
    [0xec] + [UInt8](repeating: 0xff, count: 30) + [0x7f],
    [UInt8](repeating: 0, count: 32),
    [
      0x26, 0xe8, 0x95, 0x8f, 0xc2, 0xb2, 0x27, 0xb0, 0x45, 0xc3, 0xf4, 0x89, 0xf2, 0xef, 0x98, 0xf0,
      0xd5, 0xdf, 0xac, 0x05, 0xd3, 0xc6, 0x33, 0x39, 0xb1, 0x38, 0x02, 0x88, 0x6d, 0x53, 0xfc, 0x05,
    ],
    [
      0xc7, 0x17, 0x6a, 0x70, 0x3d, 0x4d, 0xd8, 0x4f, 0xba, 0x3c, 0x0b, 0x76, 0x0d, 0x10, 0x67, 0x0f,
      0x2a, 0x20, 0x53, 0xfa, 0x2c, 0x39, 0xcc, 0xc6, 0x4e, 0xc7, 0xfd, 0x77, 0x92, 0xac, 0x03, 0x7a,
    ],
  ]
}
