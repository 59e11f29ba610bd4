import BenchmarkKit

/// Measures PackStore beside others who store assets: the commands of `packstore-bench`, with more contestants.
@main
enum Main {
  static func main() {
    let databases: [any Contestant] = [LMDB(), SQLite()]
    let images = [MountedImage(image: .squashfs), MountedImage(image: .erofs)]
    let tools: [CommandLineTool] = [.packStore, .unsquashfs, .tarZstd, .casync, .restic, .longtail, .zip]
    Benchmark.main(adding: databases + images + tools)
  }
}
