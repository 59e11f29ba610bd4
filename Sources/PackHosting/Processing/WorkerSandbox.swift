#if Hosting
  import CHostSandbox
  import PackStore

  /// The confinement of a worker by Landlock and seccomp, in addition to its namespaces and limits.
  struct WorkerSandbox: Sendable {
    /// Files and folders that the worker may read: the archive, and files of the system that libraries read.
    let readable: [String]

    /// The folder in which the worker may write.
    let writable: String

    /// Keys, the database and other apps are not among them. libdispatch reads the states of threads in `/proc`, whose folders of
    /// processes have no fixed inodes to permit one by one; Landlock denies the memory and environments of other processes there.
    static let systemFiles = [
      "/usr", "/lib", "/lib64", "/etc/localtime", "/etc/ld.so.cache", "/dev/null", "/dev/urandom", "/proc",
      "/sys/devices/system/cpu",
    ]

    /// - Parameters:
    ///   - archive: a file in a folder that has nothing else than the files of the job.
    ///   - output: a folder.
    init(archive: FilePath, output: FilePath) {
      readable = Self.systemFiles + [archive.removingLastComponent().string]
      writable = output.string
    }

    /// Confines the calling thread, and the threads that it creates. A protection that the kernel lacks is omitted.
    ///
    /// - Parameter allThreads: whether system calls of all threads are confined.
    /// - Throws: `WorkerFault` if the kernel offers a protection and refuses it.
    func apply(allThreads: Bool) throws {
      if pkhs_landlock_version() > 0 {
        let result = Self.withTexts(readable) { readable in
          Self.withTexts([writable]) { pkhs_confine_files(readable, $0) }
        }
        guard result == 0 else { throw WorkerFault("worker: Landlock fails with error \(result)") }
      }
      if pkhs_has_seccomp() {
        let result = pkhs_confine_calls(allThreads)
        guard result == 0 else { throw WorkerFault("worker: seccomp fails with error \(result)") }
      }
    }

    private static func withTexts<Result>(
      _ texts: [String], _ body: (UnsafePointer<UnsafePointer<CChar>?>) -> Result
    ) -> Result {
      let copies = texts.map { text in
        let bytes = Array(text.utf8CString)
        let copy = UnsafeMutablePointer<CChar>.allocate(capacity: bytes.count)
        copy.initialize(from: bytes, count: bytes.count)
        return UnsafePointer(copy)
      }
      defer { for copy in copies { copy.deallocate() } }
      let list: [UnsafePointer<CChar>?] = copies + [nil]
      return list.withUnsafeBufferPointer { list in
        guard let first = list.baseAddress else { preconditionFailure("a list ends with nil") }
        return body(first)
      }
    }

    // MARK: - Reports

    /// The protection of files on this machine, for an operator.
    static var files: String {
      let version = pkhs_landlock_version()
      return version > 0 ? "Landlock, version \(version)" : "not available: use a kernel with Landlock (5.19)"
    }

    /// The protection of system calls on this machine.
    static var calls: String { pkhs_has_seccomp() ? "seccomp" : "not available: use a kernel with seccomp" }
  }
#endif
