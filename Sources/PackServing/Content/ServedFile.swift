#if Serving
  import NIOCore
  import PackStore

  /// A file that is open to be sent.
  struct ServedFile: Sendable {
    let byteCount: UInt64
    let tag: EntityTag
    private let file: InputFile

    /// As it was when its content was checked; nil where a file of that name never changes.
    private let state: FileState?

    /// A file of a site, which never changes under its name.
    init(immutable file: InputFile, tag: String) throws {
      self.file = file
      byteCount = try file.byteCount
      self.tag = EntityTag("\(tag)-\(String(byteCount, radix: 16))")
      state = nil
    }

    /// A file that a person may replace: what is sent is what was checked, or the connection ends.
    ///
    /// - Throws: `sourceChanged` when it is another one by now.
    init(_ path: FilePath, state: FileState, digest: Digest256) throws {
      file = try InputFile(path)
      (byteCount, tag, self.state) = (state.byteCount, EntityTag(digest.hex), state)
      try check()
    }

    private func check() throws {
      guard let state, try file.state != state else { return }
      throw PackStoreError(.sourceChanged, "the file is another one than before", file: file.place.text)
    }

    /// Reads a piece into memory of its own: of a mapped file, another process could take pages away while TLS reads them.
    ///
    /// - Throws: `sourceChanged` when the file was written meanwhile, or ends too early.
    func read(_ range: Range<UInt64>, into buffer: inout ByteBuffer) throws {
      let count = Int(range.upperBound - range.lowerBound)
      let read = try buffer.writeWithUnsafeMutableBytes(minimumWritableBytes: count) { bytes in
        try file.read(at: range.lowerBound, into: UnsafeMutableRawBufferPointer(rebasing: bytes[..<count]))
      }
      guard read == count else {
        throw PackStoreError(.sourceChanged, "the file shrank", file: file.place.text)
      }
      try check()
    }
  }

  /// What of a pack a request is for, as people are shown it.
  struct Subject: Hashable, Sendable {
    /// `/site`, `/sites/NAME` or `/packs`.
    let place: String

    /// The version, where the name of what is fetched tells it.
    var version: String?
    let kind: Kind

    enum Kind: String, Codable, Sendable {
      case archive, root, attributes, version, changes, table, segment, delta
    }

    /// Of a version's manifest: what a device without anything fetches for it.
    var wholeByteCount: UInt64?
  }
#endif
