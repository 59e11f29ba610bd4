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
    ZipReader(archive: Self.file(in: workspace), unzip: unzip, dataSet)
  }

  private static func file(in workspace: String) -> String { workspace + "/archive.zip" }
}

private final class ZipReader: AssetReader {
  private let archive: String
  private let unzip: Program
  /// It starts a process for each read, and decodes a tenth of a gigabyte in a second.
  private let takesMinutes: Bool

  init(archive: String, unzip: Program, _ dataSet: DataSet) {
    self.archive = archive
    self.unzip = unzip
    takesMinutes = dataSet.assets.count > 200 || dataSet.byteCount > 100_000_000
  }

  func read(_ path: AssetPath, into memory: UnsafeMutableRawBufferPointer) throws -> Int {
    guard !takesMinutes else { throw Unavailable("`unzip -p` of so much would take minutes: try --size 100") }
    return try unzip.run(["-p", archive, path.string], into: memory)
  }

  func extract(to target: String) throws { try unzip.run(["-q", "-o", archive, "-d", target]) }

  func close() {}
}
