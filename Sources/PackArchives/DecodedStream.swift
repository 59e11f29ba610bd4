import CPackArchives
import PackStore

/// Decodes a gzip, deflate or zstd stream.
final class DecodedStream: ByteStream {
  enum Coding: Sendable {
    /// Consecutive members; zeros may follow.
    case gzip
    /// Consecutive frames.
    case zstd
    /// A single stream, as in zip files.
    case deflate
  }

  private let source: StreamReader
  private let coding: Coding
  private let faults: ArchiveFaults
  private let stream: OpaquePointer
  private let window: Int
  private var budget: ByteBudget
  private var hasEnded = false

  /// The memory limit for decoding a stream, unless the caller allows more.
  static let leastWindow = Int(PKA_WINDOW_LEAST)

  /// - Parameters:
  ///   - budget: the maximum number of decoded bytes.
  ///   - window: the maximum memory for a zstd frame, in bytes, up to 128 MiB.
  init(
    _ coding: Coding, of source: StreamReader, _ budget: ByteBudget, window: Int = leastWindow, _ faults: ArchiveFaults
  ) throws {
    let core =
      switch coding {
      case .gzip: PKA_GZIP
      case .zstd: PKA_ZSTD
      case .deflate: PKA_DEFLATE
      }
    guard let stream = pka_stream_create(core, window) else { throw Self.noMemory }
    self.window = window
    self.stream = stream
    self.source = source
    self.coding = coding
    self.budget = budget
    self.faults = faults
  }

  deinit { pka_stream_destroy(stream) }

  private static var noMemory: PackStoreError { PackStoreError(.outOfMemory, "no memory to decompress") }

  func read(into buffer: UnsafeMutableRawBufferPointer) throws -> Int {
    while true {
      if try hasEnded && !beginsAgain() { return 0 }
      let input = try source.buffered()
      var taken = input.count, given = buffer.count
      let state = pka_stream_decode(
        stream, input.assumingMemoryBound(to: UInt8.self).baseAddress, &taken,
        buffer.assumingMemoryBound(to: UInt8.self).baseAddress, &given)
      source.consume(taken)
      try check(state)
      hasEnded = state == PKA_END
      try budget.take(UInt64(given))
      if given > 0 { return given }
      guard hasEnded || taken > 0 || !input.isEmpty else { throw faults.damaged("compressed data is cut short") }
    }
  }

  /// Whether another member follows the last one.
  private func beginsAgain() throws -> Bool {
    let next = try source.buffered()
    guard coding != .deflate, let first = next.first else { return false }
    if coding == .gzip, first == 0 {
      guard try source.isZeroToEnd() else { throw trailing }
      return false
    }
    let begins = coding == .gzip ? first == 0x1F : first == 0x28 || 0x50...0x5F ~= first
    guard begins else { throw trailing }
    hasEnded = false
    return true
  }

  private var trailing: PackStoreError { faults.damaged("other bytes follow the compressed data") }

  private func check(_ state: pka_state) throws {
    switch state {
    case PKA_MORE, PKA_END: break
    case PKA_WINDOW:
      throw faults.refused(
        "needs more than \(window >> 20) MiB of memory to decompress",
        detail: window < PKA_WINDOW_MOST ? .byteLimit : nil,
        remedy: window < PKA_WINDOW_MOST ? ByteBudget.remedy : "compress it again without --long")
    case PKA_NO_MEMORY: throw Self.noMemory
    default: throw faults.damaged("compressed data is damaged")
    }
  }
}
