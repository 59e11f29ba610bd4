#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#elseif canImport(Darwin)
  import Darwin
#endif

/// A regular file open for reading. Closed with its owner.
package final class InputFile: Sendable {
  package let place: FilePlace
  private let number: CInt

  /// Opens a file at a path the user gave, following links.
  ///
  /// - Throws: `notFound`; `wrongKind` if it is not a regular file; `ioError`.
  package convenience init(_ path: FilePath) throws { try self.init(FilePlace(path), .follow) }

  /// Opens a file of a store or a site.
  ///
  /// - Throws: `notFound`; `wrongKind` for a link, or if it is not a regular file; `ioError`.
  package convenience init(_ name: String, in folder: FilePath) throws {
    try self.init(FilePlace(name, in: folder), .refuse)
  }

  private init(_ place: FilePlace, _ links: LinkRule) throws {
    number = try openFile(place, links)
    self.place = place
  }

  deinit { close(number) }

  /// The descriptor, open until this object is released.
  package var descriptor: FileDescriptor { FileDescriptor(rawValue: number) }

  package var byteCount: UInt64 {
    get throws { UInt64(clamping: try status(of: number, place).st_size) }
  }

  /// The inode, which identifies the file in its file system.
  package var inode: UInt64 { get throws { UInt64(try status(of: number, place).st_ino) } }

  /// Whether users other than the owner have any permission on the file.
  package var isOpenToOthers: Bool {
    get throws { try status(of: number, place).st_mode & 0o077 != 0 }
  }

  /// Fills the buffer, unless the file ends first.
  ///
  /// - Returns: the number of bytes read.
  package func read(at offset: UInt64, into buffer: UnsafeMutableRawBufferPointer) throws -> Int {
    var done = 0
    while done < buffer.count {
      let (position, isTooFar) = offset.addingReportingOverflow(UInt64(done))
      guard !isTooFar, let position = off_t(exactly: position) else { break }  // beyond the largest possible file
      let more = try systemCall("cannot read", place.text) {
        pread(number, buffer.baseAddress! + done, buffer.count - done, position)
      }
      if more == 0 { break }
      done += more
    }
    return done
  }

  /// Returns at most `count` bytes from `offset`; fewer at the end of the file.
  package func bytes(at offset: UInt64 = 0, upTo count: Int) throws -> [UInt8] {
    try [UInt8](unsafeUninitializedCapacity: count) { buffer, done in
      done = try read(at: offset, into: UnsafeMutableRawBufferPointer(buffer))
    }
  }

  /// Returns the whole file.
  ///
  /// - Throws: `corrupt` if it has more than `limit` bytes.
  package func contents(limit: Int) throws -> [UInt8] {
    // Allocates only the size of the file, because the limit may be much larger.
    let room = Int(clamping: min(try byteCount, UInt64(limit)) + 1)
    var bytes = try bytes(upTo: room)
    if bytes.count == room, room <= limit { bytes += try self.bytes(at: UInt64(room), upTo: limit + 1 - room) }
    guard bytes.count <= limit else { throw PackStoreError(.corrupt, "is too long", file: place.text) }
    return bytes
  }
}
