import Foundation

/// Free space on the measured file system.
enum FreeSpace {
  /// The space that every measurement leaves free for other programs.
  private static let reserve = 1 << 30

  static func freeByteCount(of folder: String) throws -> Int {
    var status = statvfs()
    guard statvfs(folder, &status) == 0 else { throw SystemError("statvfs", "workspace") }
    return Int(status.f_bavail) * Int(status.f_frsize)
  }

  /// - Throws: ``TooLittleSpace`` if a write of this many bytes would fill the disk.
  static func require(_ byteCount: Int, in folder: String) throws {
    let free = try freeByteCount(of: folder)
    guard free - reserve >= byteCount else {
      throw TooLittleSpace(neededByteCount: byteCount + reserve, freeByteCount: free)
    }
  }
}

struct TooLittleSpace: Error, CustomStringConvertible {
  let neededByteCount: Int
  let freeByteCount: Int

  var description: String {
    "workspace: the disk has \(megabytes(freeByteCount, 0)) MB free, but \(megabytes(neededByteCount, 0)) MB are needed; "
      + "choose another --workspace or a smaller --size"
  }
}
