/// The contestants compared with PackStore.
enum Peers {
  static let all: [any Contestant] =
    [LMDB(), SQLite()] + [MountedImage(image: .squashfs), MountedImage(image: .erofs)] + tools

  /// Each call a process of its own. PackStore as a program is among them.
  private static let tools: [CommandLineTool] = [
    .packStore, .unsquashfs, .tarZstd, .casync, .restic, .longtail, .zip,
  ]
}
