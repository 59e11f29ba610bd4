/// Fills a folder with files, folders and links at relative paths, and never through a link, because the paths may come from an
/// archive.
///
/// Use it on one thread at a time.
package final class FolderBuilder {
  private let path: FilePath
  private let root: OutputFolder
  private var folders: FolderStack

  /// - Parameter path: the folder, which is created if necessary.
  package init(_ path: FilePath) throws {
    self.path = path
    root = try OutputFolder(making: path)
    folders = FolderStack(root: root.descriptor)
  }

  /// Creates a folder and its parents, if missing.
  package func makeFolder(_ path: [UInt8]) throws { _ = try folders.enter(ExtractPath(path).relative) }

  /// Creates a file, whose name must be free. Long runs of zeros become holes, which use no space and which adding the folder finds.
  ///
  /// - Parameter byteCount: the size of the whole file.
  /// - Throws: `exists`.
  package func makeFile(_ path: [UInt8], isExecutable: Bool, byteCount: UInt64) throws -> File {
    let path = try ExtractPath(path)
    return File(
      try OutputFile(
        path, in: folders.enter(path.folder), executable: isExecutable, replacing: false, sparseByteCount: byteCount))
  }

  /// Creates a symbolic link, whose name must be free.
  package func makeLink(_ path: [UInt8], to target: [UInt8]) throws {
    let path = try ExtractPath(path)
    let folder = try folders.enter(path.folder)
    try target.withUnsafeBytes { try PackStore.makeLink(path, to: $0, in: folder, replacing: false) }
  }

  /// Gives an existing file a second name, which must be free. Copies the file if it has the maximum number of names, or if the file
  /// system does not support hard links.
  package func addName(_ path: [UInt8], of file: [UInt8], isExecutable: Bool) throws {
    let name = try ExtractPath(path), file = try ExtractPath(file).text
    _ = try folders.enter(name.folder)
    do {
      try linkFile(FilePlace(file, in: self.path), to: FilePlace(name.text, in: self.path))
    } catch let error as PackStoreError
      where [.tooManyLinks, .notPermitted, .notSupported].contains(error.systemError)
    {
      try copyFile(InputFile(file, in: self.path), to: path, isExecutable: isExecutable)
    }
  }

  private func copyFile(_ file: InputFile, to path: [UInt8], isExecutable: Bool) throws {
    var copy = try makeFile(path, isExecutable: isExecutable, byteCount: file.byteCount)
    let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: 1 << 20, alignment: 16)
    defer { buffer.deallocate() }
    var offset: UInt64 = 0
    while case let count = try file.read(at: offset, into: buffer), count > 0 {
      try Task.checkCancellation()
      try copy.append(UnsafeRawBufferPointer(rebasing: buffer[..<count]))
      offset += UInt64(count)
    }
    try copy.finish()
  }

  /// A file that is written sequentially.
  package struct File: ~Copyable {
    private let file: OutputFile
    private var byteCount: UInt64 = 0

    fileprivate init(_ file: OutputFile) { self.file = file }

    package mutating func append(_ bytes: UnsafeRawBufferPointer) throws {
      try file.write(bytes, at: byteCount)
      byteCount += UInt64(bytes.count)
    }

    /// Completes the file, which may end with a hole.
    package func finish() throws { try file.completeSize() }
  }
}
