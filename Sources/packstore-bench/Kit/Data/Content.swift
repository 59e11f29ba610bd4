/// The kind of an asset's bytes. They are generated from a seed, and are equal on every machine.
enum Content: String, Codable, CaseIterable {
  /// Data that zstd compresses about 2.3 to 1 at level 3, like a game's levels and meshes.
  case compressible
  /// Data that is already compressed, like pictures, music and films.
  case incompressible
  /// Words and numbers that compress about 4 to 1, like settings and scripts.
  case text

  func fill(_ memory: UnsafeMutableRawBufferPointer, seed: UInt64) {
    var generator = SeededGenerator(seed: seed)
    switch self {
    case .compressible: fillCompressible(memory, &generator)
    case .incompressible: fillRandom(memory, &generator)
    case .text: fillText(memory, &generator)
    }
  }

  private func fillRandom(_ memory: UnsafeMutableRawBufferPointer, _ generator: inout SeededGenerator) {
    var offset = 0
    while offset + 8 <= memory.count {
      memory.storeBytes(of: generator.next().littleEndian, toByteOffset: offset, as: UInt64.self)
      offset += 8
    }
    var last = generator.next()
    while offset < memory.count {
      memory[offset] = UInt8(truncatingIfNeeded: last)
      last >>= 8
      offset += 1
    }
  }

  /// Generates alternating sequences, as compressors find them in real data: new bytes from a skewed alphabet, then a copy of bytes
  /// at most 48 KiB before. Most copies are short.
  private func fillCompressible(_ memory: UnsafeMutableRawBufferPointer, _ generator: inout SeededGenerator) {
    let reach: UInt64 = 48 << 10
    var offset = 0
    while offset < memory.count {
      let dice = generator.next()
      let runEnd = min(offset + 2 + Int(dice & 15), memory.count)
      var bits = generator.next()
      while offset < runEnd {
        // The smaller of two random numbers: low values are more frequent, as in real tables of numbers.
        memory[offset] = UInt8(truncatingIfNeeded: min(bits & 0xFF, bits >> 8 & 0xFF))
        bits = (bits >> 5) &* 0x9E37_79B9_7F4A_7C15
        offset += 1
      }
      guard offset > 64 else { continue }
      // Squared, so that short distances are more frequent.
      let share = (dice >> 16) & 0xFFFF
      let distance = 1 + Int((share * share >> 16) * min(reach, UInt64(offset) - 1) >> 16)
      let copyEnd = min(offset + 4 + Int(dice >> 40 & 15) + (dice >> 60 == 0 ? 96 : 0), memory.count)
      while offset < copyEnd {
        memory[offset] = memory[offset - distance]
        offset += 1
      }
    }
  }

  private func fillText(_ memory: UnsafeMutableRawBufferPointer, _ generator: inout SeededGenerator) {
    var offset = 0
    func append(_ bytes: some Sequence<UInt8>) {
      for byte in bytes where offset < memory.count {
        memory[offset] = byte
        offset += 1
      }
    }
    while offset < memory.count {
      let dice = generator.next()
      let word = Self.words[Int(min(dice & 63, dice >> 6 & 63))]
      switch dice >> 12 & 7 {
      case 0...4: append(word)
      case 5: append(String(dice >> 16 & 0xFFF).utf8)
      default: append("\"\(dice >> 16 & 0xFF)\": ".utf8)
      }
      append(CollectionOfOne(UInt8(ascii: dice >> 28 & 7 == 0 ? "\n" : " ")))
    }
  }

  private static let words: [[UInt8]] = {
    var generator = SeededGenerator(seed: 64)
    return (0..<64).map { _ in
      (0..<Int.random(in: 2...9, using: &generator)).map { _ in
        UInt8(ascii: "a") + UInt8.random(in: 0..<26, using: &generator)
      }
    }
  }()
}
