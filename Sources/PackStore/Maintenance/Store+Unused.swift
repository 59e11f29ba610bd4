extension Store {
  /// Deletes a store that was created for an operation that then failed. A store that is not empty stays, and so does one in which
  /// another process has begun a transaction.
  ///
  /// The folder is renamed first, so that a later process creates a store of its own. A process that already has the store open
  /// cannot begin a transaction once `tmp` is deleted: the call fails, and no commit is lost.
  ///
  /// - Parameter discardingDeliveries: whether to delete the data of unfinished deliveries too.
  package static func removeUnused(at path: FilePath, discardingDeliveries: Bool = false) {
    let folder = FilePlace(path)
    let aside = path.removingLastComponent()
      .appending("\(folder.name.string).unused-\(UInt64.random(in: 0 ... .max))")
    guard (try? renameFile(folder, to: FilePlace(aside))) != nil else { return }
    let staging = FilePlace("tmp", in: aside)
    // A store whose creation failed leaves its control file in `tmp`.
    if !pathExists(aside.appending("CONTROL")) { try? removeFile(FilePlace("CONTROL", in: aside.appending("tmp"))) }
    do {
      try removeEmptyFolder(staging)
      try removeEmptyFolder(FilePlace("segments", in: aside))
    } catch {
      // In use, or `segments` was not empty.
      _ = try? makeFolder(aside.appending("tmp"))
      try? renameFile(FilePlace(aside), to: folder)
      return
    }
    if discardingDeliveries { removeTree(aside.appending("incoming")) }
    let index = aside.appending("index")
    let names = (try? namesInFolder(index)) ?? []
    let own =
      ["CONTROL", "READERS", "LOCK"] + (discardingDeliveries ? ["trust", "trust.lock", "device", "device.lock"] : [])
    let files = names.map { FilePlace($0, in: index) } + own.map { FilePlace($0, in: aside) }
    for file in files { try? removeFile(file) }
    let folders = [index, aside.appending("incoming"), aside.appending("tables"), aside]
    for folder in folders { try? removeEmptyFolder(FilePlace(folder)) }
  }
}
