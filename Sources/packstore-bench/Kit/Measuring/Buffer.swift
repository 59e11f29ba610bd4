/// Memory of a fixed length whose pages are allocated before anything is measured.
final class Buffer {
  let bytes: UnsafeMutableRawBufferPointer

  init(byteCount: Int) {
    bytes = .allocate(byteCount: max(byteCount, 1), alignment: 4096)
    bytes.initializeMemory(as: UInt8.self, repeating: 1)
  }

  deinit { bytes.deallocate() }
}
