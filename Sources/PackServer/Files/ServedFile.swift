#if Serving || Hosting
  package import NIOCore
  package import PackStore

  /// An open file to send.
  package struct ServedFile: Sendable {
    package let byteCount: UInt64
    package let tag: EntityTag
    private let file: InputFile

    /// The state of the file when its content was checked; `nil` for an immutable file.
    private let state: FileState?

    /// Opens a file of a site, which is immutable.
    package init(immutable file: InputFile, tag: String) throws {
      self.file = file
      byteCount = try file.byteCount
      self.tag = EntityTag("\(tag)-\(String(byteCount, radix: 16))")
      state = nil
    }

    /// Opens a file that the user may replace: only the checked bytes are sent; otherwise the connection is closed.
    ///
    /// - Throws: `sourceChanged` if the file has been replaced.
    package init(_ path: FilePath, state: FileState, digest: Digest256) throws {
      file = try InputFile(path)
      (byteCount, tag, self.state) = (state.byteCount, EntityTag(digest.hex), state)
      try check()
    }

    private func check() throws {
      guard let state, try file.state != state else { return }
      throw PackStoreError(.sourceChanged, "replaced since it was opened", file: file.place.text)
    }

    /// Reads a piece into the buffer. A mapping is not used: another process could truncate the file while TLS reads it.
    ///
    /// - Throws: `sourceChanged` if the file was changed since its check, or is too short.
    package func read(_ range: Range<UInt64>, into buffer: inout ByteBuffer) throws {
      let count = Int(range.upperBound - range.lowerBound)
      let read = try buffer.writeWithUnsafeMutableBytes(minimumWritableBytes: count) { bytes in
        try file.read(at: range.lowerBound, into: UnsafeMutableRawBufferPointer(rebasing: bytes[..<count]))
      }
      guard read == count else {
        throw PackStoreError(.sourceChanged, "truncated while it was read", file: file.place.text)
      }
      try check()
    }
  }

  /// The part of a pack that a request concerns, for display to users.
  package struct Subject: Hashable, Sendable {
    /// `/site`, `/sites/NAME` or `/packs`.
    package let place: String

    /// The version, if the name of the file identifies it.
    package var version: String?
    package let kind: Kind

    package enum Kind: String, Codable, Sendable {
      case archive, root, attributes, version, changes, history, table, segment, delta
    }

    /// For a version's manifest, the version's download size for an empty store.
    package var wholeByteCount: UInt64?

    package init(place: String, version: String? = nil, kind: Kind, wholeByteCount: UInt64? = nil) {
      (self.place, self.version, self.kind, self.wholeByteCount) = (place, version, kind, wholeByteCount)
    }
  }
#endif
