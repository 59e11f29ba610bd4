#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#elseif canImport(Darwin)
  import Darwin
#endif

/// The identity of a file and its last modification: a different state means that the file was replaced or written.
package struct FileState: Hashable, Sendable {
  private let device: UInt64
  private let inode: UInt64
  package let byteCount: UInt64
  private let modifiedAt: [Int]
  private let changedAt: [Int]

  fileprivate init(_ status: stat) {
    device = UInt64(status.st_dev)
    inode = UInt64(status.st_ino)
    byteCount = UInt64(clamping: status.st_size)
    #if canImport(Darwin)
      modifiedAt = [status.st_mtimespec.tv_sec, status.st_mtimespec.tv_nsec]
      changedAt = [status.st_ctimespec.tv_sec, status.st_ctimespec.tv_nsec]
    #else
      modifiedAt = [Int(status.st_mtim.tv_sec), Int(status.st_mtim.tv_nsec)]
      changedAt = [Int(status.st_ctim.tv_sec), Int(status.st_ctim.tv_nsec)]
    #endif
  }
}

extension InputFile {
  /// The current state.
  package var state: FileState {
    get throws { FileState(try status(of: descriptor.rawValue, place)) }
  }
}
