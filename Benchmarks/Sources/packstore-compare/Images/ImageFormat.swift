import Foundation

/// A kind of compressed file system, and how images of it are made here.
struct ImageFormat: Sendable {
  let name: String
  /// As the kernel calls it.
  let fileSystem: String
  let maker: Program
  let note: String
  /// For `mkfs.erofs --compress-hints`: which files are worth what effort.
  var hints: String?
  let arguments: @Sendable (_ folder: String, _ image: String, _ threadCount: Int) -> [String]

  static let squashfs = ImageFormat(
    name: "squashfs, zstd 128 KiB", fileSystem: "squashfs", maker: Program("mksquashfs"),
    note: "\(Program("mksquashfs").version("-version")), zstd level 3, blocks of 128 KiB; no checksums; not synced"
  ) { folder, image, threadCount in
    [folder, image, "-comp", "zstd", "-Xcompression-level", "3", "-b", "128K", "-no-xattrs", "-quiet", "-no-progress"]
      + ["-processors", "\(threadCount)"]
  }

  static let erofs = ImageFormat(
    name: "EROFS, lz4hc", fileSystem: "erofs", maker: Program("mkfs.erofs"),
    note:
      "\(Program("mkfs.erofs").version("--version")), lz4hc, clusters of up to 64 KiB; what names say is compressed already is "
      + "stored raw, as users would hint; no checksums; not synced",
    // Without, it takes minutes to find that out.
    hints: "0 (incompressible|\\.(gz|jpeg|jpg|m4v|mp3|mp4|ogg|png|webp|zip|zst)$)\n"
  ) { folder, image, _ in
    ["-zlz4hc", "-C65536", "-x-1", "--compress-hints=\(image).hints", "--quiet", image, folder]
  }

  /// Returns the path of a workspace's image.
  static func file(in workspace: String) -> String { workspace + "/image" }

  func make(of dataSet: DataSet, in workspace: String, threadCount: Int) throws {
    if let hints {
      try Data(hints.utf8).write(to: URL(fileURLWithPath: Self.file(in: workspace) + ".hints"))
    }
    try maker.run(arguments(dataSet.folder, Self.file(in: workspace), threadCount))
  }
}
