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

  func path(_ relative: String) -> String { path + "/" + relative }

  /// Replaces a folder by one with these files: the keys are paths, the values contents.
  @discardableResult
  func makeFolder(_ name: String, _ files: [String: Data]) throws -> String {
    let folder = path(name)
    try? FileManager.default.removeItem(atPath: folder)
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    for (path, bytes) in files { try bytes.write(to: URL(fileURLWithPath: "\(folder)/\(path)")) }
    return folder
  }

  /// A store with packs `A` and `B` of three versions each, which share most of their content.
  func makeStore(_ name: String = "store") async throws -> Store {
    let store = try Store(at: FilePath(path(name)))
    for version in 1...3 {
      for (index, pack) in (["A", "B"] as [PackID]).enumerated() {
        let files = [
          "same": Data(repeating: UInt8(index), count: 30_000), "text": Data("pack \(pack), version \(version)".utf8),
          "noise": noise(20_000, seed: UInt64(version * 10 + index)),
        ]
        var options = Transaction.Options()
        options.keptVersionCount = 3
        let source = FilePath(try makeFolder("source", files))
        var transaction = try store.makeTransaction(options: options)
        try transaction.install(folder: source, as: pack)
        try transaction.commit()
      }
    }
    return store
  }
}

/// Random numbers that a seed determines: SplitMix64.
struct Chance {
  var state: UInt64

  init(_ seed: UInt64) { state = seed }

  mutating func next() -> UInt64 {
    state &+= 0x9E37_79B9_7F4A_7C15
    var z = state
    z = (z ^ (z >> 30)) &* 0xBF58_476D_1CE4_E5B9
    z = (z ^ (z >> 27)) &* 0x94D0_49BB_1331_11EB
    return z ^ (z >> 31)
  }

  mutating func below(_ limit: Int) -> Int { Int(next() % UInt64(limit)) }

  /// True in so many of a thousand cases.
  mutating func happens(_ perMille: Int) -> Bool { below(1000) < perMille }
}

/// Bytes that do not compress, the same each time.
func noise(_ count: Int, seed: UInt64) -> Data {
  var chance = Chance(seed)
  var bytes = Data(capacity: count + 8)
  while bytes.count < count { withUnsafeBytes(of: chance.next()) { bytes.append(contentsOf: $0) } }
  return bytes.prefix(count)
}
