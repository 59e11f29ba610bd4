extension Store {
  /// Takes back a store that was made for something that then failed. A store that holds anything stays, and so does one in
  /// which another process has begun a transaction.
  ///
  /// The folder gets another name first, so that a process that comes later makes a store of its own. A process that had
  /// opened it before can begin nothing there once `tmp` is gone: its transaction fails, and none is lost.
  package static func removeUnused(at path: FilePath) {
    let folder = FilePlace(path)
    let aside = path.removingLastComponent()
      .appending("\(folder.name.string).unused-\(UInt64.random(in: 0 ... .max))")
    guard (try? renameFile(folder, to: FilePlace(aside))) != nil else { return }
    let staging = FilePlace("tmp", in: aside)
    do {
      try removeEmptyFolder(staging)
      try removeEmptyFolder(FilePlace("segments", in: aside))
    } catch {
      // In use. It may have been `segments` that was not empty.
      _ = try? makeFolder(aside.appending("tmp"))
      try? renameFile(FilePlace(aside), to: folder)
      return
    }
    let index = aside.appending("index")
    let names = (try? namesInFolder(index)) ?? []
    let files =
      names.map { FilePlace($0, in: index) } + ["CONTROL", "READERS", "LOCK"].map { FilePlace($0, in: aside) }
    for file in files { try? removeFile(file) }
    let folders = [index, aside.appending("incoming"), aside.appending("tables"), aside]
    for folder in folders { try? removeEmptyFolder(FilePlace(folder)) }
  }
}
