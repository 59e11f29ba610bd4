#if Hosting
  /// The source of ids, secrets and channel names. All code uses the one instance that the host passes to it, so that tests
  /// control it.
  protocol RandomSource: Sendable {
    /// Returns random bytes; callable from any thread.
    func bytes(_ count: Int) -> [UInt8]
  }

  /// The operating system's generator.
  struct SystemRandom: RandomSource {
    func bytes(_ count: Int) -> [UInt8] {
      var generator = SystemRandomNumberGenerator()
      return (0..<count).map { _ in UInt8.random(in: 0 ... .max, using: &generator) }
    }
  }

  extension RandomSource {
    /// Returns `count` random bytes as lower-case hexadecimal digits.
    func hex(_ count: Int) -> String { bytes(count).hex }

    /// Returns a random UUID (version 4) in lower case.
    func uuid() -> String {
      var bytes = bytes(16)
      bytes[6] = bytes[6] & 0x0F | 0x40
      bytes[8] = bytes[8] & 0x3F | 0x80
      let digits = Array(bytes.hex)
      return [0..<8, 8..<12, 12..<16, 16..<20, 20..<32].map { String(digits[$0]) }.joined(separator: "-")
    }
  }
#endif
