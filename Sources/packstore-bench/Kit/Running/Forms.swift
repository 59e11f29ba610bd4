import Foundation

/// What the contestants made of the data sets: each form of each data set once, and every workload shares it.
final class Forms {
  private let work: TemporaryFolder
  private var made: [Key: Result<Form, any Error>] = [:]

  private struct Key: Hashable {
    let form: String
    let dataSet: String
  }

  init(in work: TemporaryFolder) { self.work = work }

  /// A contestant's form of a data set, made now unless it is there.
  func form(_ contestant: any Contestant, _ dataSet: DataSet) throws -> Form {
    guard let name = contestant.form else { return Form(contestant, dataSet, folder: dataSet.folder) }
    let key = Key(form: name, dataSet: dataSet.name)
    let result = made[key] ?? Result { try make(contestant, dataSet) }
    made[key] = result
    return Form(contestant, dataSet, folder: try result.get().folder)
  }

  private func make(_ contestant: any Contestant, _ dataSet: DataSet) throws -> Form {
    Interruption.waitForTheEnd()
    note("  \(contestant.name) prepares: \(dataSet.name)")
    try FreeSpace.require(dataSet.byteCount, in: work.path)
    let folder = try work.newFolder()
    try contestant.prepare(dataSet, in: folder, threadCount: ProcessInfo.processInfo.activeProcessorCount)
    // Else the disk would still be writing while the first reads are timed.
    sync()
    return Form(contestant, dataSet, folder: folder)
  }

  /// Ends mounts and the like.
  func release() {
    for case .success(let form) in made.values { form.contestant.release(form.folder) }
    made = [:]
  }
}

/// A contestant's form of a data set.
struct Form {
  let contestant: any Contestant
  let dataSet: DataSet
  let folder: String

  init(_ contestant: any Contestant, _ dataSet: DataSet, folder: String) {
    self.contestant = contestant
    self.dataSet = dataSet
    self.folder = folder
  }

  func open(threadCount: Int) throws -> any AssetReader {
    try contestant.open(dataSet, in: folder, threadCount: threadCount)
  }

  /// Opens it for a first read: nothing has been decoded yet.
  func openUnread(threadCount: Int) throws -> any AssetReader {
    let reader = try open(threadCount: threadCount)
    try contestant.forgetDecoded(dataSet, in: folder)
    return reader
  }
}
