#if Hosting
  #if canImport(Glibc)
    import Glibc
  #elseif canImport(Musl)
    import Musl
  #else
    import Darwin
  #endif

  /// The limits of a worker process. It sets them itself before it opens the archive.
  struct WorkerLimits: Hashable, Sendable {
    /// Seconds of processor time.
    var processorSeconds: UInt64 = 3600

    /// Seconds until the host ends the process.
    var seconds: UInt64 = 2 * 3600

    /// Bytes of private memory.
    var memory: UInt64 = 4 << 30

    /// Bytes of one file.
    var fileByteCount: UInt64 = 200 << 30
    var openFiles: UInt64 = 1024

    /// - Throws: `WorkerFault` if the system refuses a limit.
    func apply() throws {
      try Self.set(RLIMIT_CPU, processorSeconds)
      try Self.set(RLIMIT_DATA, memory)
      try Self.set(RLIMIT_FSIZE, fileByteCount)
      try Self.set(RLIMIT_NOFILE, openFiles)
      try Self.set(RLIMIT_CORE, 0)
    }

    #if canImport(Glibc)
      private static func set(_ resource: __rlimit_resource, _ value: UInt64) throws {
        try set(number: __rlimit_resource_t(resource.rawValue), value)
      }
    #else
      private static func set(_ resource: CInt, _ value: UInt64) throws { try set(number: resource, value) }
    #endif

    private static func set(number: CInt, _ value: UInt64) throws {
      var present = rlimit()
      guard getrlimit(number, &present) == 0 else { throw WorkerFault("cannot read a resource limit") }
      let value = min(rlim_t(value), present.rlim_max)
      var limit = rlimit(rlim_cur: value, rlim_max: value)
      guard setrlimit(number, &limit) == 0 else { throw WorkerFault("cannot set a resource limit") }
    }
  }

  /// A fault of the machine or of the worker, not of the archive.
  struct WorkerFault: Error, CustomStringConvertible {
    let description: String

    init(_ description: String) { self.description = description }
  }
#endif
