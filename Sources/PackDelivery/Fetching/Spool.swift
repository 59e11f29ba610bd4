import PackStore

/// A file without a name, deleted with its last reference.
final class Spool {
  private let file: NewFile

  init(in folder: String) throws { file = try NewFile(unnamedIn: FilePath(folder)) }

  func append(_ bytes: UnsafeRawBufferPointer) throws { try file.write(bytes) }

  /// - Precondition: the range was appended before.
  func read(at offset: UInt64, into buffer: TransferBuffer) throws {
    buffer.clear()
    while !buffer.isFull {
      let count = try file.descriptor.read(
        fromAbsoluteOffset: Int64(offset) + Int64(buffer.filledCount), into: buffer.rest)
      precondition(count > 0, "a want lies within its segment")
      buffer.didFill(count)
    }
  }
}
