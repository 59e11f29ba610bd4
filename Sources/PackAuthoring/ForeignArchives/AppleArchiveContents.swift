import PackArchives
import PackStore

/// The contents of an asset pack, while they are written to an archive.
struct AppleArchiveContents {
  private let version: PackVersion
  private let snapshot: Snapshot
  private let writer: AppleArchiveWriter

  init(of version: PackVersion, in snapshot: Snapshot, writer: AppleArchiveWriter) {
    self.version = version
    self.snapshot = snapshot
    self.writer = writer
  }

  /// - Parameter progress: receives the number of written bytes.
  func write(_ progress: (Int) -> Void) throws {
    let manifest = AssetPackManifest.bytes(of: version.pack, try snapshot.attributes(of: version))
    try writer.addFile(AssetPackManifest.name, bytes: manifest)
    try writer.addFolder(AssetPackManifest.contents)
    var done = 0
    var folder = ""
    var cursor = try snapshot.cursor(pack: version.pack, depth: .descendants)
    while let asset = try cursor.next() {
      let path = asset.path
      try addFolders(above: path, after: &folder)
      let name = "\(AssetPackManifest.contents)/\(path)"
      switch asset.kind {
      case .folder: try writer.addFolder(name)
      case .link: try writer.addLink(name, to: asset.linkTargetBytes())
      case .file:
        try writer.beginFile(name, isExecutable: asset.isExecutable, byteCount: UInt64(asset.byteCount))
        var offset = 0
        while offset < asset.byteCount {
          try Task.checkCancellation()
          let end = min(offset + AppleArchiveWriter.blockByteCount, asset.byteCount)
          try writer.append(Array(asset.contents(range: offset..<end)))
          done += end - offset
          offset = end
          progress(done)
        }
      }
    }
  }

  /// Adds the folders that a path implies, outer ones first: each has an entry before its contents. In bytewise order of paths, the
  /// contents of a folder are consecutive, so the previous path implies exactly the folders already added.
  ///
  /// - Parameter folder: the last added folder.
  private func addFolders(above path: String, after folder: inout String) throws {
    let bytes = Array(path.utf8), slash = UInt8(ascii: "/")
    guard let end = bytes.lastIndex(of: slash) else { return }
    guard !bytes[..<end].elementsEqual(folder.utf8) else { return }
    let before = Array(folder.utf8) + [slash]
    for place in bytes[...end].indices where bytes[place] == slash && !before.starts(with: bytes[...place]) {
      try writer.addFolder("\(AssetPackManifest.contents)/\(String(decoding: bytes[..<place], as: UTF8.self))")
    }
    folder = String(decoding: bytes[..<end], as: UTF8.self)
  }
}
