import Synchronization

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#elseif canImport(Darwin)
  import Darwin
#endif

/// A stream socket of this machine. Closed with its owner; never waits: who has nothing to do asks `poll`.
package final class LocalSocket: Sendable {
  package let number: CInt

  /// Owns the descriptor from now on.
  init(owning number: CInt) { self.number = number }

  deinit { close(number) }

  /// - Throws: `ioError`.
  private convenience init() throws {
    self.init(owning: try check("cannot make a socket", socket(AF_UNIX, Self.kind, 0)))
    Self.prepare(number)
  }

  /// Two that are connected with each other.
  static func pair() throws -> (LocalSocket, LocalSocket) {
    var numbers: [CInt] = [-1, -1]
    _ = try check("cannot make sockets", socketpair(AF_UNIX, kind, 0, &numbers))
    for number in numbers { prepare(number) }
    return (LocalSocket(owning: numbers[0]), LocalSocket(owning: numbers[1]))
  }

  /// Listens at a name that nothing has. Only the user may connect.
  ///
  /// - Parameter backlog: how many may connect before one is accepted, as far as the system allows: more than apps do while one
  ///   waits that has stopped.
  package static func listen(at place: SocketPlace, backlog: CInt = 4096) throws -> LocalSocket {
    let socket = try LocalSocket()
    // The name is made with these rights, less what the umask takes.
    fchmod(socket.number, 0o600)
    try place.withAddress { address, count in
      _ = try check("cannot listen at '\(place.path)'", bind(socket.number, address, count))
    }
    _ = try check("cannot listen at '\(place.path)'", systemListen(socket.number, backlog))
    return socket
  }

  /// One who listens takes no more connections for the moment.
  struct IsFull: Error {}

  /// Nil: no one listens there.
  ///
  /// - Throws: ``IsFull``.
  package static func connect(to place: SocketPlace) throws -> LocalSocket? {
    let socket = try LocalSocket()
    do {
      try place.withAddress { address, count in
        _ = try check("cannot connect to '\(place.path)'", systemConnect(socket.number, address, count))
      }
      return socket
    } catch let error as PackStoreError where error.systemError != nil {
      if error.systemError == .wouldBlock || error.systemError == .resourceTemporarilyUnavailable { throw IsFull() }
      return nil
    }
  }

  /// The next who connects; nil: no one does at the moment.
  func accept() throws -> LocalSocket? {
    // Between these two calls the descriptor would be handed to a process that is started.
    try ChildProcess.startLock.withLock { _ in
      let accepted = systemAccept(number, nil, nil)
      guard accepted >= 0 else {
        let error = Errno(rawValue: errno)
        // Who connected may be gone again.
        if [.wouldBlock, .resourceTemporarilyUnavailable, .interrupted, .connectionAbort].contains(error) {
          return nil
        }
        throw PackStoreError(.ioError, "cannot accept a connection", systemError: error)
      }
      Self.prepare(accepted)
      return LocalSocket(owning: accepted)
    }
  }

  /// What was read, at most `count` bytes: none at the end. Nil: nothing is there at the moment.
  func read(upTo count: Int) throws -> [UInt8]? {
    var failure: Errno?
    let bytes = [UInt8](unsafeUninitializedCapacity: count) { buffer, done in
      let read = recv(number, buffer.baseAddress, buffer.count, 0)
      done = max(read, 0)
      if read < 0 { failure = Errno(rawValue: errno) }
    }
    switch failure {
    case nil: return bytes
    case .wouldBlock?, .resourceTemporarilyUnavailable?, .interrupted?: return nil
    case let error?: throw PackStoreError(.ioError, "cannot read from a socket", systemError: error)
    }
  }

  /// How many bytes were taken: 0 where the other end has to read first.
  func write(_ bytes: ArraySlice<UInt8>) throws -> Int {
    let written = bytes.withUnsafeBytes { send(number, $0.baseAddress, $0.count, Self.noSignal) }
    guard written < 0 else { return written }
    let error = Errno(rawValue: errno)
    if [.wouldBlock, .resourceTemporarilyUnavailable, .interrupted].contains(error) { return 0 }
    throw PackStoreError(.ioError, "cannot write to a socket", systemError: error)
  }

  /// Wakes all who wait for it; nothing comes or goes any more.
  func shutDown() { shutdown(number, CInt(SHUT_RDWR)) }

  // MARK: - What differs between systems

  #if canImport(Darwin)
    private static let kind = SOCK_STREAM
    private static let noSignal: CInt = 0
  #elseif canImport(Musl)
    private static let kind = SOCK_STREAM
    private static let noSignal = CInt(MSG_NOSIGNAL)
  #else
    // Closed in other programs from the first moment on.
    private static let kind = CInt(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue)
    private static let noSignal = CInt(MSG_NOSIGNAL)
  #endif

  private static func prepare(_ number: CInt) {
    _ = fcntl(number, F_SETFD, FD_CLOEXEC)
    _ = fcntl(number, F_SETFL, O_NONBLOCK)
    #if canImport(Darwin)
      var isOn: CInt = 1
      setsockopt(number, SOL_SOCKET, SO_NOSIGPIPE, &isOn, socklen_t(MemoryLayout<CInt>.size))
    #endif
  }
}

// The names are methods, too.
private func systemListen(_ number: CInt, _ backlog: CInt) -> CInt { listen(number, backlog) }
private func systemConnect(_ number: CInt, _ address: UnsafePointer<sockaddr>, _ count: socklen_t) -> CInt {
  connect(number, address, count)
}
private func systemAccept(
  _ number: CInt, _ address: UnsafeMutablePointer<sockaddr>?, _ count: UnsafeMutablePointer<socklen_t>?
) -> CInt { accept(number, address, count) }

func check(_ reason: String, _ result: CInt) throws -> CInt {
  guard result < 0 else { return result }
  throw PackStoreError(.ioError, reason, systemError: Errno(rawValue: errno))
}
