#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#elseif canImport(Darwin)
  import Darwin
#endif

/// The identity of a socket's peer, reported by the system.
package struct PeerCredentials: Hashable, Sendable {
  package var user: uid_t

  package init(user: uid_t) { self.user = user }

  /// Returns the credentials of a connection's peer; `nil` if the system does not report them. Tests substitute others.
  package typealias Reader = @Sendable (_ socket: CInt) -> PeerCredentials?

  package static let system: Reader = { socket in
    #if os(Linux)
      // `struct ucred`: process, user, group.
      var values: [Int32] = [0, 0, 0]
      var byteCount = socklen_t(MemoryLayout<Int32>.size * values.count)
      let status = getsockopt(socket, SOL_SOCKET, SO_PEERCRED, &values, &byteCount)
      guard status == 0, Int(byteCount) == MemoryLayout<Int32>.size * values.count else { return nil }
      return PeerCredentials(user: uid_t(bitPattern: values[1]))
    #else
      var user = uid_t(), group = gid_t()
      guard getpeereid(socket, &user, &group) == 0 else { return nil }
      return PeerCredentials(user: user)
    #endif
  }
}
