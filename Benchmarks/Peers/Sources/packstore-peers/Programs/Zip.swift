import BenchmarkKit

/// The archive that everybody can open.
struct Zip: Contestant {
  let name = "zip"
  let abilities: Abilities = [.read, .ingest, .extract]
  private let zip = Program("zip")
  private let unzip = Program("unzip")

  var unavailability: String? { zip.unavailability ?? unzip.unavailability }

  var note: String {
    "\(zip.version("-v")), deflate level 6, one thread; CRC-32, verified; not synced; read by `unzip -p`, a process per asset"
  }

  func prepare(_ dataSet: DataSet, in workspace: String, threadCount: Int) throws {
    try zip.run(["-q", "-r", "-6", "-X", Self.file(in: workspace), "."], in: dataSet.folder)
  }

  func open(_ dataSet: DataSet, in workspace: String, threadCount: Int) throws -> any AssetReader {
    ZipReader(archive: Self.file(in: workspace), unzip: unzip, assetCount: dataSet.assets.count)
  }

  private static func file(in workspace: String) -> String { workspace + "/archive.zip" }
}

private final class ZipReader: AssetReader {
  private let archive: String
  private let unzip: Program
  private let assetCount: Int

  init(archive: String, unzip: Program, assetCount: Int) {
    self.archive = archive
    self.unzip = unzip
    self.assetCount = assetCount
  }

  func read(_ path: AssetPath, into memory: UnsafeMutableRawBufferPointer) throws -> Int {
    guard assetCount < 200 else { throw Unavailable("a process for each of many reads would take minutes") }
    return try unzip.run(["-p", archive, path.string], into: memory)
  }

  func extract(to target: String) throws { try unzip.run(["-q", "-o", archive, "-d", target]) }

  func close() {}
}
