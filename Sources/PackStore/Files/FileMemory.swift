import CPackStore

/// Memory that the system can take back meanwhile: it is mapped from a file without a name, as the core's growing arrays are.
/// Where a file system is not known to keep room for what is written again, it is private memory: writing to a mapping of a full
/// disk ends the process.
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
    guard isMapped, let address = bytes.baseAddress else { return bytes.deallocate() }
    let system = pks_vfs_posix().pointee
    system.unmap(system.context, address, bytes.count)
  }

  private static func map(_ byteCount: Int, in folder: FilePath) -> UnsafeMutableRawBufferPointer? {
    guard byteCount > 0, let file = try? NewFile(unnamedIn: folder) else { return nil }
    return withExtendedLifetime(file) {
      let system = pks_vfs_posix().pointee, number = file.descriptor.rawValue
      var address: UnsafeMutableRawPointer?
      guard pks_vfs_posix_keeps_room(number), system.preallocate(system.context, number, UInt64(byteCount)) == 0,
        system.map(system.context, number, byteCount, true, &address) == 0, let address
      else { return nil }
      return UnsafeMutableRawBufferPointer(start: address, count: byteCount)
    }
  }
}
