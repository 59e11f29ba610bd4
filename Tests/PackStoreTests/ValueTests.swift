import PackStore
import Testing

@Suite struct ValueTests {
  @Test(arguments: ["Tutorial", "a", "9", "_x", "a-b_c.d", String(repeating: "x", count: 128)])
  func validPackNames(_ name: String) throws {
    #expect(try PackID(validating: name).description == name)
  }

  @Test(arguments: ["", ".a", "-a", "a b", "a/b", "a\0b", "ä", String(repeating: "x", count: 129)])
  func invalidPackNames(_ name: String) {
    #expect { try PackID(validating: name) } throws: { ($0 as? PackStoreError)?.code == .invalidArgument }
  }

  /// The initializer that throws had no label, and so lost to the literal's, which stops the program.
  @Test func aLiteralThatIsChecked() throws {
    #expect { try PackID(validating: "Level 1") } throws: { ($0 as? PackStoreError)?.code == .invalidArgument }
    #expect(try PackID(validating: "Level-1") == PackID("Level-1"))
  }

  @Test func chunkIDIsSHA256() {
    let bytes: [UInt8] = Array("abc".utf8)
    let id = ChunkID(of: bytes.span.bytes)
    #expect(id.description == "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad")
    #expect(ChunkID(id.description) == id)
    #expect(ChunkID(id.description.uppercased()) == id)
    #expect(id.bytes.first == 0xba && id.bytes.count == 32)
  }

  @Test(arguments: ["", "12", String(repeating: "g", count: 64), String(repeating: "0", count: 65)])
  func whatIsNoDigest(_ text: String) {
    #expect(ChunkID(text) == nil)
    #expect(CatalogID(text) == nil)
  }

  /// Sums of values from files never trap.
  @Test func sumsAreClamped() {
    #expect([Int.max, 1, .max].clampedSum() == .max && [Int.min, -1].clampedSum() == .min)
    #expect([UInt64](repeating: 1 << 56, count: 300).clampedSum() == .max && [UInt64]().clampedSum() == 0)
    #expect(Int64.min.addingClamped(.max) == -1 && Int64.max.subtractingClamped(-1) == .max)
    #expect(Int64.min.subtractingClamped(1) == .min && UInt64(1).subtractingClamped(2) == 0)
  }

  @Test func digestsAreOrderedBytewise() throws {
    let low = try #require(ChunkID("00" + String(repeating: "ff", count: 31)))
    let high = try #require(ChunkID("01" + String(repeating: "00", count: 31)))
    #expect(low < high)
  }
}
