#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#elseif canImport(Darwin)
  import Darwin
#endif

/// A delivered file, which may be purged while it is in the group's folder and unchanged. Its path is unknown, so it is identified
/// by inode, size and modification time.
package struct DeliveredFile: Hashable, Codable, Sendable {
  /// The id of the download.
  package var id: String
  package var priority: Int
  /// The sequence number of the delivery.
  package var number: Int

  package var device: UInt64
  package var inode: UInt64
  package var byteCount: Int
  /// The modification time since 1970.
  package var seconds: Int64
  package var nanoseconds: Int64

  package var isBounded: Bool {
    UUID(uuidString: id) != nil && (0...DownloadRecord.sizeLimit).contains(byteCount)
  }

  /// Creates the record of the file at a path; `nil` if it is not a regular file.
  init?(_ path: FilePath, of record: DownloadRecord) {
    guard let found = FileIdentity(path) else { return nil }
    id = record.id
    priority = record.priority
    number = record.number
    device = found.device
    inode = found.inode
    byteCount = found.byteCount
    seconds = found.seconds
    nanoseconds = found.nanoseconds
  }

  /// Returns whether `found` is the delivered file, unchanged.
  func isSame(as found: FileIdentity) -> Bool {
    device == found.device && inode == found.inode && byteCount == found.byteCount && seconds == found.seconds
      && nanoseconds == found.nanoseconds
  }
}

/// The identity and the state of a file.
struct FileIdentity: Hashable {
  let device: UInt64
  let inode: UInt64
  let byteCount: Int
  let seconds: Int64
  let nanoseconds: Int64
  let isFolder: Bool

  /// Reads the identity of the file at a path; `nil` if it is neither a regular file nor, if permitted, a folder. Does not follow
  /// links.
  init?(_ path: FilePath, mayBeFolder: Bool = false) {
    var status = stat()
    guard path.withPlatformString({ lstat($0, &status) }) == 0 else { return nil }
    isFolder = status.st_mode & S_IFMT == S_IFDIR
    guard status.st_mode & S_IFMT == S_IFREG || isFolder && mayBeFolder else { return nil }
    device = UInt64(truncatingIfNeeded: status.st_dev)
    inode = UInt64(truncatingIfNeeded: status.st_ino)
    byteCount = Int(clamping: status.st_size)
    #if canImport(Darwin)
      let time = status.st_mtimespec
    #else
      let time = status.st_mtim
    #endif
    seconds = Int64(time.tv_sec)
    nanoseconds = Int64(time.tv_nsec)
  }
}
