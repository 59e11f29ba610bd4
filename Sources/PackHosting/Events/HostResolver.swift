#if Hosting
  import PackStore

  #if canImport(Glibc)
    import Glibc
  #elseif canImport(Musl)
    import Musl
  #else
    import Darwin
  #endif

  /// Resolves the host name of a receiver once. The connection uses the checked address, so that a second answer of a name server
  /// changes nothing.
  enum HostResolver {
    struct Address: Hashable, Sendable {
      /// In numeric form.
      let text: String

      /// In network byte order: 4 or 16 bytes.
      let bytes: [UInt8]
    }

    /// Returns all addresses of a host; none if it has none. Runs on a thread that may block.
    static func addresses(of host: String) async throws -> [Address] {
      try await BlockingExecutor.run { resolve(host) }
    }

    private static func resolve(_ host: String) -> [Address] {
      var hints = addrinfo(), list: UnsafeMutablePointer<addrinfo>?
      hints.ai_family = AF_UNSPEC
      #if canImport(Darwin)
        hints.ai_socktype = SOCK_STREAM
      #else
        hints.ai_socktype = CInt(SOCK_STREAM.rawValue)
      #endif
      guard getaddrinfo(host, nil, &hints, &list) == 0 else { return [] }
      defer { freeaddrinfo(list) }
      var found: [Address] = [], next = list
      while let item = next {
        if let address = address(item.pointee), !found.contains(address) { found.append(address) }
        next = item.pointee.ai_next
      }
      return found
    }

    private static func address(_ item: addrinfo) -> Address? {
      guard let socket = item.ai_addr else { return nil }
      var name = [CChar](repeating: 0, count: Int(NI_MAXHOST))
      guard getnameinfo(socket, item.ai_addrlen, &name, socklen_t(name.count), nil, 0, NI_NUMERICHOST) == 0 else {
        return nil
      }
      let text = String(decoding: name.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
      switch item.ai_family {
      case AF_INET:
        return socket.withMemoryRebound(to: sockaddr_in.self, capacity: 1) { address in
          Address(text: text, bytes: withUnsafeBytes(of: address.pointee.sin_addr) { Array($0) })
        }
      case AF_INET6:
        return socket.withMemoryRebound(to: sockaddr_in6.self, capacity: 1) { address in
          Address(text: text, bytes: withUnsafeBytes(of: address.pointee.sin6_addr) { Array($0) })
        }
      default: return nil
      }
    }
  }
#endif
