import PackStore

/// A memory buffer being filled. It belongs to one task at a time; the owner of the memory keeps it until the task ends.
package final class TransferBuffer: @unchecked Sendable {
  package let bytes: UnsafeMutableRawBufferPointer

  /// The number of bytes filled so far, from the beginning.
  package private(set) var filledCount = 0

  /// Bytes received from the network for the buffer, including discarded ones.
  package var wireByteCount = 0

  /// Bytes of answers that were not requested, in all attempts.
  package var excessByteCount = 0

  /// The number of requests for the buffer.
  package var requestCount = 0

  package init(_ bytes: UnsafeMutableRawBufferPointer) { self.bytes = bytes }

  package var count: Int { bytes.count }
  package var isFull: Bool { filledCount == bytes.count }
  package var missingCount: Int { bytes.count - filledCount }

  /// The unfilled part, to write to; report the written bytes by `didFill`.
  package var rest: UnsafeMutableRawBufferPointer { UnsafeMutableRawBufferPointer(rebasing: bytes[filledCount...]) }

  package func didFill(_ count: Int) {
    precondition(count <= missingCount)
    filledCount += count
  }

  /// Appends bytes, at most as many as are missing.
  package func append(_ source: UnsafeRawBufferPointer) {
    rest.copyMemory(from: source)
    didFill(source.count)
  }

  package func clear() { filledCount = 0 }

  /// Fills the rest from a file of this machine.
  ///
  /// - Returns: false if the file is too short.
  func fill(from file: InputFile, at offset: UInt64) throws -> Bool {
    clear()
    requestCount += 1
    didFill(try file.read(at: offset, into: rest))
    wireByteCount += filledCount
    return isFull
  }
}

/// A ring of memory for buffers, which are returned in the order in which they were taken. Its size bounds the outstanding bytes,
/// and nothing is allocated during a transfer.
package struct TransferRing: ~Copyable {
  private let owner: FileMemory
  private var memory: UnsafeMutableRawBufferPointer { owner.bytes }
  /// Begin and end of each buffer in use, oldest first; buffers do not wrap around.
  private var taken: [Range<Int>] = []

  /// - Parameter folder: the folder for a file without a name, so that the ring is not private memory; `nil`: private memory.
  package init(byteCount: Int, in folder: FilePath? = nil) { owner = FileMemory(byteCount: byteCount, in: folder) }

  package var byteCount: Int { memory.count }

  /// - Returns: `nil` if there is not enough room now.
  package mutating func take(_ count: Int) -> UnsafeMutableRawBufferPointer? {
    guard let begin = place(for: count) else { return nil }
    taken.append(begin..<begin + count)
    return UnsafeMutableRawBufferPointer(rebasing: memory[begin..<begin + count])
  }

  private func place(for count: Int) -> Int? {
    guard let oldest = taken.first, let newest = taken.last else { return count <= memory.count ? 0 : nil }
    let end = newest.upperBound
    guard newest.lowerBound >= oldest.lowerBound else {  // wrapped around
      return count <= oldest.lowerBound - end ? end : nil
    }
    if count <= memory.count - end { return end }
    return count <= oldest.lowerBound ? 0 : nil
  }

  /// Returns the oldest buffer to the ring.
  package mutating func returnOldest() { taken.removeFirst() }
}
