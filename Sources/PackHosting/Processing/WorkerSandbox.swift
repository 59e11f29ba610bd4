#if Hosting
  import CHostSandbox
  import Foundation
  import PackStore

  #if canImport(Glibc)
    import Glibc
  #elseif canImport(Musl)
    import Musl
  #else
    import Darwin
  #endif

  /// The confinement of a worker by Landlock and seccomp, in addition to its namespaces and limits.
  struct WorkerSandbox: Sendable {
    /// The folder of the job, with the archive.
    private let job: String

    /// The folder in which the worker may write.
    private let writable: String
    private let systemFiles: [String]

    /// Keys, the database and other apps are not among them. libdispatch reads the states of threads in `/proc`, whose folders of
    /// processes have no fixed inodes to permit one by one; Landlock denies the memory and environments of other processes there.
    static let systemFiles = [
      "/usr", "/lib", "/lib64", "/etc/localtime", "/etc/ld.so.cache", "/dev/null", "/dev/urandom", "/proc",
      "/sys/devices/system/cpu",
    ]

    /// - Parameters:
    ///   - archive: a file in a folder that has nothing else than the files of the job.
    ///   - output: a folder.
    ///   - systemFiles: files and folders of the system. If the job's folder, and with it the host's data, is below one of them, the
    ///     part that contains it is omitted.
    init(archive: FilePath, output: FilePath, systemFiles: [String] = WorkerSandbox.systemFiles) {
      job = archive.removingLastComponent().string
      writable = output.string
      self.systemFiles = systemFiles
    }

    /// Files and folders that the worker may read: its job, and files of the system that libraries read.
    ///
    /// - Throws: `WorkerFault` if a folder of the system that contains the job cannot be listed.
    func readable() throws -> [String] {
      let place = try Self.realPath(job)
      return try systemFiles.flatMap { try Self.paths(of: $0, without: place) } + [job]
    }

    /// Returns the paths that permit a file or folder of the system, without the data of the host.
    ///
    /// - Parameter place: the path of the job's folder, without links.
    private static func paths(of systemFile: String, without place: String) throws -> [String] {
      guard let folder = try? realPath(systemFile), place == folder || place.hasPrefix(folder + "/") else {
        return [systemFile]
      }
      let taken = place.dropFirst(folder.count + 1).prefix { $0 != "/" }
      let names: [String]
      do { names = try FileManager.default.contentsOfDirectory(atPath: folder) } catch {
        throw WorkerFault("worker: the folder '\(folder)', which contains the data of the host, cannot be listed")
      }
      // A link could lead to the data.
      return names.filter { $0 != taken }.map { "\(folder)/\($0)" }.filter { !isLink($0) }
    }

    private static func isLink(_ path: String) -> Bool {
      (try? FileManager.default.destinationOfSymbolicLink(atPath: path)) != nil
    }

    private static func realPath(_ path: String) throws -> String {
      guard let resolved = realpath(path, nil) else { throw WorkerFault("worker: cannot resolve the path '\(path)'") }
      defer { free(resolved) }
      return String(cString: resolved)
    }

    /// Confines the calling thread, and the threads that it creates. A protection that the kernel lacks is omitted.
    ///
    /// - Parameter allThreads: whether system calls of all threads are confined.
    /// - Throws: `WorkerFault` if the kernel offers a protection and refuses it.
    func apply(allThreads: Bool) throws {
      if pkhs_landlock_version() > 0 {
        let result = Self.withTexts(try readable()) { readable in
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
