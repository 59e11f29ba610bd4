import CPackHash

/// Measures SHA-256 with each implementation in CPackHash.
struct Hash: Workload {
  let title = "SHA-256"
  /// The lengths of messages, in bytes.
  var lengths = [64, 1 << 10, 8 << 10, 64 << 10, 1 << 20]

  func measure(_ session: Session, _ report: (Comparison) -> Void) throws {
    let implementations = HashImplementation.supported
    for length in lengths where session.hasTime("SHA-256 of \(grouped(length)) bytes") {
      let messages = HashMessages(lengths: Array(repeating: length, count: max(16, (256 << 10) / length)))
      let single = implementations.filter { $0.laneCount == 1 }
      report(compare(session, single, messages, "SHA-256, one message at a time", length) { $0.digestOneByOne($1) })
      report(compare(session, implementations, messages, "SHA-256, many messages", length) { $0.digestMany($1) })
    }
    var generator = SeededGenerator(seed: session.options.seed)
    let mixed = HashMessages(lengths: (0..<512).map { _ in Int.random(in: 4_096...12_287, using: &generator) })
    report(compare(session, implementations, mixed, "SHA-256, many messages of 4 to 12 KiB", nil) { $0.digestMany($1) })
  }

  private func compare(
    _ session: Session, _ implementations: [HashImplementation], _ messages: HashMessages, _ title: String,
    _ length: Int?, by digest: @escaping (HashImplementation, HashMessages) -> Void
  ) -> Comparison {
    let repetitions = max(1, (session.options.quick ? 2_000_000 : 50_000_000) / messages.byteCount)
    var comparison = Comparison(
      title: title,
      explanation: "\(grouped(messages.count)) messages in the cache, hashed repeatedly. \(Self.processor)",
      quantity: .throughput, point: length.map { .init(series: title, axis: "bytes", size: $0) })
    let turns = implementations.map { implementation in
      Turn(name: implementation.name, check: { try messages.check(implementation, digest) }) {
        Sample.of {
          for _ in 0..<repetitions { digest(implementation, messages) }
          return repetitions * messages.byteCount
        }
      }
    }
    comparison.take(turns, session.repetitions)
    return comparison
  }

  private static var processor: String {
    let has = pkh_processor_has_sha256() ? "has" : "does not have"
    return "The processor \(has) instructions for SHA-256; PackStore uses \(HashImplementation.selected.name)."
  }
}

/// An implementation of SHA-256 in CPackHash.
struct HashImplementation {
  private let pointer: OpaquePointer

  static var selected: HashImplementation { HashImplementation(pointer: pkh_implementation_selected()) }

  /// The implementations that this processor supports. The first is the portable implementation.
  static var supported: [HashImplementation] {
    var list: [HashImplementation] = [], index = 0
    while let pointer = pkh_implementation_at(index) {
      if pkh_implementation_is_supported(pointer) { list.append(HashImplementation(pointer: pointer)) }
      index += 1
    }
    return list
  }

  var name: String { String(cString: pkh_implementation_name(pointer)) }
  var laneCount: Int { pkh_implementation_lane_count(pointer) }

  func digestOneByOne(_ messages: HashMessages) {
    for message in messages.list { pkh_sha256_by(pointer, message.bytes, message.byte_count, message.digest) }
  }

  func digestMany(_ messages: HashMessages) { pkh_sha256_many_by(pointer, messages.list, messages.count) }
}

/// Messages in one block of memory, with memory for their digests.
final class HashMessages {
  let byteCount: Int
  let list: [pkh_message]
  private let content: Buffer
  private let digests: Buffer

  init(lengths: [Int]) {
    let size = Int(PKH_SHA256_SIZE)
    byteCount = lengths.reduce(0, +)
    content = Buffer(byteCount: byteCount)
    digests = Buffer(byteCount: lengths.count * size)
    Content.incompressible.fill(content.bytes, seed: 1)
    let contentStart = content.bytes.baseAddress!
    let digestStart = digests.bytes.baseAddress!.assumingMemoryBound(to: UInt8.self)
    var offset = 0
    list = lengths.enumerated().map { index, length in
      defer { offset += length }
      return pkh_message(bytes: contentStart + offset, byte_count: length, digest: digestStart + index * size)
    }
  }

  var count: Int { list.count }

  /// Compares the digests with the digests of the portable implementation.
  func check(_ implementation: HashImplementation, _ digest: (HashImplementation, HashMessages) -> Void) throws {
    HashImplementation.supported[0].digestOneByOne(self)
    let expected = Array(digests.bytes)
    digests.bytes.initializeMemory(as: UInt8.self, repeating: 0)
    digest(implementation, self)
    guard digests.bytes.elementsEqual(expected) else { throw WrongBytes(path: "digests by \(implementation.name)") }
  }
}
