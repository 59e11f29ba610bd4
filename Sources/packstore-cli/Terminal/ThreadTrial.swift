#if canImport(Darwin)
  import Darwin
#elseif canImport(Musl)
  import Musl
#else
  import Glibc
#endif

/// A trial that creates as many threads as tasks and signals need at least.
///
/// If the system refuses a thread (EAGAIN: `ulimit -u`, or the pids limit of a container), Dispatch waits for one forever and no signal
/// ends the program. So the program finds out first.
struct ThreadTrial: ~Copyable {
  /// One for the program, one for events, two for work.
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

  /// The error of the system if it refuses a thread; 0 otherwise.
  static func run() -> Int32 { ThreadTrial().createThreads() }

  /// All threads exist at the same time: each waits for the barrier.
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
