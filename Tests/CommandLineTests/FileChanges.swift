import Foundation

#if canImport(Darwin)
  import Darwin
#elseif canImport(Musl)
  import Musl
#else
  import Glibc
#endif

/// Returns when a condition holds. The condition is evaluated after each change of a file or of a folder's entries, and
/// also from time to time, because it can become true without such a change.
func waitForChange(of path: String, until condition: () throws -> Bool) rethrows {
  #if os(Linux)
    let changes = inotify_init1(Int32(IN_CLOEXEC | IN_NONBLOCK))
    defer { close(changes) }
    // Before the first try, so that no change is missed.
    inotify_add_watch(changes, path, UInt32(IN_MODIFY | IN_CREATE | IN_MOVED_TO | IN_DELETE))
    var events = [UInt8](repeating: 0, count: 4096)
    while try !condition() {
      var state = pollfd(fd: changes, events: Int16(POLLIN), revents: 0)
      poll(&state, 1, 50)
      while read(changes, &events, events.count) > 0 {}
    }
  #else
    while try !condition() { sched_yield() }
  #endif
}
