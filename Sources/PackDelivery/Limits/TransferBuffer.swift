import PackStore

/// Memory that is being filled. It belongs to one task at a time; the lender of the memory keeps it until the task
/// ended.
package final class TransferBuffer: @unchecked Sendable {
  package let bytes: UnsafeMutableRawBufferPointer

  /// How many bytes are there, from the beginning.
  package private(set) var filledCount = 0

  /// Bytes that came over the wire for it, also those that were thrown away.
  package var wireByteCount = 0

  /// Bytes of answers that were not requested, in all attempts.
  package var excessByteCount = 0

  /// Requests that were made for it.
  package var requestCount = 0

  package init(_ bytes: UnsafeMutableRawBufferPointer) { self.bytes = bytes }

  package var count: Int { bytes.count }
  package var isFull: Bool { filledCount == bytes.count }
  package var missingCount: Int { bytes.count - filledCount }

  /// What is missing, to be written to; say with `didFill` how much was.
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

  /// Fills all of it from a file of this machine.
  ///
  /// - Returns: false when the file ends before.
  func fill(from file: InputFile, at offset: UInt64) throws -> Bool {
    clear()
    requestCount += 1
    didFill(try file.read(at: offset, into: rest))
    wireByteCount += filledCount
    return isFull
  }
}

/// A ring of memory from which buffers are taken, and given back in the order in which they were taken. What is
/// outstanding is bounded by its size, and nothing is allocated while bytes flow.
package struct TransferRing: ~Copyable {
  private let owner: FileMemory
  private var memory: UnsafeMutableRawBufferPointer { owner.bytes }
  /// Begin and end of each buffer that is out, oldest first; buffers do not wrap around.
  private var taken: [Range<Int>] = []

  /// - Parameter folder: for a file without a name, so that the ring is no private memory; nil: it is.
  package init(byteCount: Int, in folder: FilePath? = nil) { owner = FileMemory(byteCount: byteCount, in: folder) }

  package var byteCount: Int { memory.count }

  /// - Returns: nil when there is no room now.
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

  /// Gives the oldest buffer back.
  package mutating func returnOldest() { taken.removeFirst() }
}
