#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#elseif canImport(Darwin)
  import Darwin
#endif

/// A new file: written under a draft's name, then synced and renamed. Closed with its owner.
package final class NewFile: Sendable {
  package let place: FilePlace
  private let number: CInt

  /// Creates the file. Deletes an existing file with its name first, such as the draft of an ended process, or a link; an existing
  /// folder is an error.
  ///
  /// - Parameter isSecret: whether only its owner may read it.
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

  /// Creates a file without a name in a folder: it is deleted when the last descriptor closes.
  package init(unnamedIn folder: FilePath) throws {
    place = FilePlace("spool-\(UInt64.random(in: 0 ... .max))", in: folder)
    number = try openNewFile(place, mode: 0o600)
    try removeFile(place)
  }

  deinit { close(number) }

  /// The descriptor, open until this object is released.
  package var descriptor: FileDescriptor { FileDescriptor(rawValue: number) }

  /// Appends bytes after the last write.
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

  /// Writes all of `bytes` at `offset`, replacing bytes already written there.
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
