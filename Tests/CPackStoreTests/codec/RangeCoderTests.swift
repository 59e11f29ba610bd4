import CPackStore
import CPackStoreTesting
import Testing

extension Core {
  /// The range coder returns the coded values, takes little more than their entropy, and reads any bytes without harm.
  @Suite struct RangeCoderTests {
    /// Encodes with room for `room` bytes; `nil` if they do not suffice.
    private static func encode(room: Int = 1 << 20, _ put: (inout pks__range_encoder) -> Void) -> [UInt8]? {
      var length = 0
      let bytes = [UInt8](unsafeUninitializedCapacity: max(room, 1)) { buffer, count in
        var encoder = pks__range_encoder()
        pks__range_encoder_begin(&encoder, buffer.baseAddress, room)
        put(&encoder)
        length = pks__range_encoder_end(&encoder)
        count = max(length, 0)
      }
      // SIZE_MAX, which reports a lack of room, is -1 in Swift.
      return length >= 0 ? bytes : nil
    }

    private static func decode<Value>(_ bytes: [UInt8], _ read: (inout pks__range_decoder) -> Value) -> Value {
      bytes.withUnsafeBufferPointer { buffer in
        var decoder = pks__range_decoder()
        pks__range_decoder_begin(&decoder, buffer.baseAddress, buffer.count)
        return read(&decoder)
      }
    }

    private static func encode(_ numbers: [UInt64]) -> [UInt8]? {
      encode { encoder in
        var model = pks__number_model()
        pks__number_model_init(&model)
        for number in numbers { pks__range_put_number(&encoder, &model, number) }
      }
    }

    /// The numbers, and whether all bytes were read.
    private static func decode(_ bytes: [UInt8], count: Int) -> ([UInt64], Bool) {
      decode(bytes) { decoder in
        var model = pks__number_model()
        pks__number_model_init(&model)
        let numbers = (0..<count).map { _ in pks__range_read_number(&decoder, &model) }
        return (numbers, pks__range_decoder_is_at_end(&decoder))
      }
    }

    @Test(arguments: testSeeds(1...40))
    func numbersSurvive(seed: UInt64) throws {
      var random = Random(seed)
      let width = random.below(65)
      let numbers = (0..<random.below(2_000)).map { _ in
        random.chance(1, in: 9)
          ? UInt64.max >> UInt64(random.below(64)) : width == 0 ? 0 : random.next() >> UInt64(64 - width)
      }
      let bytes = try #require(Self.encode(numbers))
      let (decoded, isAtEnd) = Self.decode(bytes, count: numbers.count)
      #expect(decoded == numbers && isAtEnd)
    }

    /// Carries run through many bytes: unlikely bits among likely ones.
    @Test(arguments: testSeeds(1...20))
    func unlikelyBitsSurvive(seed: UInt64) throws {
      var random = Random(seed)
      let bits = (0..<20_000).map { _ in random.chance(1, in: 700) }
      let bytes = try #require(
        Self.encode { encoder in
          var model = pks__bit_model(one: 1 << 15, seen: 0)
          for bit in bits { pks__range_put_bit(&encoder, &model, bit) }
        })
      let decoded = Self.decode(bytes) { decoder in
        var model = pks__bit_model(one: 1 << 15, seen: 0)
        return bits.map { _ in pks__range_read_bit(&decoder, &model) }
      }
      #expect(decoded == bits)
      #expect(bytes.count < 20_000 / 8 / 10)
    }

    /// A hundred random numbers of 14 bits take little more than 1,300 bits; a hundred equal numbers take a few bytes.
    @Test func shortListsCostLittle() throws {
      var random = Random(3)
      let numbers = (0..<100).map { _ in UInt64(8192 + random.below(8192)) }
      #expect(try #require(Self.encode(numbers)).count <= 100 * 13 / 8 + 10)
      #expect(try #require(Self.encode([UInt64](repeating: 1, count: 100))).count <= 8)
    }

    @Test func lackOfRoomIsReported() {
      let put: (inout pks__range_encoder) -> Void = { encoder in
        var model = pks__byte_model()
        pks__byte_model_init(&model)
        for byte in 0..<200 { pks__range_put_byte(&encoder, &model, UInt8(byte)) }
      }
      let needed = Self.encode(put)?.count ?? 0
      #expect(needed > 0)
      for room in [0, 1, needed / 2] { #expect(Self.encode(room: room, put) == nil, "\(room) bytes") }
    }

    @Test(arguments: testSeeds(1...40))
    func anyBytesAreRead(seed: UInt64) {
      var random = Random(seed)
      let bytes = random.bytes(random.below(60))
      let (numbers, _) = Self.decode(bytes, count: 1_000)
      #expect(numbers.count == 1_000)
    }
  }
}
