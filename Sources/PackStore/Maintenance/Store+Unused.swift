extension Store {
  /// Takes back a store that was made for something that then failed. A store that holds anything stays, and so does one in
  /// which another process has begun a transaction.
  ///
  /// The folder gets another name first, so that a process that comes later makes a store of its own. A process that had
  /// opened it before can begin nothing there once `tmp` is gone: its transaction fails, and none is lost.
  ///
  /// - Parameter discardingDeliveries: what deliveries have left there for others to go on with is of no use.
  package static func removeUnused(at path: FilePath, discardingDeliveries: Bool = false) {
    let folder = FilePlace(path)
    let aside = path.removingLastComponent()
      .appending("\(folder.name.string).unused-\(UInt64.random(in: 0 ... .max))")
    guard (try? renameFile(folder, to: FilePlace(aside))) != nil else { return }
    let staging = FilePlace("tmp", in: aside)
    // What a store leaves that could not be made: its control file was not in its place yet.
    if !pathExists(aside.appending("CONTROL")) { try? removeFile(FilePlace("CONTROL", in: aside.appending("tmp"))) }
    do {
      try removeEmptyFolder(staging)
      try removeEmptyFolder(FilePlace("segments", in: aside))
    } catch {
      // In use. It may have been `segments` that was not empty.
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
