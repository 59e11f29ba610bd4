#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#elseif canImport(Darwin)
  import Darwin
#endif

/// An item of a folder; links are not followed.
package struct FolderItem: Hashable, Sendable {
  package enum Kind: Hashable, Sendable {
    case file(byteCount: UInt64, isExecutable: Bool)
    case folder
    case link(target: [UInt8])
    /// A socket, a device or a pipe.
    case other
  }

  /// The name on disk: any bytes.
  package let name: [UInt8]
  package let kind: Kind
}

/// Lists the folder `name` in `root`, in bytewise order of names. `root` is a path the user gave; no part of `name` may be a link.
/// The empty name is `root` itself.
package func itemsInFolder(_ name: String, of root: FilePath) throws -> [FolderItem] {
  let path = name.isEmpty ? root : root.appending(name)
  let descriptor =
    try name.isEmpty
    ? openFolder(root)
    : FilePlace(name, in: root).withParent { folder, last in try openFolder(last, in: folder, path: path.string) }
  defer { close(descriptor) }
  return try nameBytes(inFolder: descriptor, path: path.string).sorted { $0.lexicographicallyPrecedes($1) }
    .compactMap { name in try kind(of: name, in: descriptor).map { FolderItem(name: name, kind: $0) } }
}

/// Returns `nil` if the item was deleted since it was listed.
private func kind(of name: [UInt8], in folder: CInt) throws -> FolderItem.Kind? {
  let text = name.map(CChar.init(bitPattern:)) + [0]
  var info = stat()
  do {
    try systemCall("cannot examine", String(decoding: name, as: UTF8.self)) {
      fstatat(folder, text, &info, AT_SYMLINK_NOFOLLOW)
    }
    switch info.st_mode & S_IFMT {
    case S_IFREG: return .file(byteCount: UInt64(clamping: info.st_size), isExecutable: info.st_mode & 0o111 != 0)
    case S_IFDIR: return .folder
    case S_IFLNK: return .link(target: try linkTarget(text, in: folder, String(decoding: name, as: UTF8.self)))
    default: return .other
    }
  } catch let error as PackStoreError where error.systemError == .noSuchFileOrDirectory {
    return nil
  }
}

/// Reads the target, truncated at a length above the limit of any system.
private func linkTarget(_ name: [CChar], in folder: CInt, _ text: String) throws -> [UInt8] {
  try [UInt8](unsafeUninitializedCapacity: 8192) { buffer, count in
    count = try buffer.withMemoryRebound(to: CChar.self) { buffer in
      try systemCall("cannot read the link", text) {
        readlinkat(folder, name, buffer.baseAddress!, buffer.count)
      }
    }
  }
}
