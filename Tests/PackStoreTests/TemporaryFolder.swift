import Foundation
import PackStore

/// A new folder that is gone after the test.
struct TemporaryFolder: ~Copyable, Sendable {
  let path: String

  init() {
    let name = "packstore-\(UUID().uuidString)"
    path = FileManager.default.temporaryDirectory.appendingPathComponent(name).path
    try! FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
  }

  deinit { try? FileManager.default.removeItem(atPath: path) }

  /// The path of something in the folder.
  func path(_ relative: String) -> String { path + "/" + relative }

  /// A new store in the folder.
  func store(_ name: String = "store") throws -> Store { try Store(at: FilePath(path(name))) }

  /// Writes a folder of files; paths say where, values what.
  @discardableResult
  func makeFolder(_ name: String, _ files: [String: Data]) throws -> String {
    let folder = path(name)
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    for (path, bytes) in files {
      let file = URL(fileURLWithPath: folder).appendingPathComponent(path)
      try FileManager.default.createDirectory(at: file.deletingLastPathComponent(), withIntermediateDirectories: true)
      try bytes.write(to: file)
    }
    return folder
  }

  @discardableResult
  func makeFolder(_ name: String, _ files: [String: String]) throws -> String {
    try makeFolder(name, files.mapValues { Data($0.utf8) })
  }

  func makeLink(_ path: String, to target: String) throws {
    try FileManager.default.createSymbolicLink(atPath: self.path(path), withDestinationPath: target)
  }

  func contents(_ path: String) -> Data? { FileManager.default.contents(atPath: self.path(path)) }

  /// The target of a link, or `nil` if the path is not a link.
  func linkTarget(_ path: String) -> String? {
    try? FileManager.default.destinationOfSymbolicLink(atPath: self.path(path))
  }
}

/// Reproducible bytes.
struct SeededGenerator: RandomNumberGenerator {
  private var state: UInt64

  init(seed: UInt64) { state = seed }

  mutating func next() -> UInt64 {  // SplitMix64
    state &+= 0x9E37_79B9_7F4A_7C15
    var z = state
    z = (z ^ (z >> 30)) &* 0xBF58_476D_1CE4_E5B9
    z = (z ^ (z >> 27)) &* 0x94D0_49BB_1331_11EB
    return z ^ (z >> 31)
  }
}

/// Bytes that do not compress.
func noise(_ count: Int, seed: UInt64) -> Data {
  var generator = SeededGenerator(seed: seed)
  let words = (0..<(count + 7) / 8).map { _ in generator.next() }
  return words.withUnsafeBytes { Data($0.prefix(count)) }
}

/// Bytes that compress.
func text(_ count: Int, seed: UInt64) -> Data {
  var generator = SeededGenerator(seed: seed)
  let words = ["pack ", "asset ", "chunk ", "frame ", "segment ", "catalog ", "layout ", "generation "].map {
    Array($0.utf8)
  }
  var bytes: [UInt8] = []
  while bytes.count < count { bytes += words[Int(generator.next() % 8)] }
  return Data(bytes.prefix(count))
}

/// A folder with everything: empty, small, large, compressible or not, deep, and with odd names.
func variedFiles(seed: UInt64 = 1) -> [String: Data] {
  var files: [String: Data] = [
    "empty": Data(),
    "Videos/Introduction.m4v": noise(3_000_000, seed: seed),
    "Texts/Long.txt": text(5_000_000, seed: seed + 1),
    "Texts/Very/Deep/Down/Here.txt": text(100, seed: seed + 2),
    "Unicode/Grüße 🌍.txt": text(10, seed: seed + 3),
    "Unicode/\u{65}\u{301}/decomposed": Data("decomposed".utf8),
    "Unicode/\u{e9}/precomposed": Data("precomposed".utf8),
  ]
  for index in 0..<300 { files["Small/\(index % 7)/\(index).json"] = text(50 + index * 13, seed: seed + UInt64(index)) }
  return files
}
