#if canImport(Crypto)
  import CPackHash
  import Crypto
  import Foundation
  import Testing

  /// Every implementation compared with swift-crypto, on random messages that end before a page without access.
  @Suite struct AgreementTests {
    private static let longest = 1 << 20

    private static func expected(_ message: UnsafeRawBufferPointer) -> [UInt8] {
      var hash = SHA256()
      hash.update(bufferPointer: message)
      return Array(hash.finalize())
    }

    @Test func tableOfImplementationsIsConsistent() throws {
      let compiled = Implementation.compiled, supported = Implementation.supported
      #expect(compiled.first?.name == "portable" && supported.first?.name == "portable")
      #expect(Set(compiled.map(\.name)).count == compiled.count)
      #expect(compiled.allSatisfy { 1...16 ~= $0.laneCount })
      let selected = try #require(supported.first { $0.pointer == pkh_implementation_selected() })
      #expect(pkh_implementation_at(compiled.count) == nil && pkh_implementation_at(.max) == nil)
      #expect(!pkh_processor_has_sha256() || selected.name.contains("sha"))
    }

    /// Lengths from 0 on, then random ones. The end is fixed by the page, so that every length is another alignment.
    @Test(arguments: Implementation.supported)
    func digestsOfAnyLengthAgree(implementation: Implementation) {
      let seed = testSeed(1)
      var random = Random(seed)
      let memory = GuardedBytes(byteCount: Self.longest, &random)
      for round in 0..<420 {
        let isLong = round >= 400
        let message = memory.last(round < 200 ? round : random.length(upTo: isLong ? Self.longest : 9_000))
        #expect(implementation.digest(message) == Self.expected(message), "seed \(seed): \(message.count) bytes")
      }
    }

    @Test(arguments: Implementation.supported)
    func digestsOfUnalignedMessagesAgree(implementation: Implementation) {
      let seed = testSeed(2)
      var random = Random(seed)
      let memory = GuardedBytes(byteCount: 8_192, &random)
      for alignment in 0..<64 {
        let message = UnsafeRawBufferPointer(rebasing: memory.bytes[alignment..<alignment + random.length(upTo: 4_000)])
        #expect(implementation.digest(message) == Self.expected(message), "seed \(seed): offset \(alignment)")
      }
    }

    @Test(arguments: Implementation.supported)
    func digestDoesNotDependOnPartition(implementation: Implementation) {
      let seed = testSeed(3)
      var random = Random(seed)
      let memory = GuardedBytes(byteCount: 1 << 16, &random)
      for round in 0..<150 {
        let message = memory.last(random.length(upTo: round < 140 ? 2_000 : 1 << 16))
        var parts: [UnsafeRawBufferPointer] = [], rest = message
        while !rest.isEmpty {
          let count = min(rest.count, random.length(upTo: random.below(3) == 0 ? 3 : 700))
          parts.append(UnsafeRawBufferPointer(rebasing: rest[..<count]))
          rest = UnsafeRawBufferPointer(rebasing: rest[count...])
        }
        #expect(
          implementation.digest(ofParts: parts) == Self.expected(message),
          "seed \(seed): \(message.count) bytes in \(parts.map(\.count))")
      }
    }

    @Test func copyOfStateContinuesIndependently() {
      var state = pkh_sha256_state()
      pkh_sha256_init(&state)
      pkh_sha256_update(&state, "ab", 2)
      var copy = state
      pkh_sha256_update(&state, "c", 1)
      pkh_sha256_update(&copy, "d", 1)
      #expect(digestOf { pkh_sha256_final(&state, $0) } == Array(SHA256.hash(data: Data("abc".utf8))))
      #expect(digestOf { pkh_sha256_final(&copy, $0) } == Array(SHA256.hash(data: Data("abd".utf8))))
    }

    /// All counts from 0 to 40, with equal, mixed, or short lengths and one long message.
    @Test(arguments: Implementation.supported)
    func digestsOfManyMessagesAgree(implementation: Implementation) {
      let seed = testSeed(4)
      var random = Random(seed)
      let memory = GuardedBytes(byteCount: 1 << 18, &random)
      for round in 0..<123 {
        let count = round % 41, longest = [130, 2_000, 20_000][round / 41]
        var messages = (0..<count).map { _ in memory.last(random.length(upTo: longest)) }
        if count > 0, random.below(4) == 0 { messages[random.below(count)] = memory.last(memory.bytes.count) }
        let (digests, after) = implementation.digests(messages)
        #expect(digests == messages.map(Self.expected), "seed \(seed): lengths \(messages.map(\.count))")
        #expect(after == Array(repeating: 0x55, count: after.count), "bytes after the last digest are changed")
      }
    }

    /// HMAC with keys and messages of any length.
    @Test func authenticationCodesAgree() {
      let seed = testSeed(5)
      var random = Random(seed)
      let memory = GuardedBytes(byteCount: 4_096, &random)
      for _ in 0..<200 {
        let key = Array(memory.last(random.length(upTo: 200))), message = Array(memory.last(random.length(upTo: 1_000)))
        let expected = HMAC<SHA256>.authenticationCode(for: message, using: SymmetricKey(data: key))
        let code = digestOf { pkh_hmac_sha256(key, key.count, message, message.count, $0) }
        #expect(code == Array(expected), "seed \(seed): key of \(key.count) bytes, message of \(message.count)")
      }
    }

    /// Threads share the messages and nothing else.
    @Test func concurrentCallsDoNotInterfere() {
      let seed = testSeed(6)
      var random = Random(seed)
      let memory = GuardedBytes(byteCount: 1 << 16, &random)
      let lengths = (0..<24).map { _ in random.length(upTo: 3_000) }
      let expected = lengths.map { Self.expected(memory.last($0)) }
      let implementations = Implementation.supported
      DispatchQueue.concurrentPerform(iterations: 8) { thread in
        for round in 0..<20 {
          let implementation = implementations[(thread + round) % implementations.count]
          let messages = lengths.map { memory.last($0) }
          #expect(implementation.digests(messages).digests == expected, "seed \(seed)")
          #expect(implementation.digest(messages[0]) == expected[0], "seed \(seed)")
        }
      }
    }
  }
#endif
