/// An entry of an archive, before any check.
struct ContainerEntry {
  enum Kind: Equatable {
    case file(byteCount: UInt64)
    case folder
    /// A symbolic link, with its target unchanged.
    case link(target: [UInt8])
    /// A second name of an earlier file.
    case hardLink(target: [UInt8])
  }

  /// The path in the archive, possibly with a trailing slash.
  var path: [UInt8]
  var kind: Kind
  var isExecutable = false
}

/// An archive that is read sequentially.
protocol ContainerReader {
  /// Returns the next entry, and skips the rest of the previous one; `nil` at the end, after all required parts were found.
  mutating func next() throws -> ContainerEntry?

  /// Fills the beginning of a buffer with the next bytes of the file that ``next()`` returned.
  ///
  /// - Returns: the number of bytes; 0 at the end, after the length and the checksum were verified.
  mutating func read(into buffer: UnsafeMutableRawBufferPointer) throws -> Int
}

/// The kinds of files in the upper bits of a Unix mode.
enum UnixKind: UInt32 {
  case pipe = 0o010000
  case characterDevice = 0o020000
  case folder = 0o040000
  case blockDevice = 0o060000
  case file = 0o100000
  case link = 0o120000
  case socket = 0o140000

  static let mask: UInt32 = 0o170000

  /// The kind's name in messages, if it cannot be stored.
  var name: String {
    switch self {
    case .pipe: "a pipe"
    case .characterDevice, .blockDevice: "a device"
    case .folder: "a folder"
    case .file: "a file"
    case .link: "a link"
    case .socket: "a socket"
    }
  }
}

/// Whether a mode lets its owner, its group or others execute the file; the rule of `add` too.
func isExecutable(mode: some FixedWidthInteger) -> Bool { mode & 0o111 != 0 }
