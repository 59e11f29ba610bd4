#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#elseif canImport(Darwin)
  import Darwin
#endif

/// A file that is made and written: under a draft's name, to be synced and renamed. Closed with its owner.
package final class NewFile: Sendable {
  package let place: FilePlace
  private let number: CInt

  /// Makes the file. What has its name is taken away first, unless it is a folder: the draft of a process that has
  /// ended, or a link that leads to another file.
  ///
  /// - Parameter isSecret: its owner alone may read it.
  package init(_ place: FilePlace, isSecret: Bool = false) throws {
    self.place = place
    let mode: mode_t = isSecret ? 0o600 : 0o666
    do {
      number = try openNewFile(place, mode: mode)
    } catch let error as PackStoreError where error.code == .exists {
      try removeFile(place)
      number = try openNewFile(place, mode: mode)
    }
  }

  /// Makes a file without a name in a folder: it is gone when nothing has it open any more.
  package init(unnamedIn folder: FilePath) throws {
    place = FilePlace("spool-\(UInt64.random(in: 0 ... .max))", in: folder)
    number = try openNewFile(place, mode: 0o600)
    try removeFile(place)
  }

  deinit { close(number) }

  /// Open as long as this is.
  package var descriptor: FileDescriptor { FileDescriptor(rawValue: number) }

  /// Writes behind what was written last.
  package func write(_ bytes: UnsafeRawBufferPointer) throws {
    var rest = bytes
    while !rest.isEmpty {
      let count = try systemCall("cannot write", place.text, needed: rest.count) { systemWrite(number, rest) }
      rest = UnsafeRawBufferPointer(rebasing: rest.dropFirst(count))
    }
  }

  package func write(_ bytes: [UInt8]) throws {
    try bytes.span.bytes.withUnsafeBytes { bytes in try write(bytes) }
  }

  /// Writes all of `bytes` at `offset`, whatever was written before.
  package func write(_ bytes: UnsafeRawBufferPointer, at offset: UInt64) throws {
    try writeAll(bytes, to: number, at: offset, path: place.text)
  }

  package func sync() throws { try systemCall("cannot sync", place.text) { fsync(number) } }
}

/// Writes all of `bytes` at `offset`.
func writeAll(
  _ bytes: UnsafeRawBufferPointer, to descriptor: CInt, at offset: UInt64, path: @autoclosure () -> String
) throws {
  var done = 0
  while done < bytes.count {
    let (position, isTooFar) = offset.addingReportingOverflow(UInt64(done))
    guard !isTooFar, let position = off_t(exactly: position) else {
      throw PackStoreError("cannot write", path(), .fileTooLarge)
    }
    done += try systemCall("cannot write", path(), needed: bytes.count - done) {
      pwrite(descriptor, bytes.baseAddress! + done, bytes.count - done, position)
    }
  }
}
