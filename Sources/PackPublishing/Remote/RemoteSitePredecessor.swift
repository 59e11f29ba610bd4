package import PackStore

/// The roots from which a publication continued: these must still be served when its own roots are copied there.
///
/// In the folder with the new files it is the file `predecessor`, which is not copied to the server. It is UTF-8 text in which
/// every line ends with a line feed: `packstore predecessor 1`, then `root CHANNEL DIGEST` for each root that was read, in order of
/// the channels. DIGEST is its SHA-256 in 64 hexadecimal digits, or - if it did not exist. A last line `marked` records that the
/// root of the channel was compared with the highest sequence number that the key signed.
package struct RemoteSitePredecessor: Hashable, Sendable {
  /// The digests of the roots; `nil`: the channel had no root.
  package var roots: [SiteChannel: Digest256?]

  /// Whether a mark proves that the root of the published channel is not an older one: ``RootMarks``.
  package var isMarked: Bool

  package static let fileName = "predecessor"
  private static let title = ["packstore", "predecessor", "1"]
  private static let byteCountLimit = 64 << 10

  package init(roots: [SiteChannel: Digest256?], isMarked: Bool = false) {
    self.roots = roots
    self.isMarked = isMarked
  }

  package var text: String {
    let lines = roots.sorted { $0.key < $1.key }.map { channel, digest in
      "root \(channel) \(digest.map(\.hex) ?? "-")\n"
    }
    return Self.title.joined(separator: " ") + "\n" + lines.joined() + (isMarked ? "marked\n" : "")
  }

  /// - Throws: `corrupt`.
  package init(decoding bytes: [UInt8], file: String) throws {
    var lines = TextLines(bytes, file: file)
    guard lines.next(["packstore"]) == Self.title else { throw lines.damage(isNext: true) }
    roots = [:]
    isMarked = false
    while let words = lines.next(["root"]) {
      guard words.count == 3, let channel = try? SiteChannel(words[1]), roots[channel] == nil else {
        throw lines.damage()
      }
      let digest = words[2] == "-" ? nil : Digest256(hex: words[2])
      guard words[2] == "-" || digest?.hex == words[2] else { throw lines.damage() }
      roots.updateValue(digest, forKey: channel)
    }
    if let words = lines.next(["marked"]) {
      guard words.count == 1 else { throw lines.damage() }
      isMarked = true
    }
    try lines.end()
    guard roots.keys.contains(.live) else { throw lines.damage() }
  }

  /// Reads the predecessor in the folder with the new files.
  ///
  /// - Throws: `notFound` if no publication that continued a served site created the folder; `corrupt`.
  package init(in folder: FilePath) throws {
    do {
      let file = try InputFile(Self.fileName, in: folder)
      try self.init(decoding: try file.contents(limit: Self.byteCountLimit), file: file.place.text)
    } catch var error as PackStoreError where error.code == .notFound {
      error.reason = "the file '\(Self.fileName)' of a continued publication does not exist"
      error.specificRemedy = "use the folder created by 'packstore publish ... --continue-from'"
      throw error
    }
  }
}
