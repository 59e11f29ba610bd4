import SystemPackage

/// A file without a name, which is gone when nobody has it any more.
final class Spool {
  private let descriptor: FileDescriptor

  init(in folder: String) throws {
    let name = "\(folder)/spool-\(UInt64.random(in: 0 ... .max))"
    do {
      descriptor = try FileDescriptor.open(
        name, .readWrite, options: [.create, .exclusiveCreate, .closeOnExec], permissions: .ownerReadWrite)
    } catch let error as Errno {
      throw DeliveryError(.ioError, "cannot make a temporary file (\(error))", at: name)
    }
    removeFile(name)
  }

  deinit { try? descriptor.close() }

  func append(_ bytes: UnsafeRawBufferPointer) throws { _ = try descriptor.writeAll(bytes) }

  /// - Precondition: so much was appended.
  func read(at offset: UInt64, into buffer: TransferBuffer) throws {
    buffer.clear()
    while !buffer.isFull {
      let count = try descriptor.read(fromAbsoluteOffset: Int64(offset) + Int64(buffer.filledCount), into: buffer.rest)
      precondition(count > 0, "a want lies within its segment")
      buffer.didFill(count)
    }
  }
}
