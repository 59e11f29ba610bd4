import Foundation

#if canImport(Darwin)
  import Darwin
#elseif canImport(Musl)
  import Musl
#else
  import Glibc
#endif

extension Playground {
  /// Kills a process when the files below a folder have changed `limit` times.
  ///
  /// - Returns: whether the process was still running, and the number of changes.
  func kill(_ process: Process, afterChanges limit: Int, of folder: String) -> (wasKilled: Bool, changes: Int) {
    // The name and size of each file below the folder.
    func files() -> [String] {
      tree(folder).map { name in
        var info = stat()
        lstat("\(path)/\(folder)/\(name)", &info)
        return "\(name) \(info.st_size)"
      }
    }
    var changes = 0, last = files()
    while process.isRunning, changes < limit {
      let now = files()
      if now != last { changes += 1 }
      last = now
      sched_yield()
    }
    #if canImport(Darwin)
      Darwin.kill(process.processIdentifier, SIGKILL)
    #elseif canImport(Musl)
      Musl.kill(process.processIdentifier, SIGKILL)
    #else
      Glibc.kill(process.processIdentifier, SIGKILL)
    #endif
    process.waitUntilExit()
    return (process.terminationReason == .uncaughtSignal, changes)
  }
}
