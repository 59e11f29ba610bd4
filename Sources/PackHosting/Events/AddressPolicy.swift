#if Hosting
  /// Which addresses of receivers are public. A webhook must not reach machines of the host's own network.
  enum AddressPolicy {
    /// Whether an address in network byte order, of 4 or 16 bytes, is public. Other sizes are not.
    static func isPublic(_ address: [UInt8]) -> Bool {
      switch address.count {
      case 4: isPublic4(address)
      case 16: isPublic6(address)
      default: false
      }
    }

    /// Prefixes of IPv4 that are not public: bytes and length in bits.
    private static let refused4: [([UInt8], Int)] = [
      ([0], 8), ([10], 8), ([100, 64], 10), ([127], 8), ([169, 254], 16), ([172, 16], 12), ([192, 0, 0], 24),
      ([192, 0, 2], 24),
      ([192, 88, 99], 24), ([192, 168], 16), ([198, 18], 15), ([198, 51, 100], 24), ([203, 0, 113], 24), ([224], 4),
      ([240], 4),
    ]

    private static func isPublic4(_ address: [UInt8]) -> Bool {
      !refused4.contains { has(address, $0.0, $0.1) }
    }

    /// Only global unicast is public. Forms that contain an IPv4 address are public if that address is.
    private static func isPublic6(_ address: [UInt8]) -> Bool {
      let zeros = [UInt8](repeating: 0, count: 10)
      if has(address, zeros + [0xFF, 0xFF], 96) { return isPublic4(Array(address[12...])) }
      if has(address, [0x00, 0x64, 0xFF, 0x9B] + zeros.prefix(8), 96) { return isPublic4(Array(address[12...])) }
      if has(address, [0x20, 0x02], 16) { return isPublic4(Array(address[2..<6])) }
      if has(address, [0x20, 0x01, 0x00, 0x00], 23) || has(address, [0x20, 0x01, 0x0D, 0xB8], 32) { return false }
      if has(address, [0x3F, 0xFF], 20) { return false }
      return has(address, [0x20], 3)
    }

    private static func has(_ address: [UInt8], _ prefix: [UInt8], _ bits: Int) -> Bool {
      for index in 0..<bits {
        let mask = UInt8(0x80) >> UInt8(index % 8), byte = index / 8
        let wanted = byte < prefix.count ? prefix[byte] : 0
        guard address[byte] & mask == wanted & mask else { return false }
      }
      return true
    }
  }
#endif
