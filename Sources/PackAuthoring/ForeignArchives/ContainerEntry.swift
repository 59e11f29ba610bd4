/// What an archive says of one of its entries, before anything of it was checked.
struct ContainerEntry {
  enum Kind: Equatable {
    case file(byteCount: UInt64)
    case folder
    /// A symbolic link; its target is kept as it is.
    case link(target: [UInt8])
    /// Another name of a file that came before.
    case hardLink(target: [UInt8])
  }

  /// As it is in the archive, perhaps with a slash at the end.
  var path: [UInt8]
  var kind: Kind
  var isExecutable = false
}

/// An archive that is read from front to back.
protocol ContainerReader {
  /// The next entry; what is left of the one before is passed over. Nil at the end, where all that has to be there was.
  mutating func next() throws -> ContainerEntry?

  /// Fills the front of a buffer with the next bytes of the file that ``next()`` returned last.
  ///
  /// - Returns: how many bytes: 0 when it has no more, and is as long as was said and has the sum that was said.
  mutating func read(into buffer: UnsafeMutableRawBufferPointer) throws -> Int
}

/// Kinds of files that a mode of Unix says, as its upper bits.
enum UnixKind: UInt32 {
  case pipe = 0o010000
  case characterDevice = 0o020000
  case folder = 0o040000
  case blockDevice = 0o060000
  case file = 0o100000
  case link = 0o120000
  case socket = 0o140000

  static let mask: UInt32 = 0o170000

  /// For people, where it cannot be stored.
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

/// Whether a mode lets its owner, its group or all others execute the file: what `add` goes by, too.
func isExecutable(mode: some FixedWidthInteger) -> Bool { mode & 0o111 != 0 }
