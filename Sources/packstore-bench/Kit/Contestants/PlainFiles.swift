import Foundation

/// Plain files in folders, as an app without a store uses them.
struct PlainFiles: Contestant {
  let name = "plain files"
  let note = "one file per asset; open, read, close; borrowed by mapping; neither compressed nor checksummed"
  let abilities = Abilities.all.subtracting(.open)
  let form: String? = nil

  init() {}

  func prepare(_ dataSet: DataSet, in workspace: String, threadCount: Int) throws {
    let source = try FileFolder(dataSet.folder)
    let target = try FileFolder(workspace)
    let buffer = Buffer(byteCount: 1 << 20)
    for path in dataSet.paths {
      try target.makeParents(of: path.string)
      try source.copy(path, to: target, through: buffer.bytes)
    }
  }

  func open(_ dataSet: DataSet, in workspace: String, threadCount: Int) throws -> any AssetReader {
    PlainFileReader(dataSet, try FileFolder(workspace))
  }
}

private final class PlainFileReader: AssetReader {
  private let dataSet: DataSet
  private let folder: FileFolder

  init(_ dataSet: DataSet, _ folder: FileFolder) {
    self.dataSet = dataSet
    self.folder = folder
  }

  func read(_ path: AssetPath, into memory: UnsafeMutableRawBufferPointer) throws -> Int {
    let file = try folder.open(path)
    defer { Glibc.close(file) }
    var length = 0
    while length < memory.count {
      let count = try checked(Glibc.read(file, memory.baseAddress! + length, memory.count - length), "read", path)
      if count == 0 { break }
      length += count
    }
    return length
  }

  func read(_ path: AssetPath, at offset: Int, into memory: UnsafeMutableRawBufferPointer) throws {
    let file = try folder.open(path)
    defer { Glibc.close(file) }
    try readFully(file, at: offset, into: memory, path)
  }

  func borrow(_ path: AssetPath, _ body: (UnsafeRawBufferPointer) throws -> Void) throws {
    try MappedFile(path, in: folder).withBytes(body)
  }

  func withContents(_ path: AssetPath, _ body: (UnsafeRawBufferPointer) throws -> Void) throws {
    try borrow(path, body)
  }

  func lookUp(_ paths: AssetPaths) throws -> Int {
    var sum = 0
    var status = stat()
    for path in paths {
      _ = try checked(Int(fstatat(folder.descriptor, path.utf8, &status, 0)), "stat", path)
      sum += Int(status.st_size)
    }
    return sum
  }

  func list(_ path: AssetPath) throws -> Int {
    var count = 0
    try folder.forEachEntry(in: path) { _, _ in count += 1 }
    return count
  }

  func scan(into memory: UnsafeMutableRawBufferPointer) throws -> Int {
    try dataSet.paths.reduce(0) { try $0 + read($1, into: memory) }
  }

  func extract(to target: String) throws {
    let target = try FileFolder(target)
    let buffer = Buffer(byteCount: 1 << 20)
    for path in dataSet.paths {
      try target.makeParents(of: path.string)
      try folder.copy(path, to: target, through: buffer.bytes)
    }
  }

  func close() {}
}
