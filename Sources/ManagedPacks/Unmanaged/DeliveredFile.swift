#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#elseif canImport(Darwin)
  import Darwin
#endif

/// A file that a callback was given: it may be purged as long as it lies in the group's folder as it was delivered. Where it went is
/// not known: it is the file of this inode, size and time of change.
package struct DeliveredFile: Hashable, Codable, Sendable {
  /// Of the download.
  package var id: String
  package var priority: Int
  /// When it was delivered, in order.
  package var number: Int

  package var device: UInt64
  package var inode: UInt64
  package var byteCount: Int
  /// Since 1970.
  package var seconds: Int64
  package var nanoseconds: Int64

  package var isBounded: Bool {
    UUID(uuidString: id) != nil && (0...DownloadRecord.sizeLimit).contains(byteCount)
  }

  /// What is at a place now; nil: there is no regular file.
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

  /// Whether it is the file, and is as it was.
  func isSame(as found: FileIdentity) -> Bool {
    device == found.device && inode == found.inode && byteCount == found.byteCount && seconds == found.seconds
      && nanoseconds == found.nanoseconds
  }
}

/// What tells a file and its state from others.
struct FileIdentity: Hashable {
  let device: UInt64
  let inode: UInt64
  let byteCount: Int
  let seconds: Int64
  let nanoseconds: Int64
  let isFolder: Bool

  /// Nil: there is neither a regular file nor a folder. Links are not followed.
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
