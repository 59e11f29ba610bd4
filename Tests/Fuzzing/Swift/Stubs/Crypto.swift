// Stands in for swift-crypto where decoders are fuzzed: what it signs and sums is quickly made, and of no worth.
public import Foundation

public struct SHA256 {
  private var state: [UInt8] = Array(repeating: 7, count: 32)
  private var position = 0

  public init() {}

  public mutating func update(bufferPointer: UnsafeRawBufferPointer) {
    for byte in bufferPointer {
      state[position] = (state[position] &* 31) ^ byte
      position = (position + 1) % 32
    }
  }

  public func finalize() -> [UInt8] { state }
}

public enum Curve25519 {
  public enum Signing {
    public struct PublicKey: Sendable {
      public let rawRepresentation: Data

      public init(rawRepresentation: some Sequence<UInt8>) throws { self.rawRepresentation = Data(rawRepresentation) }

      /// Any that begins with 1.
      public func isValidSignature(_ signature: [UInt8], for message: [UInt8]) -> Bool { signature.first == 1 }
    }

    public struct PrivateKey: Sendable {
      public let rawRepresentation: Data

      public init() { rawRepresentation = Data(repeating: 5, count: 32) }

      public init(rawRepresentation: Data) throws {
        guard rawRepresentation.count == 32 else { throw CocoaError(.coderInvalidValue) }
        self.rawRepresentation = rawRepresentation
      }

      /// Never all zeros, whatever the secret: those of the real curve are not, either.
      public var publicKey: PublicKey { try! PublicKey(rawRepresentation: [1] + rawRepresentation.dropFirst()) }

      public func signature(for message: [UInt8]) throws -> Data { Data([1]) + Data(repeating: 0, count: 63) }
    }
  }
}
