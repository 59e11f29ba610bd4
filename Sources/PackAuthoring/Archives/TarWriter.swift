import PackFormats
import PackStore

/// Writes a tar file of plain files, sequentially.
final class TarWriter {
  private static let bufferByteCount = 1 << 20

  private let output: NewFile
  private let modifiedAt: UInt64
  private var byteCount: UInt64 = 0

  /// - Parameter modifiedAt: the time of all members, in seconds since 1970.
  init(_ output: NewFile, modifiedAt: UInt64) {
    self.output = output
    self.modifiedAt = modifiedAt
  }

  /// Adds a file under a name of at most 100 bytes.
  ///
  /// - Throws: `sourceChanged` if the file shrinks during the call.
  func add(_ name: String, from file: InputFile) throws {
    try Task.checkCancellation()
    let header = TarHeader(name: name, byteCount: try file.byteCount, modifiedAt: modifiedAt)
    try write(header.encode())
    var left = header.byteCount
    while left > 0 {
      let bytes = try file.bytes(
        at: header.byteCount - left, upTo: Int(min(left, UInt64(Self.bufferByteCount))))
      guard !bytes.isEmpty else { throw PackStoreError(.sourceChanged, "truncated while it was read", file: name) }
      try write(bytes)
      left -= UInt64(bytes.count)
    }
    let padding = TarHeader.paddedByteCount(header.byteCount)! - header.byteCount
    try write([UInt8](repeating: 0, count: Int(padding)))
  }

  /// Adds a file with these bytes.
  func add(_ name: String, _ bytes: [UInt8]) throws {
    let header = TarHeader(name: name, byteCount: UInt64(bytes.count), modifiedAt: modifiedAt)
    let padding = Int(Self.byteCount(ofMember: header.byteCount)) - TarHeader.byteCount - bytes.count
    try write(header.encode() + bytes + [UInt8](repeating: 0, count: padding))
  }

  /// Returns the size of a file in an archive, with its header and padding.
  static func byteCount(ofMember byteCount: UInt64) -> UInt64 {
    (TarHeader.paddedByteCount(byteCount) ?? .max).addingClamped(UInt64(TarHeader.byteCount))
  }

  /// The size of the end of an archive.
  static let endByteCount = UInt64(2 * TarHeader.byteCount)

  /// Ends the archive and makes it durable.
  ///
  /// - Returns: the length of the archive in bytes.
  func finish() throws -> UInt64 {
    try write([UInt8](repeating: 0, count: Int(Self.endByteCount)))
    try output.sync()
    return byteCount
  }

  private func write(_ bytes: [UInt8]) throws {
    try output.write(bytes)
    byteCount += UInt64(bytes.count)
  }
}
