import CPackHash
import Testing

/// Published test vectors.
@Suite struct KnownAnswerTests {
  struct Vector: CustomTestStringConvertible {
    let message: [UInt8]
    let digest: [UInt8]
    var testDescription: String { "\(message.count) bytes" }

    init(_ message: [UInt8], _ digest: String) {
      self.message = message
      self.digest = bytes(hexadecimal: digest)
    }

    /// With a message in hexadecimal digits.
    init(_ message: String, _ digest: String) { self.init(bytes(hexadecimal: message), digest) }
  }

  /// The examples of FIPS 180-4, and messages of SHA256ShortMsg.rsp (NIST CAVP, SHA test vectors for byte-oriented messages).
  static let vectors = [
    Vector(Array("abc".utf8), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"),
    Vector(
      Array("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq".utf8),
      "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1"),
    Vector("", "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"),
    Vector("d3", "28969cdfa74a12c82f3bad960b0b000aca2ac329deea5c2328ebc6f2ba9802c1"),
    Vector("11af", "5ca7133fa735326081558ac312c620eeca9970d1e70a4b95533d956f072d1f98"),
    Vector("b4190e", "dff2e73091f6c05e528896c4c831b9448653dc2ff043528f6769437bc7b975c2"),
    Vector("74ba2521", "b16aa56be3880d18cd41e68384cf1ec8c17680c45a02b1575dc1518923ae8b0e"),
    Vector("c299209682", "f0887fe961c9cd3beab957e8222494abb969b1ce4c6557976df8b0f6d20e9166"),
    Vector("e1dc724d5621", "eca0a060b489636225b4fa64d267dabbe44273067ac679f20820bddc6b6a90ac"),
    Vector("06e076f5a442d5", "3fd877e27450e6bbd5d74bb82f9870c64c66e109418baa8e6bbcff355e287926"),
    Vector("5738c929c4f4ccb6", "963bb88f27f512777aab6c8b1a02c70ec0ad651d428f870036e1917120fb48bf"),
    Vector(
      "09fc1accc230a205e4a208e64a8f204291f581a12756392da4b8c0cf5ef02b95",
      "4f44c1c7fbebb6f9601829f3897bfd650c56fa07844be76489076356ac1886a4"),
    Vector(
      "5a86b737eaea8ee976a0a24da63e7ed7eefad18a101c1211e2b3650c5187c2a8"
        + "a650547208251f6d4237e661c7bf4c77f335390394c37fa1a9f9be836ac28509",
      "42e61e174fbb3897d6dd6cef3dd2802fe67b331953b06114a65c772859dfc1aa"),
  ]

  @Test(arguments: Implementation.supported, vectors)
  func digestIsThePublishedOne(implementation: Implementation, vector: Vector) {
    #expect(implementation.digest(vector.message) == vector.digest)
  }

  @Test(arguments: Implementation.supported)
  func millionLettersHaveThePublishedDigest(implementation: Implementation) {
    let expected = bytes(hexadecimal: "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0")
    let million = [UInt8](repeating: UInt8(ascii: "a"), count: 1_000_000)
    #expect(implementation.digest(million) == expected)
    million.withUnsafeBytes { million in
      let digests = implementation.digests(Array(repeating: million, count: 5)).digests
      #expect(digests == Array(repeating: expected, count: 5))
    }
  }

  @Test func functionsWithoutImplementationArgumentUseTheSelectedOne() {
    let vector = Self.vectors[1]
    #expect(digestOf { pkh_sha256(vector.message, vector.message.count, $0) } == vector.digest)
    var state = pkh_sha256_state()
    pkh_sha256_init(&state)
    #expect(state.implementation == pkh_implementation_selected())
    pkh_sha256_update(&state, vector.message, vector.message.count)
    #expect(digestOf { pkh_sha256_final(&state, $0) } == vector.digest)
    let digest = digestOf { digest in
      vector.message.withUnsafeBytes { message in
        var messages = [pkh_message(bytes: message.baseAddress, byte_count: message.count, digest: digest)]
        pkh_sha256_many(&messages, 1)
      }
    }
    #expect(digest == vector.digest)
  }

  struct CodeVector: CustomTestStringConvertible {
    let section: String
    let key: [UInt8]
    let data: [UInt8]
    let code: String
    var testDescription: String { "RFC 4231, \(section)" }
  }

  static let codeVectors = [
    CodeVector(
      section: "4.2", key: Array(repeating: 0x0b, count: 20), data: Array("Hi There".utf8),
      code: "b0344c61d8db38535ca8afceaf0bf12b881dc200c9833da726e9376c2e32cff7"),
    CodeVector(
      section: "4.3", key: Array("Jefe".utf8), data: Array("what do ya want for nothing?".utf8),
      code: "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843"),
    CodeVector(
      section: "4.4", key: Array(repeating: 0xaa, count: 20), data: Array(repeating: 0xdd, count: 50),
      code: "773ea91e36800e46854db8ebd09181a72959098b3ef8c122d9635514ced565fe"),
    CodeVector(
      section: "4.5", key: Array(1...25), data: Array(repeating: 0xcd, count: 50),
      code: "82558a389a443c0ea4cc819899f2083a85f0faa3e578f8077a2e3ff46729665b"),
    CodeVector(
      section: "4.6, the first 128 bits", key: Array(repeating: 0x0c, count: 20),
      data: Array("Test With Truncation".utf8), code: "a3b6167473100ee06e0c796c2955552b"),
    CodeVector(
      section: "4.7", key: Array(repeating: 0xaa, count: 131),
      data: Array("Test Using Larger Than Block-Size Key - Hash Key First".utf8),
      code: "60e431591ee0b67f0d8a26aacbf5b77f8e0bc6213728c5140546040f0ee37f54"),
    CodeVector(
      section: "4.8", key: Array(repeating: 0xaa, count: 131),
      data: Array(
        """
        This is a test using a larger than block-size key and a larger than block-size data. The key needs to be hashed before \
        being used by the HMAC algorithm.
        """.utf8),
      code: "9b09ffa71b942fcb27635fbcd5b0e944bfdc63644f0713938a7f51535c3a35e2"),
  ]

  @Test(arguments: codeVectors)
  func authenticationCodeIsThePublishedOne(vector: CodeVector) {
    let code = digestOf { pkh_hmac_sha256(vector.key, vector.key.count, vector.data, vector.data.count, $0) }
    #expect(code.starts(with: bytes(hexadecimal: vector.code)))
  }
}
