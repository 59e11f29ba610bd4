#if canImport(Darwin)
  import Darwin
#elseif canImport(Musl)
  import Musl
#else
  import Glibc
#endif

/// Checks at startup that the system allows the minimum number of threads for tasks and signals.
///
/// If the system refuses a thread (EAGAIN, because of `ulimit -u` or a container's pids limit), Dispatch waits forever, and no
/// signal ends the program.
struct ThreadTrial: ~Copyable {
  /// The number of threads: one for the program, one for events, two for work.
  private static let count = 4
  private let barrier: UnsafeMutablePointer<pthread_mutex_t>

  private init() {
    barrier = .allocate(capacity: 1)
    pthread_mutex_init(barrier, nil)
  }

  deinit {
    pthread_mutex_destroy(barrier)
    barrier.deallocate()
  }

  /// Runs the check. Returns the system's error number if it refuses a thread; otherwise 0.
  static func run() -> Int32 { ThreadTrial().createThreads() }

  /// Creates all threads. They exist at the same time, because each waits for the barrier.
  private func createThreads() -> Int32 {
    var threads: [pthread_t] = [], failure: Int32 = 0
    pthread_mutex_lock(barrier)
    while threads.count < Self.count, failure == 0 {
      #if canImport(Darwin)
        var thread: pthread_t?
        failure = pthread_create(&thread, nil, { Self.wait($0) }, barrier)
        if let thread, failure == 0 { threads.append(thread) }
      #else
        var thread = pthread_t()
        failure = pthread_create(&thread, nil, { $0.flatMap { Self.wait($0) } }, barrier)
        if failure == 0 { threads.append(thread) }
      #endif
    }
    pthread_mutex_unlock(barrier)
    for thread in threads { pthread_join(thread, nil) }
    return failure
  }

  private static func wait(_ barrier: UnsafeMutableRawPointer) -> UnsafeMutableRawPointer? {
    let barrier = barrier.assumingMemoryBound(to: pthread_mutex_t.self)
    pthread_mutex_lock(barrier)
    pthread_mutex_unlock(barrier)
    return nil
  }
}
