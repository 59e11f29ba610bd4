/// An IP address, and whether it belongs to the public internet.
package struct IPAddress: Hashable, Sendable {
  /// 4 or 16 bytes, most significant first.
  package let bytes: [UInt8]

  /// `nil` unless there are 4 or 16 bytes.
  package init?(_ bytes: some Collection<UInt8>) {
    guard bytes.count == 4 || bytes.count == 16 else { return nil }
    self.bytes = Array(bytes)
  }

  /// Whether any server may redirect here: false for this machine, its network, private networks and unassigned ranges. An IPv6
  /// address that embeds an IPv4 address is judged by the latter.
  package var isPublic: Bool {
    if bytes.count == 4 { return !Self.specialIPv4.contains { $0.contains(bytes) } }
    if let inner = embeddedIPv4 { return inner.isPublic }
    return !Self.specialIPv6.contains { $0.contains(bytes) }
  }

  /// The IPv4 address that translators and tunnels reach through this address.
  private var embeddedIPv4: IPAddress? {
    for (block, offset) in Self.embeddings where block.contains(bytes) { return IPAddress(bytes[offset..<offset + 4]) }
    // ISATAP: an interface id that contains an IPv4 address.
    let interface = bytes[8..<12]
    return interface.elementsEqual([0, 0, 0x5e, 0xfe]) || interface.elementsEqual([2, 0, 0x5e, 0xfe])
      ? IPAddress(bytes[12..<16]) : nil
  }
}

extension IPAddress {
  /// Addresses with the same leading bits.
  private struct Block {
    let prefix: [UInt8]
    let bitCount: Int

    init(_ prefix: [UInt8], _ bitCount: Int) {
      self.prefix = prefix
      self.bitCount = bitCount
    }

    func contains(_ bytes: [UInt8]) -> Bool {
      (0..<(bitCount + 7) / 8).allSatisfy { index in
        let mask = UInt8(truncatingIfNeeded: 0xff00 >> min(bitCount - 8 * index, 8))
        let expected = index < prefix.count ? prefix[index] : 0
        return bytes[index] & mask == expected & mask
      }
    }
  }

  /// Addresses that IANA's registry lists as not global, as multicast, or as reserved.
  private static let specialIPv4 = [
    Block([0], 8), Block([10], 8), Block([100, 64], 10), Block([127], 8), Block([169, 254], 16), Block([172, 16], 12),
    Block([192, 0, 0], 24), Block([192, 0, 2], 24), Block([192, 168], 16), Block([198, 18], 15),
    Block([198, 51, 100], 24), Block([203, 0, 113], 24), Block([224], 3),
  ]

  /// The same for IPv6; all of 2001::/23 (which includes Teredo), because Teredo hides an address in its bits.
  private static let specialIPv6 = [
    Block([], 96), Block([0x00, 0x64, 0xff, 0x9b, 0x00, 0x01], 48), Block([0x01, 0x00], 64), Block([0x20, 0x01], 23),
    Block([0x20, 0x01, 0x0d, 0xb8], 32), Block([0x3f, 0xff], 20), Block([0x5f, 0x00], 16), Block([0xfc], 7),
    Block([0xfe, 0x80], 10), Block([0xfe, 0xc0], 10), Block([0xff], 8),
  ]

  /// The offsets of IPv4 addresses in mapped, translated (both forms), NAT64 and 6to4 addresses.
  private static let embeddings = [
    (Block([0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff], 96), 12),
    (Block([0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff, 0, 0], 96), 12),
    (Block([0x00, 0x64, 0xff, 0x9b], 96), 12),
    (Block([0x20, 0x02], 16), 2),
  ]
}

extension IPAddress: CustomStringConvertible {
  /// `127.0.0.1`, `2001:db8:0:0:0:0:0:1`.
  package var description: String {
    guard bytes.count == 16 else { return bytes.map(String.init).joined(separator: ".") }
    return stride(from: 0, to: 16, by: 2)
      .map { String(UInt16(bytes[$0]) << 8 | UInt16(bytes[$0 + 1]), radix: 16) }.joined(separator: ":")
  }
}
