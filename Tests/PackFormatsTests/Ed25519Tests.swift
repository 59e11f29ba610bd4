import Foundation
import Testing

@testable import PackFormats

#if canImport(Crypto)
  import Crypto
#endif

@Suite struct Ed25519Tests {
  // MARK: - Wycheproof

  /// The test vectors of Project Wycheproof, which the sources of swift-crypto contain. SwiftPM fetches these for the trait `Serving`.
  private struct Vectors: Decodable {
    struct Group: Decodable {
      struct Key: Decodable { let pk: String }
      struct Test: Decodable {
        let tcId: Int
        let comment, msg, sig, result: String
      }
      let publicKey: Key?
      let key: Key?
      let tests: [Test]
    }
    let testGroups: [Group]

    /// `nil` if this build was made without swift-crypto.
    static func load() throws -> Vectors? {
      var folder = URL(fileURLWithPath: CommandLine.arguments[0]).resolvingSymlinksInPath()
      while folder.path != "/" {
        folder.deleteLastPathComponent()
        let file = folder.appending(path: "checkouts/swift-crypto/Tests/Test Vectors/ed25519_test.json")
        if FileManager.default.fileExists(atPath: file.path) {
          return try JSONDecoder().decode(Vectors.self, from: Data(contentsOf: file))
        }
      }
      return nil
    }
  }

