import CPackStore

/// Memory that the system can reclaim: mapped from a file without a name, like the core's growing arrays. If the file system may
/// not keep disk space for rewritten bytes, this is private memory instead, because writing to a mapping on a full disk ends the
/// process.
package final class FileMemory: Sendable {
  // The owner ensures that only one task writes to each part at a time.
  nonisolated(unsafe) package let bytes: UnsafeMutableRawBufferPointer
  private let isMapped: Bool

  /// - Parameter folder: the folder for the file; `nil`: private memory.
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
