#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#elseif canImport(Darwin)
  import Darwin
#endif

/// The name of a socket in a folder. Systems limit the length of its path (107 bytes on Linux). For longer paths, Linux uses a path
/// over the folder's descriptor.
package struct SocketPlace: Sendable {
  private let folder: FilePath
  private let name: String

  package init(_ name: String, in folder: FilePath) {
    self.folder = folder
    self.name = name
  }

  package var path: FilePath { folder.appending(name) }

  /// The system's limit for the length of a path, in bytes.
  package static let pathByteCountLimit = MemoryLayout.size(ofValue: sockaddr_un().sun_path) - 1

  /// Calls `body` with the address.
  ///
  /// - Throws: ``ManagedPacksError`` `agent` if the path is too long for this system.
  func withAddress<Result>(_ body: (UnsafePointer<sockaddr>, socklen_t) throws -> Result) throws -> Result {
    guard path.string.utf8.count > Self.pathByteCountLimit else { return try Self.withAddress(path.string, body) }
    #if os(Linux)
      return try withFolderDescriptor(folder) { try Self.withAddress("/proc/self/fd/\($0)/\(name)", body) }
    #else
      throw ManagedPacksError(
        .agent, "the path '\(path)' is too long for a socket: \(path.string.utf8.count) bytes",
        remedy: "set PackStoreGroupFolder to a path of at most \(Self.pathByteCountLimit) bytes with the socket's name")
    #endif
  }

  private static func withAddress<Result>(
    _ path: String, _ body: (UnsafePointer<sockaddr>, socklen_t) throws -> Result
  ) throws -> Result {
    var address = sockaddr_un()
    address.sun_family = sa_family_t(AF_UNIX)
    withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: path.utf8.prefix(pathByteCountLimit)) }
    return try withUnsafePointer(to: &address) { pointer in
      try pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        try body($0, socklen_t(MemoryLayout<sockaddr_un>.size))
      }
    }
  }
}
