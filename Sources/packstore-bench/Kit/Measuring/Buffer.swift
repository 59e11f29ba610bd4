/// Memory with a fixed length, and with pages that are allocated before the measurement.
final class Buffer {
  let bytes: UnsafeMutableRawBufferPointer

  init(byteCount: Int) {
    bytes = .allocate(byteCount: max(byteCount, 1), alignment: 4096)
    bytes.initializeMemory(as: UInt8.self, repeating: 1)
  }

  deinit { bytes.deallocate() }
}
