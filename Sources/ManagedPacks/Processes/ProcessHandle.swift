#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#endif

/// A handle on a process, whose id is not reused while the handle exists.
///
/// A signal to a process id may reach a process that started after the id was read. Linux therefore has descriptors of processes
/// (`pidfd_open(2)`); without them no handle exists, and no signal is sent.
struct ProcessHandle: ~Copyable {
  private let descriptor: CInt

  private init(descriptor: CInt) { self.descriptor = descriptor }

  /// - Returns: `nil` if the process has ended, or the system or its C library has no descriptors of processes.
  static func open(_ process: pid_t) -> ProcessHandle? {
    guard let descriptor = function("pidfd_open", as: Open.self)?(process, 0), descriptor >= 0 else { return nil }
    return ProcessHandle(descriptor: descriptor)
  }

  deinit { close(descriptor) }

  /// Ends the process. Has no effect if it has ended.
  func kill() {
    guard let send = Self.function("pidfd_send_signal", as: Send.self) else { return }
    _ = send(descriptor, SIGKILL, nil, 0)
  }

  private typealias Open = @convention(c) (pid_t, CUnsignedInt) -> CInt
  private typealias Send = @convention(c) (CInt, CInt, UnsafeMutableRawPointer?, CUnsignedInt) -> CInt

  /// Looked up at run time: C libraries older than glibc 2.36 lack the functions.
  private static func function<Function>(_ name: String, as _: Function.Type) -> Function? {
    guard let program = dlopen(nil, RTLD_LAZY), let symbol = dlsym(program, name) else { return nil }
    return unsafeBitCast(symbol, to: Function.self)
  }
}
