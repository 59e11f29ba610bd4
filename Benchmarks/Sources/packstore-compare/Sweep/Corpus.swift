import ArgumentParser
import Foundation

/// A folder to measure with, and perhaps a second version of it. Reports show its name, never its path.
struct Corpus {
  let name: String
  let folder: Tree
  let secondVersion: Tree?

  /// Scans the folders: lists regular files in bytewise order of their paths, without links and other kinds.
  init(_ argument: CorpusArgument) throws {
    name = argument.name
    folder = try Tree(argument.folder)
    secondVersion = try argument.secondVersion.map { try Tree($0) }
  }

  /// Brings every file into the page cache, so that the first measurement does not pay for the disk.
  func warm() throws {
    try folder.warm()
    try secondVersion?.warm()
  }

  var summary: String {
    let secondSummary =
      secondVersion.map { "; second version \($0.files.count) files, \(megabytes($0.byteCount)) MB" } ?? ""
    return "\(folder.files.count) files, \(megabytes(folder.byteCount)) MB\(secondSummary)"
  }
}

extension Corpus {
  struct File {
    let path: String
    let byteCount: Int
  }

  /// The regular files below a folder.
  struct Tree {
    let path: String
    let files: [File]

    var byteCount: Int { files.reduce(0) { $0 + $1.byteCount } }

    init(_ path: String) throws {
      let keys: Set<URLResourceKey> = [.isRegularFileKey, .isSymbolicLinkKey, .fileSizeKey]
      let root = URL(fileURLWithPath: path, isDirectory: true)
      guard let walk = FileManager.default.enumerator(at: root, includingPropertiesForKeys: Array(keys)) else {
        throw ValidationError("cannot read the folder \(path)")
      }
      var files: [File] = []
      for case let url as URL in walk {
        let values = try url.resourceValues(forKeys: keys)
        guard values.isRegularFile == true, values.isSymbolicLink != true else { continue }
        files.append(File(path: url.path, byteCount: values.fileSize ?? 0))
      }
      self.path = path
      self.files = files.sorted { $0.path.utf8.lexicographicallyPrecedes($1.path.utf8) }
    }

    func warm() throws {
      for file in files { _ = try file.contents() }
    }
  }
}

extension Corpus.File {
  func contents() throws -> Data { try Data(contentsOf: URL(fileURLWithPath: path)) }
}

/// `NAME=FOLDER`, or `NAME=FOLDER:FOLDER2` where the second folder is a later version of the first.
struct CorpusArgument {
  let name: String
  let folder: String
  let secondVersion: String?

  init(name: String, folder: String, secondVersion: String? = nil) {
    self.name = name
    self.folder = folder
    self.secondVersion = secondVersion
  }

  static func folder(_ text: String) throws -> Self {
    let parts = text.split(separator: "=", maxSplits: 1).map(String.init)
    guard parts.count == 2 else { throw ValidationError("'\(text)' is not NAME=FOLDER") }
    return Self(name: parts[0], folder: parts[1])
  }

  static func pair(_ text: String) throws -> Self {
    let whole = try folder(text)
    let folders = whole.folder.split(separator: ":", maxSplits: 1).map(String.init)
    guard folders.count == 2 else { throw ValidationError("'\(text)' is not NAME=FOLDER:FOLDER2") }
    return Self(name: whole.name, folder: folders[0], secondVersion: folders[1])
  }
}
