import CPackStore
import CPackStoreTesting
import Dispatch
import Synchronization
import Testing

extension Core {
  /// Frames' encodings: bounded from outside, so that hostile bytes cost nothing and never become content.
  @Suite struct CodecTests {
    private static func encode(_ raw: [UInt8], level: Int32 = 3, capacity: Int? = nil) -> [UInt8]? {
      let encoder = pks__encoder_create(level)
      defer { pks__encoder_destroy(encoder) }
      let room = capacity ?? pks__encode_capacity(raw.count)
      let bytes = [UInt8](unsafeUninitializedCapacity: room) { buffer, count in
        count = pks__encode(encoder, raw, raw.count, buffer.baseAddress, room)
      }
      return bytes.isEmpty ? nil : bytes
    }

    private static func decode(_ encoded: [UInt8], _ rawLength: Int) -> [UInt8]? {
      let decoder = pks__decoder_create()
      defer { pks__decoder_destroy(decoder) }
      var isGood = false
      let raw = [UInt8](unsafeUninitializedCapacity: max(rawLength, 1)) { buffer, count in
        buffer.initialize(repeating: 0)
        isGood = pks__decode(decoder, encoded, encoded.count, buffer.baseAddress, rawLength)
        count = rawLength
      }
      return isGood ? raw : nil
    }

    private static func text(_ count: Int) -> [UInt8] {
      var random = Random(1)
      return random.text(count)
    }

    @Test(arguments: [1, 3, 19, 22, 100] as [Int32]) func comesBack(level: Int32) throws {
      for count in [40, 1_000, 16_384, 200_000] {
        let raw = Self.text(count)
        guard let encoded = Self.encode(raw, level: level) else {
          #expect(count < 100)
          continue
        }
        #expect(encoded.count <= raw.count - raw.count / 16)
        #expect(Self.decode(encoded, count) == raw)
        #expect(Self.encode(raw, level: level) == encoded, "the same bytes give the same frame")
      }
    }

    @Test func whatDoesNotCompressIsStoredRaw() {
      var random = Random(2)
      for count in [0, 1, 20, 5_000, 100_000] {
        #expect(Self.encode(random.bytes(count)) == nil, "\(count) random bytes")
      }
      // Noise with a copy of itself far away does compress.
      let noise = random.bytes(60_000)
      #expect(Self.encode(noise + noise) != nil)
    }

    /// Bytes of `values` values, each as frequent, without repeats.
    private static func noise(_ count: Int, values: Int) -> [UInt8] {
      var random = Random(7)
      return (0..<count).map { _ in UInt8(random.below(values)) }
    }

    /// What would save less than a sixteenth is stored raw, whether it is encoded to find out or not.
    @Test func whatHardlyCompressesIsStoredRaw() {
      for count in [20_000, 131_072] {
        for values in [256, 230, 210, 190] {
          #expect(Self.encode(Self.noise(count, values: values)) == nil, "\(values)")
        }
        #expect(Self.encode(Self.noise(count, values: 64)) != nil)
      }
    }

    /// Records as programs have them: integers that count, small ones, and zeros.
    private static func binary(_ count: Int) -> [UInt8] {
      var random = Random(8)
      return (0..<count / 16).flatMap { index in
        let near = UInt32(truncatingIfNeeded: 0x8040_2010 &+ index * 48),
          far = UInt32(random.below(1 << 20)) | 0x8000_0000
        return withUnsafeBytes(of: (near.littleEndian, far.littleEndian, UInt32(random.below(4)), UInt32(0))) {
          Array($0)
        }
      }
    }

    /// An encoder sets itself up by content: what a frame becomes must not depend on those before.
    @Test(arguments: [1, 3, 12] as [Int32]) func framesDoNotDependOnThoseBefore(level: Int32) throws {
      let dictionary = SampleDictionary.text.bytes
      var isBad = false
      let tables = try #require(
        pks__encoding_dictionary_create(dictionary.baseAddress, dictionary.count, level, &isBad))
      let encoder = try #require(pks__encoder_create(level))
      defer {
        pks__encoder_destroy(encoder)
        pks__encoding_dictionary_destroy(tables)
      }
      func encode(_ raw: [UInt8], with encoder: OpaquePointer, _ tables: OpaquePointer?) -> [UInt8] {
        let room = pks__encode_capacity(raw.count)
        return [UInt8](unsafeUninitializedCapacity: room) { buffer, count in
          count =
            tables.map { pks__encode_with(encoder, $0, raw, raw.count, buffer.baseAddress, room) }
            ?? pks__encode(encoder, raw, raw.count, buffer.baseAddress, room)
        }
      }
      let binary = Self.binary(131_072), text = Self.text(131_072)
      let contents = [binary, text, Array(binary.prefix(40_000)), Array(text.prefix(30_000)), Self.binary(262_144)]
      for raw in contents + contents.reversed() + [binary, binary] {
        for tables in [nil, tables] where tables == nil || raw.count <= 65_536 {
          let fresh = try #require(pks__encoder_create(level))
          defer { pks__encoder_destroy(fresh) }
          let encoded = encode(raw, with: encoder, tables)
          #expect(!encoded.isEmpty && encoded == encode(raw, with: fresh, tables))
          if tables == nil { #expect(Self.decode(encoded, raw.count) == raw) }
        }
      }
    }

