/// The stored pieces of a sparse file in an archive. The bytes between them are zeros.
struct SparseMap: Equatable {
  struct Piece: Equatable {
    var offset: UInt64
    var byteCount: UInt64
  }

  /// More pieces would take too much memory.
  static let pieceLimit = 1_000_000

  let pieces: [Piece]

  /// The length of the file.
  let byteCount: UInt64

  /// - Returns: `nil` for pieces that overlap, are out of order, or exceed the file.
  init?(_ pieces: [Piece], byteCount: UInt64) {
    var end: UInt64 = 0
    for piece in pieces {
      let (next, isTooFar) = piece.offset.addingReportingOverflow(piece.byteCount)
      guard piece.offset >= end, !isTooFar, next <= byteCount else { return nil }
      end = next
    }
    self.pieces = pieces.filter { $0.byteCount > 0 }
    self.byteCount = byteCount
  }

  /// - Parameter numbers: the offset and length of each piece, alternating.
  init?(numbers: [UInt64], byteCount: UInt64) {
    guard numbers.count % 2 == 0 else { return nil }
    self.init(
      stride(from: 0, to: numbers.count, by: 2).map { Piece(offset: numbers[$0], byteCount: numbers[$0 + 1]) },
      byteCount: byteCount)
  }

  /// The bytes of all pieces, which do not overlap.
  var storedByteCount: UInt64 { pieces.reduce(0) { $0 + $1.byteCount } }
}

/// Reads a sparse file sequentially: zeros, and the pieces from the archive.
struct SparseFile {
  private var pieces: ArraySlice<SparseMap.Piece>
  private let byteCount: UInt64
  private var position: UInt64 = 0

  init(_ map: SparseMap) {
    pieces = map.pieces[...]
    byteCount = map.byteCount
  }

  /// Fills the beginning of a buffer.
  ///
  /// - Parameter stored: reads the next bytes of the pieces, at least one.
  /// - Returns: the number of bytes; 0 at the end.
  mutating func read(
    into buffer: UnsafeMutableRawBufferPointer, stored: (UnsafeMutableRawBufferPointer) throws -> Int
  ) throws -> Int {
    let next = pieces.first?.offset ?? byteCount
    guard position >= next else {
      let count = min(buffer.count, Int(clamping: next - position))
      buffer.prefix(count).update(repeating: 0)
      position += UInt64(count)
      return count
    }
    guard let piece = pieces.first else { return 0 }
    let count = try stored(.init(rebasing: buffer.prefix(Int(clamping: piece.offset + piece.byteCount - position))))
    position += UInt64(count)
    if position == piece.offset + piece.byteCount { pieces.removeFirst() }
    return count
  }
}

extension UnsafeMutableRawBufferPointer.SubSequence {
  fileprivate func update(repeating value: UInt8) {
    UnsafeMutableRawBufferPointer(rebasing: self).initializeMemory(as: UInt8.self, repeating: value)
  }
}
