import Foundation

/// The kernel's decoded pages of a mounted image's files. The pages of the image file itself stay cached.
enum DecodedPages {
  /// - Throws: ``Unavailable`` if pages are still cached afterwards: a first read would look like a second one.
  static func drop(_ dataSet: DataSet, below folder: String) throws {
    let folder = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
    defer { close(folder) }
    for path in dataSet.paths {
      let file = openat(folder, path.utf8, O_RDONLY | O_CLOEXEC)
      defer { close(file) }
      posix_fadvise(file, 0, 0, POSIX_FADV_DONTNEED)
    }
    if let longest = dataSet.assets.indices.max(by: { dataSet.assets[$0].byteCount < dataSet.assets[$1].byteCount }) {
      let file = openat(folder, dataSet.paths[longest].utf8, O_RDONLY | O_CLOEXEC)
      defer { close(file) }
      guard residentPageCount(file, byteCount: dataSet.assets[longest].byteCount) == 0 else {
        throw Unavailable("the kernel keeps decoded pages")
      }
    }
  }

  private static func residentPageCount(_ file: CInt, byteCount: Int) -> Int {
    guard byteCount > 0, let start = mmap(nil, byteCount, PROT_READ, MAP_SHARED, file, 0), start != MAP_FAILED else {
      return 0
    }
    defer { munmap(start, byteCount) }
    var pages = [UInt8](repeating: 0, count: (byteCount + 4095) / 4096)
    guard mincore(start, byteCount, &pages) == 0 else { return 0 }
    return pages.count { $0 & 1 != 0 }
  }
}
