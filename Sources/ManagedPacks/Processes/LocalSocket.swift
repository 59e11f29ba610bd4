import Synchronization

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#elseif canImport(Darwin)
  import Darwin
#endif

/// A local stream socket. It is closed when the object is released. No call blocks: callers wait with `poll`.
package final class LocalSocket: Sendable {
  package let number: CInt

  /// Takes ownership of the descriptor.
  init(owning number: CInt) { self.number = number }

  deinit { close(number) }

  /// - Throws: `ioError`.
  private convenience init() throws {
    self.init(owning: try check("cannot create a socket", socket(AF_UNIX, Self.kind, 0)))
    Self.prepare(number)
  }

  /// Creates two connected sockets.
  static func pair() throws -> (LocalSocket, LocalSocket) {
    var numbers: [CInt] = [-1, -1]
    _ = try check("cannot create sockets", socketpair(AF_UNIX, kind, 0, &numbers))
    for number in numbers { prepare(number) }
    return (LocalSocket(owning: numbers[0]), LocalSocket(owning: numbers[1]))
  }

  /// Creates a listening socket at an unused name. Only the user may connect.
  ///
  /// - Parameter backlog: the number of connections that can wait to be accepted, up to the system's limit. It exceeds the
  ///   connections that apps make while they wait for a stopped agent.
  package static func listen(at place: SocketPlace, backlog: CInt = 4096) throws -> LocalSocket {
    let socket = try LocalSocket()
    // The file is created with these permissions, less the umask.
    fchmod(socket.number, 0o600)
    try place.withAddress { address, count in
      _ = try check("cannot listen at '\(place.path)'", bind(socket.number, address, count))
    }
    _ = try check("cannot listen at '\(place.path)'", systemListen(socket.number, backlog))
    return socket
  }

  /// The listener's queue of connections is full.
  struct IsFull: Error {}

  /// Returns `nil` if no process listens at the place.
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

  /// Returns the next connection; `nil` if none waits.
  func accept() throws -> LocalSocket? {
    // Between these two calls, a process started concurrently would inherit the descriptor.
    try ChildProcess.startLock.withLock { _ in
      let accepted = systemAccept(number, nil, nil)
      guard accepted >= 0 else {
        let error = Errno(rawValue: errno)
        // The peer may have disconnected already.
        if [.wouldBlock, .resourceTemporarilyUnavailable, .interrupted, .connectionAbort].contains(error) {
          return nil
        }
        throw PackStoreError(.ioError, "cannot accept a connection", systemError: error)
      }
      Self.prepare(accepted)
      return LocalSocket(owning: accepted)
    }
  }

  /// Returns up to `count` received bytes; an empty array at the end of the stream, `nil` if no bytes are available.
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

  /// Returns the number of bytes written: 0 if the peer must read first.
  func write(_ bytes: ArraySlice<UInt8>) throws -> Int {
    let written = bytes.withUnsafeBytes { send(number, $0.baseAddress, $0.count, Self.noSignal) }
    guard written < 0 else { return written }
    let error = Errno(rawValue: errno)
    if [.wouldBlock, .resourceTemporarilyUnavailable, .interrupted].contains(error) { return 0 }
    throw PackStoreError(.ioError, "cannot write to a socket", systemError: error)
  }

  /// Ends both directions of the connection and wakes all waiting calls.
  func shutDown() { shutdown(number, CInt(SHUT_RDWR)) }

  // MARK: - Differences between systems

  #if canImport(Darwin)
    private static let kind = SOCK_STREAM
    private static let noSignal: CInt = 0
  #elseif canImport(Musl)
    private static let kind = SOCK_STREAM
    private static let noSignal = CInt(MSG_NOSIGNAL)
  #else
    // Close-on-exec from creation.
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

// Needed because the class has methods with these names.
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
