import Foundation

/// Empties the page cache, so that the next reads come from the disk.
enum PageCache {
  /// The method used to empty the cache, for the report.
  enum Method: String, Codable {
    case dropCaches = "sync, then 3 to /proc/sys/vm/drop_caches: pages, names and inodes"
    case advice = "sync, then POSIX_FADV_DONTNEED on each file: pages alone, names and inodes stay"
  }

  /// Removes the files below these folders from the cache, by the strongest method available to this process.
  ///
  /// - Throws: ``Unavailable`` if pages are still cached afterwards, as on a file system in memory.
  static func drop(_ folders: [String]) throws -> Method {
    sync()
    let method = dropEverything() ? Method.dropCaches : .advice
    let files = folders.flatMap(files)
    if method == .advice { files.forEach(drop) }
    guard files.prefix(sampleCount).allSatisfy({ residentPageCount($0) == 0 }) else {
      throw Unavailable("the page cache cannot be emptied here: neither drop_caches nor POSIX_FADV_DONTNEED works")
    }
    return method
  }

  /// Removes the files below these folders from the cache if possible, so that the measured files can use it.
  static func forget(_ folders: [String]) {
    sync()
    folders.flatMap(files).forEach(drop)
  }

  /// The number of files that are checked afterwards.
  private static let sampleCount = 64

  private static func dropEverything() -> Bool {
    let file = Glibc.open("/proc/sys/vm/drop_caches", O_WRONLY | O_CLOEXEC)
    guard file >= 0 else { return false }
    defer { Glibc.close(file) }
    return write(file, "3", 1) == 1
  }

  private static func files(below folder: String) -> [String] {
    guard let walk = FileManager.default.enumerator(atPath: folder) else { return [] }
    return walk.compactMap { $0 as? String }.map { folder + "/" + $0 }
  }

  private static func drop(_ path: String) {
    let file = Glibc.open(path, O_RDONLY | O_NOFOLLOW | O_CLOEXEC)
    guard file >= 0 else { return }
    posix_fadvise(file, 0, 0, POSIX_FADV_DONTNEED)
    Glibc.close(file)
  }

  private static func residentPageCount(_ path: String) -> Int {
    let file = Glibc.open(path, O_RDONLY | O_NOFOLLOW | O_CLOEXEC)
    guard file >= 0 else { return 0 }
    defer { Glibc.close(file) }
    var status = stat()
    guard fstat(file, &status) == 0, status.st_mode & S_IFMT == S_IFREG, status.st_size > 0 else { return 0 }
    let length = Int(status.st_size)
    guard let start = mmap(nil, length, PROT_READ, MAP_SHARED, file, 0), start != MAP_FAILED else { return 0 }
    defer { munmap(start, length) }
    var pages = [UInt8](repeating: 0, count: (length + 4095) / 4096)
    guard mincore(start, length, &pages) == 0 else { return 0 }
    return pages.count { $0 & 1 != 0 }
  }
}
