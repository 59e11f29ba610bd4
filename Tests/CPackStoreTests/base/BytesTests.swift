import CPackStore
import CPackStoreTesting
import Testing

extension Core {
  @Suite struct BytesTests {
    private static func readVarint(_ bytes: [UInt8]) -> (value: UInt64, left: Int)? {
      bytes.withUnsafeBytes { bytes in
        var reader = pks__reader_make(bytes.baseAddress ?? UnsafeRawPointer(bitPattern: 1), bytes.count)
        let value = pks__read_varint(&reader)
        return reader.failed ? nil : (value, pks__reader_left(&reader))
      }
    }

    private static func varint(_ value: UInt64) -> [UInt8] {
      [UInt8](unsafeUninitializedCapacity: Int(PKS__VARINT_MAX)) { buffer, count in
        count = pks__put_varint(buffer.baseAddress, value)
      }
    }

    private static let values: [UInt64] =
      [0, 1, .max, .max - 1]
      + (1..<64).flatMap { shift in [-1, 0, 1].map { (UInt64(1) << shift) &+ UInt64(bitPattern: Int64($0)) } }

    @Test func varintsComeBack() {
      for value in Self.values {
        let bytes = Self.varint(value)
        #expect(bytes.count == max(1, (64 - value.leadingZeroBitCount + 6) / 7))
        #expect(Self.readVarint(bytes + [0xee]).map { $0 == (value, 1) } == true, "\(value)")
        for length in 0..<bytes.count {
          #expect(Self.readVarint(Array(bytes.prefix(length))) == nil, "\(value) cut to \(length)")
        }
      }
    }

    /// Equal values have equal bytes: a longer form is refused.
    @Test func onlyTheShortestForm() {
      for value in Self.values where value < 1 << 56 {
        var longer = Self.varint(value)
        longer[longer.count - 1] |= 0x80
        #expect(Self.readVarint(longer + [0]) == nil, "\(value)")
        #expect(Self.readVarint(longer + [0x80, 0]) == nil, "\(value)")
      }
    }

    @Test func varintsOfMoreThan64Bits() {
      let most = [UInt8](repeating: 0xff, count: 9)
      #expect(Self.readVarint(most + [1])?.value == .max)
      #expect(Self.readVarint(most + [2]) == nil)
      #expect(Self.readVarint(most + [0x81, 0]) == nil)
      #expect(Self.readVarint(most + [0xff, 1]) == nil)
    }

    @Test func integersAreLittleEndian() {
      let bytes: [UInt8] = [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15]
      bytes.withUnsafeBytes { bytes in
        var reader = pks__reader_make(bytes.baseAddress, bytes.count)
        #expect(pks__read8(&reader) == 1)
        #expect(pks__read16(&reader) == 0x0302)
        #expect(pks__read32(&reader) == 0x0706_0504)
        #expect(pks__read64(&reader) == 0x0f0e_0d0c_0b0a_0908)
        #expect(!reader.failed && pks__reader_left(&reader) == 0)
      }
      #expect(pks__get16(pks__put16(0xabcd)) == 0xabcd)
      #expect(pks__get32(pks__put32(0x89ab_cdef)) == 0x89ab_cdef)
      #expect(pks__get64(pks__put64(0x0123_4567_89ab_cdef)) == 0x0123_4567_89ab_cdef)
    }

    /// Reading past the end yields zeros, and the reader stays failed.
    @Test func pastTheEnd() {
      let bytes: [UInt8] = [0xff, 0xff, 0xff]
      bytes.withUnsafeBytes { bytes in
        var reader = pks__reader_make(bytes.baseAddress, bytes.count)
        #expect(pks__read32(&reader) == 0 && reader.failed)
        #expect(pks__read8(&reader) == 0 && reader.failed)
        #expect(pks__read_bytes(&reader, 0) == nil)
      }
    }
  }
}
