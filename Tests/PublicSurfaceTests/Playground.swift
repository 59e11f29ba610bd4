import Foundation
import PackStore

/// A new folder that is gone after the test.
final class Playground: Sendable {
  let url = FileManager.default.temporaryDirectory.appendingPathComponent("surface-\(UUID().uuidString)")

  init() throws { try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true) }

  deinit { try? FileManager.default.removeItem(at: url) }

  func path(_ name: String) -> FilePath { FilePath(url.path).appending(name) }

  /// Replaces a folder by one with these files.
  @discardableResult
  func folder(_ name: String, _ files: [String: Data]) throws -> FilePath {
    let folder = url.appendingPathComponent(name)
    try? FileManager.default.removeItem(at: folder)
    for (path, bytes) in files {
      let file = folder.appendingPathComponent(path)
      try FileManager.default.createDirectory(at: file.deletingLastPathComponent(), withIntermediateDirectories: true)
      try bytes.write(to: file)
    }
    return path(name)
  }
}

/// Bytes that no codec makes smaller.
func noise(_ count: Int, _ seed: UInt64) -> Data {
  var state = seed &* 2_862_933_555_777_941_757 &+ 1
  return Data(
    (0..<count).map { _ in
      state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
      return UInt8(truncatingIfNeeded: state >> 56)
    })
}

/// The sentence of the error that `body` ends with, which has to be of this kind.
func sentence(of code: PackStoreError.Code, _ body: () async throws -> Void) async -> String? {
  do {
    try await body()
    return nil
  } catch let error as PackStoreError where error.code == code {
    return error.localizedDescription
  } catch {
    return nil
  }
}
