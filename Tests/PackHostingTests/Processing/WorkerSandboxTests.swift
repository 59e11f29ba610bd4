#if Hosting && os(Linux)
  import CHostSandbox
  import Foundation
  import Glibc
  import PackStore
  import SystemPackage
  import Testing

  @testable import PackHosting

  /// The kernel confines threads, so that a thread of the tests is confined and ends.
  struct WorkerSandboxTests {
    /// Runs a body on a confined thread.
    private func confined(_ sandbox: WorkerSandbox, _ body: @escaping @Sendable () -> [String: CInt]) async throws
      -> [String: CInt]
    {
      try await withCheckedThrowingContinuation { continuation in
        Thread {
          continuation.resume(
            with: Result {
              try sandbox.apply(allThreads: false)
              return body()
            })
        }.start()
      }
    }

    /// 0, or the number of the error.
    private static func opening(_ path: String, _ flags: CInt) -> CInt {
      let file = open(path, flags, 0o600)
      guard file >= 0 else { return errno }
      close(file)
      return 0
    }

    @Test(.enabled(if: pkhs_landlock_version() > 0 && pkhs_has_seccomp())) func workerReachesItsFilesOnly() async throws
    {
      let host = try await TestHost(), job = host.folder.appending("job")
      let output = job.appending("out"), archive = job.appending("archive")
      try FileManager.default.createDirectory(atPath: output.string, withIntermediateDirectories: true)
      try Data([1]).write(to: URL(filePath: archive.string))
      let sandbox = WorkerSandbox(archive: archive, output: output), database = host.service.folder.database.string
      let results = try await confined(sandbox) {
        [
          "archive": Self.opening(archive.string, O_RDONLY), "archive written": Self.opening(archive.string, O_WRONLY),
          "output": Self.opening(output.appending("new").string, O_CREAT | O_RDWR),
          "renamed": rename(output.appending("new").string, output.appending("old").string) == 0 ? 0 : errno,
          "database": Self.opening(database, O_RDONLY), "sibling": Self.opening(archive.string + "2", O_CREAT | O_RDWR),
          "passwords": Self.opening("/etc/passwd", O_RDONLY), "library": Self.opening("/usr", O_RDONLY),
          "socket": socket(AF_INET, CInt(SOCK_STREAM.rawValue), 0) >= 0 ? 0 : errno,
          "signal": kill(getpid(), 0) == 0 ? 0 : errno, "truncated": truncate(archive.string, 0) == 0 ? 0 : errno,
        ]
      }
      #expect(
        results == [
          "archive": 0, "archive written": EACCES, "output": 0, "renamed": 0, "database": EACCES, "sibling": EACCES,
          "passwords": EACCES, "library": 0, "socket": EPERM, "signal": EPERM, "truncated": EPERM,
        ])
      #expect(Self.opening(database, O_RDONLY) == 0, "other threads are not confined")
    }

    /// The data of the host may be below a folder of the system, such as /usr/local. The worker reads the rest of that folder only.
    @Test(.enabled(if: pkhs_landlock_version() > 0)) func dataBelowASystemFolderIsUnreadable() async throws {
      let host = try await TestHost(), system = host.folder.appending("usr")
      let data = system.appending("local").appending("packs"), job = data.appending("work").appending("1")
      for folder in [job.appending("out"), system.appending("lib")] {
        try FileManager.default.createDirectory(atPath: folder.string, withIntermediateDirectories: true)
      }
      let files = [
        "archive": job.appending("archive"), "database": data.appending("host.sqlite"),
        "sibling": system.appending("local").appending("other"), "library": system.appending("lib").appending("x"),
        "file": system.appending("file"),
      ]
      for file in files.values { try Data([1]).write(to: URL(filePath: file.string)) }
      try FileManager.default.createSymbolicLink(
        atPath: system.appending("link").string, withDestinationPath: data.string)
      let sandbox = WorkerSandbox(
        archive: job.appending("archive"), output: job.appending("out"),
        systemFiles: [system.string, "/proc"])
      let results = try await confined(sandbox) {
        files.mapValues { Self.opening($0.string, O_RDONLY) }.merging([
          "by link": Self.opening(system.appending("link").appending("host.sqlite").string, O_RDONLY)
        ]) { first, _ in first }
      }
      #expect(
        results == [
          "archive": 0, "library": 0, "file": 0, "database": EACCES, "sibling": EACCES, "by link": EACCES,
        ])
      let outside = try WorkerSandbox(archive: job.appending("archive"), output: job).readable()
      #expect(outside == WorkerSandbox.systemFiles + [job.string], "unchanged for data elsewhere")
    }

    @Test(arguments: ["/usr", "/usr/", "/lib", "/proc"]) func systemFoldersAreRefusedAsData(_ path: String) {
      let error = #expect(throws: PackStoreError.self) { try DataFolder(FilePath(path)) }
      #expect(error?.code == .invalidArgument)
    }

    /// A worker with other arguments would run unconfined.
    @Test(arguments: [
      ["packstore-host", "worker"], ["packstore-host", "worker", "a", "b", "c"],
      ["packstore-host", "worker", "a", "b", "c", "1", "--quiet"], ["", "worker", "--help"],
    ]) func workersWithOtherArgumentsAreRefused(_ arguments: [String]) {
      #expect(throws: WorkerFault.self) { try WorkerProgram.confine(arguments) }
    }

    @Test func otherCommandsAreNotConfined() throws {
      for arguments in [[], ["packstore-host"], ["packstore-host", "serve", "worker", "a", "b", "c"]] {
        try WorkerProgram.confine(arguments)
      }
      // An unconfined process does not become a worker.
      #expect(throws: WorkerFault.self) { try WorkerProgram.requireConfined() }
    }

    @Test func doctorReportsTheProtection() async throws {
      let host = try await TestHost()
      let findings = try await Administration(folder: host.folder.string).findings()
      #expect(findings.contains { $0.name == "worker files" && $0.state == WorkerSandbox.files && !$0.isFault })
      #expect(findings.contains { $0.name == "worker system calls" && $0.state == WorkerSandbox.calls && !$0.isFault })
    }
  }
#endif
