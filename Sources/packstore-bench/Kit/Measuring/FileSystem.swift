import Foundation

/// Kinds of file systems.
enum FileSystem {
  /// Returns the kind of a folder's file system, such as `ext4`.
  static func name(of folder: String) -> String {
    guard let mounts = try? String(contentsOfFile: "/proc/self/mounts", encoding: .utf8) else { return "unknown" }
    let folder = URL(fileURLWithPath: folder).resolvingSymlinksInPath().path
    let candidates = mounts.split(separator: "\n").compactMap { line -> (point: Substring, kind: Substring)? in
      let fields = line.split(separator: " ")
      guard fields.count >= 3 else { return nil }
      let point = fields[1]
      guard point == "/" || folder == point || folder.hasPrefix(point + "/") else { return nil }
      return (point, fields[2])
    }
    // If several file systems are mounted at one point, the last one is visible.
    let longest = candidates.map(\.point.count).max()
    return candidates.last { $0.point.count == longest }.map { String($0.kind) } ?? "unknown"
  }
}