    /// One thread decodes behind the dictionary, the others elsewhere; so do frames that are too long for the room.
    @Test(arguments: [-7, 3] as [Int32]) func oneDictionaryForManyThreads(level: Int32) throws {
      let dictionary = SampleDictionary.text.bytes
      var isBad = false
      let encoding = try #require(
        pks__encoding_dictionary_create(dictionary.baseAddress, dictionary.count, level, &isBad))
      let decoding = try #require(
        pks__decoding_dictionary_create(dictionary.baseAddress, dictionary.count, &isBad))
      let encoder = try #require(pks__encoder_create(level))
      defer {
        pks__encoder_destroy(encoder)
        pks__encoding_dictionary_destroy(encoding)
        pks__decoding_dictionary_destroy(decoding)
      }
      let frames = [60, 3_000, 40_000, 65_536, 65_537, 150_000].map { count in
        // What the dictionary has, too, so that frames refer to it.
        let raw = Array((Array(dictionary.suffix(count / 2)) + Self.text(count)).prefix(count))
        let room = pks__encode_capacity(count)
        let encoded = [UInt8](unsafeUninitializedCapacity: room) { buffer, length in
          length = pks__encode_with(encoder, encoding, raw, raw.count, buffer.baseAddress, room)
        }
        return (raw, encoded)
      }
      #expect(frames.allSatisfy { !$0.1.isEmpty })
      let shared = SharedDictionary(pointer: decoding)
      let wrong = Mutex(0)
      DispatchQueue.concurrentPerform(iterations: 8) { _ in
        let decoder = pks__decoder_create()
        defer { pks__decoder_destroy(decoder) }
        for round in 0..<300 {
          let (raw, encoded) = frames[round % frames.count]
          var out = [UInt8](repeating: 0xA5, count: raw.count)
          let isGood = pks__decode_with(decoder, shared.pointer, encoded, encoded.count, &out, raw.count)
          if !isGood || out != raw { wrong.withLock { $0 += 1 } }
        }
      }
      #expect(wrong.withLock { $0 } == 0)
      let (raw, encoded) = frames[2]
      var out = [UInt8](repeating: 0, count: raw.count)
      let decoder = try #require(pks__decoder_create())
      defer { pks__decoder_destroy(decoder) }
      var damaged = encoded
      for index in damaged.indices where index % 97 == 5 { damaged[index] ^= 0x40 }
      _ = pks__decode_with(decoder, decoding, damaged, damaged.count, &out, raw.count)
      #expect(pks__decode_with(decoder, decoding, encoded, encoded.count, &out, raw.count) && out == raw)
    }

    private struct SharedDictionary: @unchecked Sendable {
      let pointer: OpaquePointer
    }

    @Test func tooLittleRoomIsStoredRaw() {
      #expect(Self.encode(Self.text(50_000), capacity: 16) == nil)
    }

    @Test func theSizeMustBeExact() throws {
      let raw = Self.text(10_000), encoded = try #require(Self.encode(raw))
      for wrong in [1, 9_999, 10_001, 20_000, Int(PKS__FRAME_RAW_MAX)] {
        #expect(Self.decode(encoded, wrong) == nil, "\(wrong)")
      }
      #expect(Self.decode(encoded, 0) == nil)
    }

    @Test func truncatedAndTrailing() throws {
      let raw = Self.text(3_000), encoded = try #require(Self.encode(raw))
      for length in 0..<encoded.count {
        #expect(Self.decode(Array(encoded.prefix(length)), raw.count) == nil, "cut to \(length)")
      }
      #expect(Self.decode(encoded + [0], raw.count) == nil)
      #expect(Self.decode(encoded + encoded, raw.count) == nil)
      #expect(Self.decode(encoded + encoded, 2 * raw.count) == nil)
    }

    /// A flipped bit is refused or gives other bytes of the same length; which, the frame's checksum tells before. Nothing worse.
    @Test func flippedBits() throws {
      let raw = Self.text(3_000), encoded = try #require(Self.encode(raw))
      for bit in 0..<(8 * encoded.count) {
        var flipped = encoded
        flipped[bit / 8] ^= 1 << (bit % 8)
        if let decoded = Self.decode(flipped, raw.count) { #expect(decoded.count == raw.count) }
      }
    }

    /// Frames that ask for a window larger than their content, skippable frames, frames of unknown size: all refused, nothing kept.
    @Test func bombs() throws {
      let magic: [UInt8] = [0x28, 0xb5, 0x2f, 0xfd]
      let bigWindow =
        magic + [0x80, 0x88] + [100, 0, 0, 0] + [0x01 | 100 << 3 & 0xf8, 0x03, 0x00] + [UInt8](repeating: 7, count: 100)
      let unknownSize = magic + [0x00, 0x00, 0x01, 0x00, 0x00]
      let skippable: [UInt8] = [0x50, 0x2a, 0x4d, 0x18, 4, 0, 0, 0, 1, 2, 3, 4]
      let largest = magic + [0xe0] + [UInt8](repeating: 0xff, count: 8) + [0x01, 0, 0]
      let before = pks__memory_counts_now().open
      for bomb in [bigWindow, unknownSize, skippable, largest, magic, [], [0x28]] {
        for length in [1, 100, 4, 65_536] { #expect(Self.decode(bomb, length) == nil, "\(bomb.prefix(8))") }
      }
      #expect(pks__memory_counts_now().open == before)
    }

    @Test func shortMemory() {
      for ordinal in 0..<2 as Range<UInt64> {
        let before = pks__memory_counts_now().open
        pks__memory_fail_at(ordinal, false)
        #expect(pks__encoder_create(3) == nil)
        pks__memory_fail_at(ordinal, false)
        #expect(pks__decoder_create() == nil)
        pks__memory_fail_at(.max, false)
        #expect(pks__memory_counts_now().open == before)
      }
    }
  }
}
