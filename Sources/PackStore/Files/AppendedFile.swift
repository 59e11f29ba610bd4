#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#elseif canImport(Darwin)
  import Darwin
#endif

/// A file that grows at its end, even if other processes write to it. Closed with its owner.
package final class AppendedFile: Sendable {
  private let number: CInt
  private let name: String

  /// Opens a file at a path the user gave, or creates it.
  ///
  /// - Throws: `wrongKind` if it is not a regular file; `ioError`.
  package init(_ path: FilePath) throws {
    name = path.string
    number = try openForAppending(FilePlace(path))
  }

  deinit { close(number) }

  package func append(_ bytes: [UInt8]) throws {
    try bytes.withUnsafeBytes { bytes in
      var rest = bytes
      while !rest.isEmpty {
        let count = try systemCall("cannot write", name, needed: rest.count) { systemWrite(number, rest) }
        rest = UnsafeRawBufferPointer(rebasing: rest.dropFirst(count))
      }
    }
  }
}
