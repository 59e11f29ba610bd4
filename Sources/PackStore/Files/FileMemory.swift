#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#elseif canImport(Darwin)
  import Darwin
#endif

/// Memory that the system can take back meanwhile: it is mapped from a file without a name, as the core's growing arrays are.
/// Where there can be no such file, it is private memory.
package final class FileMemory: Sendable {
  // Its owner sees to it that one task writes to each part at a time.
  nonisolated(unsafe) package let bytes: UnsafeMutableRawBufferPointer
  private let isMapped: Bool

  /// - Parameter folder: where the file lies; nil: private memory.
  package init(byteCount: Int, in folder: FilePath?) {
    let mapped = folder.flatMap { Self.map(byteCount, in: $0) }
    isMapped = mapped != nil
    bytes = mapped ?? .allocate(byteCount: byteCount, alignment: 16)
  }

  deinit {
    if isMapped { munmap(bytes.baseAddress, bytes.count) } else { bytes.deallocate() }
  }

  private static func map(_ byteCount: Int, in folder: FilePath) -> UnsafeMutableRawBufferPointer? {
    #if canImport(Darwin)
      // A file's room cannot be had there for certain: writing to the memory of a full disk would end the process.
      return nil
    #else
      guard byteCount > 0, let file = try? NewFile(unnamedIn: folder),
        posix_fallocate(file.descriptor.rawValue, 0, off_t(byteCount)) == 0,
        let address = mmap(nil, byteCount, PROT_READ | PROT_WRITE, MAP_SHARED, file.descriptor.rawValue, 0),
        address != MAP_FAILED
      else { return nil }
      return UnsafeMutableRawBufferPointer(start: address, count: byteCount)
    #endif
  }
}
