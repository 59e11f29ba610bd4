/// What lies at a path of a folder or pack.
enum Node: Equatable {
  case file([UInt8], executable: Bool)
  case link(String)
  case folder
  ///< an empty one

  static func file(_ text: String) -> Node { .file(Array(text.utf8), executable: false) }
  static func file(_ bytes: [UInt8]) -> Node { .file(bytes, executable: false) }

  var isFolder: Bool { self == .folder }
}

extension Node: CustomStringConvertible {
  var description: String {
    switch self {
    case .file(let bytes, let executable): "file(\(bytes.count) bytes\(executable ? ", executable" : ""))"
    case .link(let target): "link(\(target))"
    case .folder: "folder"
    }
  }
}

/// A folder's content by path; only empty folders have paths of their own.
typealias Folder = [String: Node]

extension Folder {
  /// A small folder with something of everything: raw and compressible assets, some larger than a frame's share, an empty
  /// file, a link, an executable and an empty folder.
  static func sample(seed: UInt64) -> Folder {
    var random = Random(seed)
    return [
      "a/noise": .file(random.bytes(9_000)),
      "a/text": .file(random.text(20_000)),
      "a/deep/er/small": .file(random.text(40)),
      "empty": .file([]),
      "large": .file(random.text(70_000)),
      "link": .link("a/text"),
      "tool": .file(random.bytes(300), executable: true),
      "void": .folder,
    ]
  }

  /// The next version of it: one asset changed in the middle, one gone, one new, one moved.
  static func changedSample(seed: UInt64) -> Folder {
    var folder = sample(seed: seed)
    var random = Random(seed &+ 1)
    if case .file(var bytes, _) = folder["large"] {
      bytes.replaceSubrange(30_000..<30_010, with: random.bytes(25))
      folder["large"] = .file(bytes)
    }
    folder["empty"] = nil
    folder["new"] = .file(random.bytes(2_000))
    folder["moved"] = folder.removeValue(forKey: "a/noise")
    return folder
  }
}
