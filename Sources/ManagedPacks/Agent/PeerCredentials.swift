#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#elseif canImport(Darwin)
  import Darwin
#endif

/// Who is at the other end of a socket, by the word of the system.
package struct PeerCredentials: Hashable, Sendable {
  package var user: uid_t

  package init(user: uid_t) { self.user = user }

  /// Asks the system for those of a connection; tests put others in their place. Nil: it does not say.
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
