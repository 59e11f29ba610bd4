import PackFormats
import PackStore

extension SiteRoot {
  /// The files that the root leads to, without itself, and how long they are. What a manifest leads to is left out if it
  /// is lost: then no client finds it either.
  ///
  /// - Parameter acceptsUnreadable: what the disk cannot read counts as lost.
  /// - Throws: what keeps a manifest from being read. It is not lost for that, and what it leads to must stay.
  func files(in folder: SiteFolder, acceptsUnreadable: Bool = false) throws -> [SitePath: UInt64] {
    var files: [SitePath: UInt64] = [:]
    for sheet in sheets { files[.sheet(sheet.digest)] = UInt64(sheet.byteCount) }
    for pack in packs {
      for delta in pack.deltas { files[.delta(delta.header)] = delta.byteCount }
      for offer in pack.offers {
        files[.version(offer.manifest)] = UInt64(offer.manifestByteCount)
        let manifest = try folder.intactManifest(of: offer, in: pack.id, acceptsUnreadable: acceptsUnreadable)
        if let manifest { files.merge(manifest.files) { first, _ in first } }
      }
    }
    return files
  }
}

extension VersionManifest {
  /// The segments, frame tables and change lists that it leads to, and how long they are.
  var files: [SitePath: UInt64] {
    var files: [SitePath: UInt64] = [:]
    for segment in segments {
      files[.frames(segment.id)] = UInt64(segment.tableByteCount)
      files[.segment(segment.id)] = segment.byteCount
    }
    for list in changeLists { files[.changes(list.digest)] = UInt64(list.byteCount) }
    return files
  }
}

extension SiteFolder {
  /// Reads a manifest and checks it against the root that names it.
  func manifest(of offer: SiteRoot.Offer, in pack: PackID) throws -> VersionManifest {
    try offer.openManifest(try read(.version(offer.manifest), limit: VersionManifest.byteCountLimit), of: pack)
  }

  /// The same; nil when it is missing or damaged.
  ///
  /// - Parameter acceptsUnreadable: what the disk cannot read counts as damaged.
  func intactManifest(
    of offer: SiteRoot.Offer, in pack: PackID, acceptsUnreadable: Bool
  ) throws -> VersionManifest? {
    do {
      return try manifest(of: offer, in: pack)
    } catch let error as PackStoreError where error.saysLost || (acceptsUnreadable && error.systemError == .ioError) {
      return nil
    }
  }

  /// Whether the sheet of attributes is the one that a root means, to the last bit.
  func holds(_ sheet: SiteRoot.Sheet) -> Bool { (try? self.sheet(sheet)) != nil }

  /// Reads a sheet of attributes and checks it against the root that names it.
  func sheet(_ sheet: SiteRoot.Sheet) throws -> AttributeSheet {
    try sheet.open(try read(.sheet(sheet.digest), limit: AttributeSheet.byteCounts.upperBound))
  }

  /// Whether the frame table is the one that a manifest means, to the last bit.
  func holdsTable(of segment: VersionManifest.Segment) -> Bool {
    guard let bytes = try? read(.frames(segment.id), limit: Int(segment.tableByteCount)) else { return false }
    return bytes.count == Int(segment.tableByteCount) && Digest256(hashing: bytes) == segment.table
  }

  /// Whether the change list is the one that a manifest means, to the last bit.
  func holds(_ list: VersionManifest.ChangeList) -> Bool {
    guard let bytes = try? read(.changes(list.digest), limit: Int(list.byteCount)) else { return false }
    return bytes.count == Int(list.byteCount) && Digest256(hashing: bytes) == list.digest
  }

  /// Whether the delta is what the root means, to the last bit: its header, and the blocks of which it has the SHA-256.
  ///
  /// - Throws: what keeps it from being read, other than damage.
  func holds(_ delta: SiteRoot.Delta) throws -> Bool {
    do {
      try check(delta)
      return true
    } catch let error as PackStoreError where error.saysLost || error.systemError == .ioError {
      return false
    }
  }

  private func check(_ delta: SiteRoot.Delta) throws {
    let file = try open(.delta(delta.header))
    let header = try file.bytes(upTo: Int(delta.headerByteCount))
    var reader = ByteReader(header[...], file: "\(SitePath.delta(delta.header))")
    guard try file.byteCount == delta.byteCount, Digest256(hashing: header) == delta.header else {
      throw reader.corrupt("the delta is not what the site's root names")
    }
    _ = try reader.take(Self.deltaCountsOffset)
    let blockCount = Int(try reader.integer(UInt32.self)) + Int(try reader.integer(UInt32.self))
    guard blockCount <= reader.remaining / Self.deltaRowByteCount else { throw reader.corrupt("too many blocks") }
    _ = try reader.take(reader.remaining - blockCount * Self.deltaRowByteCount)
    var offset = UInt64(delta.headerByteCount)
    for _ in 0..<blockCount {
      let storedByteCount = Int(try reader.integer(UInt32.self))
      _ = try reader.integer(UInt32.self)  // the raw length
      let digest = try reader.digest()
      guard UInt64(storedByteCount) <= delta.byteCount - min(offset, delta.byteCount),
        Digest256(hashing: try file.bytes(at: offset, upTo: storedByteCount)) == digest
      else {
        throw reader.corrupt("a block is damaged")
      }
      offset += UInt64(storedByteCount)
    }
  }

  /// Where a delta's header says how many parts and groups it has, and the size of the row of each: `Docs/FORMAT.md`,
  /// section 23.
  private static let deltaCountsOffset = 148
  private static let deltaRowByteCount = 40
}

extension PackStoreError {
  /// Whether a file of the site is not there, or not what it was. Other errors say nothing of the file: that there are too
  /// many open ones, or that this user may not read it.
  fileprivate var saysLost: Bool { [.notFound, .corrupt, .wrongKind].contains(code) }
}
