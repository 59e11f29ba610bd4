#if Hosting
  import Foundation
  import PackStore
  import Synchronization

  /// Starts a process for each archive: with an empty environment, without open files of the host, and in namespaces of its own where the
  /// system permits.
  struct ProcessWorker: ArchiveWorker {
    /// The program `packstore-host`.
    let executable: FilePath
    var limits = WorkerLimits()

    /// The command that creates the namespaces, with its arguments; empty without namespaces.
    let sandbox: [String]

    init(executable: FilePath) {
      self.executable = executable
      sandbox = Self.findSandbox()
    }

    /// The namespaces of the worker: no network, no other processes' memory.
    static let sandboxCommand = ["/usr/bin/unshare", "--user", "--map-root-user", "--net", "--ipc", "--uts", "--"]

    /// Returns the sandbox's command if it works on this machine.
    static func findSandbox() -> [String] {
      guard FileManager.default.isExecutableFile(atPath: sandboxCommand[0]) else { return [] }
      let probe = process(sandboxCommand + ["/bin/true"])
      do { try probe.run() } catch { return [] }
      probe.waitUntilExit()
      return probe.terminationStatus == 0 ? sandboxCommand : []
    }

    private static func process(_ command: [String]) -> Process {
      let process = Process()
      process.executableURL = URL(filePath: command[0])
      process.arguments = Array(command.dropFirst())
      process.environment = [:]
      process.standardInput = FileHandle.nullDevice
      process.standardOutput = FileHandle.nullDevice
      process.standardError = FileHandle.nullDevice
      return process
    }

    func check(_ archive: ArchiveCheck) async throws -> WorkerVerdict {
      let process = Self.process(
        sandbox + [
          executable.string, WorkerProgram.command, archive.archive.string, archive.output.string, archive.pack.name,
          "\(archive.number)",
        ])
      process.currentDirectoryURL = URL(filePath: archive.output.string)
      let status = try await run(process)
      guard status == 0 else { throw WorkerFault("worker: ended with status \(status)") }
      let verdict = FilePath(archive.output.string).appending(WorkerVerdict.fileName)
      let bytes = try InputFile(verdict).contents(limit: 1 << 20)
      return try JSONDecoder().decode(WorkerVerdict.self, from: Data(bytes))
    }

    /// Runs a process to its end. A process that exceeds its time, or whose task is cancelled, is ended.
    private func run(_ process: Process) async throws -> Int32 {
      let running = RunningProcess(process)
      let deadline = Task {
        try await Task.sleep(for: .seconds(Int64(clamping: limits.seconds)))
        running.end()
      }
      defer { deadline.cancel() }
      return try await withTaskCancellationHandler {
        try await running.run()
      } onCancel: {
        running.end()
      }
    }
  }

  /// A process that is ended at most once.
  private final class RunningProcess: Sendable {
    private let process: Mutex<Process>

    init(_ process: sending Process) { self.process = Mutex(process) }

    func run() async throws -> Int32 {
      try await withCheckedThrowingContinuation { (continuation: CheckedContinuation<Int32, any Error>) in
        process.withLock { process in
          process.terminationHandler = { continuation.resume(returning: $0.terminationStatus) }
          do { try process.run() } catch {
            process.terminationHandler = nil
            continuation.resume(throwing: WorkerFault("worker: cannot be started: \(error)"))
          }
        }
      }
    }

    func end() { process.withLock { if $0.isRunning { $0.terminate() } } }
  }
#endif
