#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#elseif canImport(Darwin)
  import Darwin
#endif

/// A regular file that is read. Closed with its owner.
package final class InputFile: Sendable {
  package let place: FilePlace
  private let number: CInt

  /// Opens a file that a person named: a link to one is followed.
  ///
  /// - Throws: `notFound` when there is no such file; `wrongKind` for what is no regular file; `ioError`.
  package convenience init(_ path: FilePath) throws { try self.init(FilePlace(path), .follow) }

  /// Opens a file of a store or a site.
  ///
  /// - Throws: `notFound` when there is no such file; `wrongKind` for a link, or what is no regular file; `ioError`.
  package convenience init(_ name: String, in folder: FilePath) throws {
    try self.init(FilePlace(name, in: folder), .refuse)
  }

  private init(_ place: FilePlace, _ links: LinkRule) throws {
    number = try openFile(place, links)
    self.place = place
  }

  deinit { close(number) }

  /// Open as long as this is.
  package var descriptor: FileDescriptor { FileDescriptor(rawValue: number) }

  package var byteCount: UInt64 {
    get throws { UInt64(clamping: try status(of: number, place).st_size) }
  }

  /// What tells the file from others of its file system.
  var inode: UInt64 { get throws { UInt64(try status(of: number, place).st_ino) } }

  /// Whether others than its owner may do anything with it.
  package var isOpenToOthers: Bool {
    get throws { try status(of: number, place).st_mode & 0o077 != 0 }
  }

  /// Fills the buffer, unless the file ends before.
  ///
  /// - Returns: how many bytes there were.
  package func read(at offset: UInt64, into buffer: UnsafeMutableRawBufferPointer) throws -> Int {
    var done = 0
    while done < buffer.count {
      let (position, isTooFar) = offset.addingReportingOverflow(UInt64(done))
      guard !isTooFar, let position = off_t(exactly: position) else { break }  // where no file reaches
      let more = try systemCall("cannot read", place.text) {
        pread(number, buffer.baseAddress! + done, buffer.count - done, position)
      }
      if more == 0 { break }
      done += more
    }
    return done
  }

  /// At most `count` bytes from `offset` on: fewer where the file ends.
  package func bytes(at offset: UInt64 = 0, upTo count: Int) throws -> [UInt8] {
    try [UInt8](unsafeUninitializedCapacity: count) { buffer, done in
      done = try read(at: offset, into: UnsafeMutableRawBufferPointer(buffer))
    }
  }

  /// The whole file.
  ///
  /// - Throws: `corrupt` when it has more than `limit` bytes.
  package func contents(limit: Int) throws -> [UInt8] {
    // No more room than the file takes: a limit may be far above what is there.
    let room = Int(clamping: min(try byteCount, UInt64(limit)) + 1)
    var bytes = try bytes(upTo: room)
    if bytes.count == room, room <= limit { bytes += try self.bytes(at: UInt64(room), upTo: limit + 1 - room) }
    guard bytes.count <= limit else { throw PackStoreError(.corrupt, "is too long", file: place.text) }
    return bytes
  }
}
