import Foundation
import Synchronization

/// The cost of compression alone: libzstd at level 3 compresses pieces with a frame's length, from memory to memory. It does not
/// divide data into chunks, hash, compare or write.
final class EncodeLimit: Sendable {
  private let pieces: [Piece]
  private let threadCount: Int
  private let byteCount: Int

  private struct Piece: @unchecked Sendable {
    let bytes: UnsafeRawBufferPointer
    let owner: MappedFile
  }

  init(_ dataSet: DataSet, threadCount: Int) throws {
    let folder = try FileFolder(dataSet.folder)
    let frameLength = 128 << 10
    var pieces: [Piece] = []
    for path in dataSet.paths {
      let file = try MappedFile(path, in: folder)
      file.withBytes { bytes in
        for begin in stride(from: 0, to: bytes.count, by: frameLength) {
          let piece = UnsafeRawBufferPointer(rebasing: bytes[begin..<min(begin + frameLength, bytes.count)])
          pieces.append(Piece(bytes: piece, owner: file))
        }
      }
    }
    self.pieces = pieces
    self.threadCount = threadCount
    byteCount = dataSet.byteCount
  }

  /// Compresses all pieces, and returns the number of raw bytes.
  func encodeAll() throws -> Int {
    let next = Atomic(0)
    let failure = Failure()
    DispatchQueue.concurrentPerform(iterations: threadCount) { _ in
      failure.catching {
        let encoder = try ZstdEncoder()
        let room = Buffer(byteCount: ZstdEncoder.capacity(for: 128 << 10))
        while true {
          let index = next.add(1, ordering: .relaxed).oldValue
          guard index < pieces.count else { return }
          _ = try encoder.encode(pieces[index].bytes, into: room.bytes)
        }
      }
    }
    try failure.throwIfAny()
    return byteCount
  }
}
