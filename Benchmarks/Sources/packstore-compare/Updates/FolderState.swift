import Foundation

/// The files below a folder at one moment, to find later which files were written.
struct FolderState {
  private struct File: Equatable {
    let inode: UInt64
    let byteCount: Int
    let modified: [Int]
  }

  private var files: [String: File] = [:]

  /// A folder that is not there has no files.
  init(_ folder: String) throws {
    var pending = FileManager.default.fileExists(atPath: folder) ? [folder] : []
    while let next = pending.popLast() {
      for name in try FileManager.default.contentsOfDirectory(atPath: next) {
        let path = "\(next)/\(name)"
        var about = stat()
        guard lstat(path, &about) == 0 else { throw SystemError("stat", name) }
        if about.st_mode & S_IFMT == S_IFDIR {
          pending.append(path)
        } else if about.st_mode & S_IFMT == S_IFREG {
          files[String(path.dropFirst(folder.count + 1))] = File(
            inode: UInt64(about.st_ino), byteCount: Int(about.st_size),
            modified: [about.st_mtim.tv_sec, about.st_mtim.tv_nsec])
        }
      }
    }
  }

  var fileCount: Int { files.count }

  var byteCount: Int { files.values.reduce(0) { $0 + $1.byteCount } }

  /// The bytes of all files that are new or have changed since `earlier`.
  func byteCountWritten(since earlier: FolderState) -> Int {
    files.reduce(0) { sum, file in earlier.files[file.key] == file.value ? sum : sum + file.value.byteCount }
  }
}
