#if Hosting
  import Foundation
  import PackStore
  import Synchronization

  /// The body of the process `packstore-host worker`.
  package enum WorkerProgram {
    /// The name of the program's command.
    package static let command = "worker"

    /// Whether ``confine(_:)`` confined this process.
    private static let isConfined = Mutex(false)

    /// Confines the process if it is a worker, by its arguments. Called before the process has other threads, because the kernel
    /// confines threads. A worker with other arguments than ``ProcessWorker`` passes is refused: it would run unconfined.
    ///
    /// - Parameter arguments: of the process, with its name.
    /// - Throws: faults of the machine; a fault for wrong arguments of a worker.
    package static func confine(_ arguments: [String]) throws {
      guard arguments.dropFirst().first == command else { return }
      guard arguments.count == 6 else { throw wrongArguments }
      try WorkerLimits().apply()
      try WorkerSandbox(archive: FilePath(arguments[2]), output: FilePath(arguments[3])).apply(allThreads: true)
      isConfined.withLock { $0 = true }
    }

    /// Fails unless ``confine(_:)`` confined this process.
    package static func requireConfined() throws {
      guard isConfined.withLock({ $0 }) else {
        throw WorkerFault("worker: not confined; only the service starts workers, as 'packstore-host \(command) …'")
      }
    }

    private static let wrongArguments = WorkerFault(
      "worker: wrong arguments; it needs an archive, a folder, a pack and a number")

    /// Checks an archive, and writes the verdict to the output folder as its last act.
    ///
    /// - Parameter arguments: archive, output folder, pack, number.
    /// - Throws: faults of the machine.
    package static func run(_ arguments: [String]) async throws {
      guard arguments.count == 4, let number = UInt64(arguments[3]) else {
        throw wrongArguments
      }
      let output = FilePath(arguments[1])
      let check = ArchiveCheck(
        archive: FilePath(arguments[0]), output: output, pack: try PackID(validating: arguments[2]), number: number)
      let verdict = try await check.run()
      try replaceFile(
        WorkerVerdict.fileName, in: output, by: Array(try JSONEncoder().encode(verdict)),
        draft: WorkerVerdict.fileName + ".new")
    }
  }
#endif
