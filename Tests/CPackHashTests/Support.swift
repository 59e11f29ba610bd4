import CPackHash
import Foundation
import Testing

/// An implementation of SHA-256 that this processor supports.
struct Implementation: CustomTestStringConvertible, Sendable {
  nonisolated(unsafe) let pointer: OpaquePointer

  /// All implementations compiled for this architecture, the portable one first.
  static var compiled: [Implementation] {
    var list: [Implementation] = []
    while let pointer = pkh_implementation_at(list.count) { list.append(Implementation(pointer: pointer)) }
    return list
  }

  static var supported: [Implementation] { compiled.filter(\.isSupported) }

  var name: String { String(cString: pkh_implementation_name(pointer)) }
  var isSupported: Bool { pkh_implementation_is_supported(pointer) }
  var laneCount: Int { pkh_implementation_lane_count(pointer) }
  var testDescription: String { name }

  func digest(_ bytes: UnsafeRawBufferPointer) -> [UInt8] {
    digestOf { pkh_sha256_by(pointer, bytes.baseAddress, bytes.count, $0) }
  }

  func digest(_ bytes: [UInt8]) -> [UInt8] { bytes.withUnsafeBytes { digest($0) } }

  /// The digest of the message that consists of `parts`.
  func digest(ofParts parts: [UnsafeRawBufferPointer]) -> [UInt8] {
    var state = pkh_sha256_state()
    pkh_sha256_init_by(pointer, &state)
    for part in parts { pkh_sha256_update(&state, part.baseAddress, part.count) }
    return digestOf { pkh_sha256_final(&state, $0) }
  }

  /// The digests of many messages, and the bytes after the last digest, which must be unchanged: 0x55.
  func digests(_ messages: [UnsafeRawBufferPointer]) -> (digests: [[UInt8]], after: [UInt8]) {
    let size = Int(PKH_SHA256_SIZE)
    var memory = [UInt8](repeating: 0x55, count: (messages.count + 1) * size)
    memory.withUnsafeMutableBufferPointer { memory in
      let list = messages.enumerated().map { index, message in
        pkh_message(
          bytes: message.baseAddress, byte_count: message.count, digest: memory.baseAddress! + index * size)
      }
      pkh_sha256_many_by(pointer, list, list.count)
    }
    let digests = messages.indices.map { Array(memory[$0 * size..<($0 + 1) * size]) }
    return (digests, Array(memory[(messages.count * size)...]))
  }
}

/// Runs a function that stores 32 bytes, and returns those.
func digestOf(_ body: (UnsafeMutablePointer<UInt8>) -> Void) -> [UInt8] {
  [UInt8](unsafeUninitializedCapacity: Int(PKH_SHA256_SIZE)) { buffer, count in
    body(buffer.baseAddress!)
    count = Int(PKH_SHA256_SIZE)
  }
}

/// Bytes in a mapping of their own, before a page without access: reading past the end ends the process.
final class GuardedBytes: @unchecked Sendable {
  let bytes: UnsafeMutableRawBufferPointer
  private let mapping: UnsafeMutableRawBufferPointer

  /// - Parameter byteCount: is rounded up to whole pages.
  init(byteCount: Int, _ random: inout Random) {
    let page = Int(sysconf(Int32(_SC_PAGESIZE)))
    let rounded = (byteCount + page - 1) / page * page
    let start = mmap(nil, rounded + page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0)!
    precondition(start != MAP_FAILED)
    precondition(mprotect(start + rounded, page, PROT_NONE) == 0)
    mapping = UnsafeMutableRawBufferPointer(start: start, count: rounded + page)
    bytes = UnsafeMutableRawBufferPointer(start: start, count: rounded)
    bytes.withMemoryRebound(to: UInt64.self) { words in
      for index in words.indices { words[index] = random.next() }
    }
  }

  deinit { munmap(mapping.baseAddress, mapping.count) }

  /// The last bytes before the page without access.
  func last(_ count: Int) -> UnsafeRawBufferPointer {
    UnsafeRawBufferPointer(rebasing: bytes[(bytes.count - count)...])
  }
}

/// SplitMix64.
struct Random: RandomNumberGenerator {
  private var state: UInt64

  init(_ seed: UInt64) { state = seed }

  mutating func next() -> UInt64 {
    state &+= 0x9e37_79b9_7f4a_7c15
    var word = state
    word = (word ^ word >> 30) &* 0xbf58_476d_1ce4_e5b9
    word = (word ^ word >> 27) &* 0x94d0_49bb_1331_11eb
    return word ^ word >> 31
  }

  mutating func below(_ bound: Int) -> Int { Int(next() % UInt64(bound)) }

  /// A length up to `longest`, in half of the cases one near a multiple of the block size.
  mutating func length(upTo longest: Int) -> Int {
    if below(2) == 0 { return below(longest + 1) }
    return min(longest, max(0, 64 * below(12) + below(20) - 12))
  }
}

/// The seed of a randomized test: `PACKSTORE_SEED`, or else the fixed seed of the test. A failing test prints it.
func testSeed(_ fixed: UInt64) -> UInt64 {
  ProcessInfo.processInfo.environment["PACKSTORE_SEED"].flatMap(UInt64.init) ?? fixed
}

func bytes(hexadecimal text: String) -> [UInt8] {
  var digits = text[...], bytes: [UInt8] = []
  while !digits.isEmpty {
    bytes.append(UInt8(digits.prefix(2), radix: 16)!)
    digits = digits.dropFirst(2)
  }
  return bytes
}