  #if canImport(Crypto)
    @Test func wycheproofVectorsHaveTheirResults() throws {
      let vectors = try #require(
        try Vectors.load(), "the sources of swift-crypto were not found above the test program")
      var count = 0
      for group in vectors.testGroups {
        let key = try #require(bytes((group.publicKey ?? group.key)?.pk ?? ""))
        for test in group.tests {
          let message = try #require(bytes(test.msg)), signature = try #require(bytes(test.sig))
          #expect(
            Ed25519.isValid(signature, of: message, by: key) == (test.result == "valid"),
            "\(test.tcId): \(test.comment)")
          count += 1
        }
      }
      #expect(count > 100)
    }

    @Test func signaturesAreThoseOfBoringSSL() throws {
      var generator = SystemRandomNumberGenerator()
      for length in [0, 1, 63, 64, 65, 1000, 100_000] {
        let seed = (0..<32).map { _ in UInt8.random(in: 0 ... .max, using: &generator) }
        let message = (0..<length).map { _ in UInt8.random(in: 0 ... .max, using: &generator) }
        let key = try Ed25519.PrivateKey(seed: seed), other = try Curve25519.Signing.PrivateKey(rawRepresentation: seed)
        #expect(key.publicKey == [UInt8](other.publicKey.rawRepresentation), "seed \(seed)")
        let signature = try key.signature(of: message)
        #expect(other.publicKey.isValidSignature(signature, for: message), "seed \(seed)")
        #expect(
          Ed25519.isValid([UInt8](try other.signature(for: message)), of: message, by: key.publicKey), "seed \(seed)")
        #if !canImport(CryptoKit)
          #expect(signature == [UInt8](try other.signature(for: message)), "seed \(seed)")
        #endif
      }
    }
  #endif

  // MARK: - Refused before a library sees them

  /// p = 2^255 - 19, little-endian, plus a small number.
  private func prime(plus number: UInt8 = 0) -> [UInt8] {
    [0xed + number] + [UInt8](repeating: 0xff, count: 30) + [0x7f]
  }

  /// The y coordinates of all points whose order divides 8, and their encodings that are not canonical.
  private var degenerateCoordinates: [[UInt8]] {
    let zeros = [UInt8](repeating: 0, count: 31)
    return [
      [0] + zeros, [1] + zeros, [0xec] + prime().dropFirst(), prime(), prime(plus: 1),
      bytes("26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc05") ?? [],
      bytes("c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac037a") ?? [],
    ]
  }

  @Test func pointsOfSmallOrderAreRefused() throws {
    let key = try Ed25519.PrivateKey(seed: [UInt8](repeating: 7, count: 32)), message: [UInt8] = [1, 2, 3]
    let signature = try key.signature(of: message)
    #expect(Ed25519.isValid(signature, of: message, by: key.publicKey))
    for coordinate in degenerateCoordinates {
      for sign: UInt8 in [0, 0x80] {
        var point = coordinate
        point[31] |= sign
        // With S = 0 the equation holds for A and R of order 1 and for every message.
        for scalar in [Array(signature.suffix(32)), [UInt8](repeating: 0, count: 32)] {
          #expect(!Ed25519.isValid(point + scalar, of: message, by: key.publicKey), "R \(point)")
          #expect(!Ed25519.isValid(signature.prefix(32) + scalar, of: message, by: point), "A \(point)")
          #expect(!Ed25519.isValid(point + scalar, of: message, by: point), "A and R \(point)")
        }
      }
    }
  }

  @Test func coordinatesFromThePrimeOnAreRefused() throws {
    let signature = try Ed25519.PrivateKey(seed: [UInt8](repeating: 7, count: 32)).signature(of: [])
    for number: UInt8 in 0..<19 {
      #expect(!Ed25519.isValid(signature, of: [], by: prime(plus: number)))
      #expect(!Ed25519.isValid(prime(plus: number) + signature.suffix(32), of: [], by: prime(plus: number)))
    }
  }

  /// Adding the group's order to S leaves the equation true, so that anyone could make a second signature of a message.
  @Test func scalarsFromTheOrderOnAreRefused() throws {
    let key = try Ed25519.PrivateKey(seed: [UInt8](repeating: 9, count: 32)), message: [UInt8] = Array("message".utf8)
    let signature = try key.signature(of: message)
    let order = try #require(bytes("edd3f55c1a631258d69cf7a2def9de1400000000000000000000000000000010"))
    var scalar: [UInt8] = [], carry = 0
    for (a, b) in zip(signature.suffix(32), order) {
      let sum = Int(a) + Int(b) + carry
      scalar.append(UInt8(truncatingIfNeeded: sum))
      carry = sum >> 8
    }
    #expect(carry == 0 && !Ed25519.isValid(signature.prefix(32) + scalar, of: message, by: key.publicKey))
    #expect(!Ed25519.isValid(signature.prefix(32) + order, of: message, by: key.publicKey))
  }

  /// The equation holds only if both sides are multiplied by the cofactor: A is the sum of a point of the large group and one of order 8.
  @Test func keyOfMixedOrderIsRefusedByTheEquation() throws {
    let key = try #require(bytes("91a71311b7aaa8fc0c912bf4990c95a9f790caf29e355b46932c575036561d09"))
    let signature = try #require(
      bytes(
        "b31b20f50426242514d81b383548bd90de72fd0b8cf2382a88f9f52ce5076b23"
          + "cd8a2f8c5ef3fde96cdfa8dc3b60bca2eea5c3bfafd6ebcc671ab17d5d461e00"))
    #expect(!Ed25519.isValid(signature, of: Array("mixed order".utf8) + [1], by: key))
  }

  @Test func otherLengthsAreRefused() throws {
    let key = try Ed25519.PrivateKey(seed: [UInt8](repeating: 3, count: 32))
    let signature = try key.signature(of: [5])
    #expect(!Ed25519.isValid(Array(signature.dropLast()), of: [5], by: key.publicKey))
    #expect(!Ed25519.isValid(signature + [0], of: [5], by: key.publicKey))
    #expect(!Ed25519.isValid(signature, of: [5], by: Array(key.publicKey.dropLast())))
    #expect(!Ed25519.isValid([], of: [5], by: []))
    #expect(throws: (any Error).self) { try Ed25519.PrivateKey(seed: [1, 2, 3]) }
  }

  private func bytes(_ hex: String) -> [UInt8]? {
    let digits = hex.compactMap(\.hexDigitValue)
    guard digits.count == hex.count, digits.count.isMultiple(of: 2) else { return nil }
    return stride(from: 0, to: digits.count, by: 2).map { UInt8(digits[$0] << 4 | digits[$0 + 1]) }
  }
}
