import Foundation
import PackStore

/// A new folder that is gone after the test.
final class TemporaryFolder: Sendable {
  let path: String

  init() throws {
    path = FileManager.default.temporaryDirectory.appendingPathComponent("packstore-\(UUID().uuidString)").path
    try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
  }

  deinit { try? FileManager.default.removeItem(atPath: path) }

  /// The path of something in the folder.
  func path(_ relative: String) -> String { path + "/" + relative }

  func store(_ name: String = "store") throws -> Store { try Store(at: FilePath(path(name))) }

  /// Replaces a folder by one with these files: the keys are paths, the values contents.
  @discardableResult
  func makeFolder(_ name: String, _ files: [String: Data]) throws -> String {
    let folder = path(name)
    try? FileManager.default.removeItem(atPath: folder)
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    for (path, bytes) in files {
      let file = URL(fileURLWithPath: folder).appendingPathComponent(path)
      try FileManager.default.createDirectory(at: file.deletingLastPathComponent(), withIntermediateDirectories: true)
      try bytes.write(to: file)
    }
    return folder
  }

  /// Every file below a folder, and its bytes.
  func files(_ folder: String) -> [String: Data] {
    let names = FileManager.default.enumerator(atPath: path(folder))?.compactMap { $0 as? String } ?? []
    var files: [String: Data] = [:]
    for name in names {
      var isFolder: ObjCBool = false
      let file = path(folder) + "/" + name
      guard FileManager.default.fileExists(atPath: file, isDirectory: &isFolder), !isFolder.boolValue else { continue }
      files[name] = FileManager.default.contents(atPath: file)
    }
    return files
  }

  func remove(_ name: String) throws { try FileManager.default.removeItem(atPath: path(name)) }
}

/// Bytes that do not compress, the same each time.
func noise(_ count: Int, seed: UInt64) -> Data {
  var state = seed
  var bytes = Data(capacity: count + 8)
  while bytes.count < count {  // SplitMix64
    state &+= 0x9E37_79B9_7F4A_7C15
    var z = state
    z = (z ^ (z >> 30)) &* 0xBF58_476D_1CE4_E5B9
    z = (z ^ (z >> 27)) &* 0x94D0_49BB_1331_11EB
    withUnsafeBytes(of: z ^ (z >> 31)) { bytes.append(contentsOf: $0) }
  }
  return bytes.prefix(count)
}

/// Files of one pack: `change` of them differ from the files of another seed.
func sampleFiles(_ change: UInt64 = 0) -> [String: Data] {
  var files: [String: Data] = [
    "empty": Data(), "big": noise(700_000, seed: 1), "changing": noise(300_000, seed: 100 + change),
  ]
  for index in 0..<60 { files["small/\(index)"] = Data(String(repeating: "line \(index)\n", count: 40 + index).utf8) }
  return files
}
