/// Programs that store a folder and restore it, with one process per call.
///
/// Each is called as its users would call it, with its own defaults for owners, times and permissions.
struct CommandLineTool: Contestant {
  let name: String
  /// The form of another contestant that this one shares.
  var sharedForm: String?
  let programs: [Program]
  /// How it is set up, and whether it compresses, checks and syncs.
  let note: String
  var abilities: Abilities = [.ingest, .extract]
  let store: @Sendable (Call) throws -> Void
  let extract: @Sendable (Call, _ target: String) throws -> Void

  /// The parameters of a call.
  struct Call {
    let folder: String
    /// The folder of the stored form.
    let workspace: String
    let threadCount: Int
  }

  var form: String? { sharedForm ?? name }

  var unavailability: String? { programs.lazy.compactMap(\.unavailability).first }

  func prepare(_ dataSet: DataSet, in workspace: String, threadCount: Int) throws {
    try store(Call(folder: dataSet.folder, workspace: workspace, threadCount: threadCount))
  }

  func open(_ dataSet: DataSet, in workspace: String, threadCount: Int) throws -> any AssetReader {
    let call = Call(folder: dataSet.folder, workspace: workspace, threadCount: threadCount)
    return CommandLineReader { [extract] in try extract(call, $0) }
  }
}

/// There is nothing to open: each process opens everything again.
private final class CommandLineReader: AssetReader {
  private let extract: (String) throws -> Void

  init(_ extract: @escaping (String) throws -> Void) { self.extract = extract }

  func extract(to target: String) throws { try extract(target) }

  func close() {}
}
