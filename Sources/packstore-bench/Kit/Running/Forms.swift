import Foundation

/// The contestants' forms of the data sets. Each form of each data set is prepared once, and all workloads share it.
final class Forms {
  private let work: TemporaryFolder
  private var made: [Key: Result<Form, any Error>] = [:]

  private struct Key: Hashable {
    let form: String
    let dataSet: String
  }

  init(in work: TemporaryFolder) { self.work = work }

  /// Returns a contestant's form of a data set, and prepares it if necessary.
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
    // Without this, the disk would still write during the first timed reads.
    sync()
    return Form(contestant, dataSet, folder: folder)
  }

  /// Releases the resources of all forms, such as mounts.
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

  /// Opens the form for a first read, without decoded data.
  func openUnread(threadCount: Int) throws -> any AssetReader {
    let reader = try open(threadCount: threadCount)
    try contestant.forgetDecoded(dataSet, in: folder)
    return reader
  }
}
