#if Serving
  import NIOCore
  import PackStore

  #if canImport(Glibc)
    import Glibc
  #elseif canImport(Musl)
    import Musl
  #elseif canImport(Darwin)
    import Darwin
  #endif

  /// The names and addresses of this machine.
  struct MachineNames: Hashable, Sendable {
    /// The names in lower case, without duplicates.
    var names: [String]

    /// The addresses in the form of certificates, 4 or 16 bytes, without duplicates.
    var addresses: [[UInt8]]

    /// Finds `localhost`, the host's name, that name in `.local`, and the addresses of the network interfaces.
    ///
    /// - Parameter more: additional names and addresses.
    init(more: [String] = []) {
      var names = ["localhost"], addresses: [[UInt8]] = [[127, 0, 0, 1], Self.loopback6]
      if let host = Self.hostName {
        names.append(host)
        if !host.contains(".") { names.append("\(host).local") }
      }
      for device in (try? System.enumerateDevices()) ?? [] {
        if let address = (device.address?.ipAddress).flatMap(Self.bytes), !Self.isOfLink(address) {
          addresses.append(address)
        }
      }
      self = MachineNames(names: names, addresses: addresses).adding(more)
    }

    /// Returns these names and addresses with additional names and addresses.
    func adding(_ more: [String]) -> MachineNames {
      var names = names, addresses = addresses
      for name in more {
        if let address = Self.bytes(name) {
          addresses.append(address)
        } else {
          names.append(name.lowercased())
        }
      }
      return MachineNames(names: names, addresses: addresses)
    }

    init(names: [String], addresses: [[UInt8]]) {
      self.names = names.reduce(into: []) { if !$0.contains($1) { $0.append($1) } }
      self.addresses = addresses.reduce(into: []) { if !$0.contains($1) { $0.append($1) } }
    }

    private static let loopback6 = [UInt8](repeating: 0, count: 15) + [1]

    /// Returns whether a host is this machine under a permanent local address.
    static func isLoopback(_ host: String) -> Bool { ["127.0.0.1", "localhost", "::1"].contains(host) }

    /// Returns whether a host means all addresses of the machine.
    static func isAny(_ host: String) -> Bool { host == "0.0.0.0" || host == "::" }

    private static var hostName: String? {
      var buffer = [CChar](repeating: 0, count: 256)
      guard gethostname(&buffer, buffer.count - 1) == 0 else { return nil }
      let name = String(decoding: buffer.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self).lowercased()
      let isName =
        !name.isEmpty && name != "localhost"
        && name.utf8.allSatisfy { $0 == 0x2d || $0 == 0x2e || (0x30...0x39).contains($0) || (0x61...0x7a).contains($0) }
      return isName ? name : nil
    }

    /// Returns the bytes of an address; `nil` if the text is not an address.
    private static func bytes(_ text: String) -> [UInt8]? {
      for (family, count) in [(AF_INET, 4), (AF_INET6, 16)] {
        var bytes = [UInt8](repeating: 0, count: count)
        if inet_pton(family, text, &bytes) == 1 { return bytes }
      }
      return nil
    }

    /// Returns whether an address is link-local, and so valid only on one link.
    private static func isOfLink(_ address: [UInt8]) -> Bool {
      address.count == 16 ? address[0] == 0xfe && address[1] & 0xc0 == 0x80 : address.starts(with: [169, 254])
    }
  }
#endif
