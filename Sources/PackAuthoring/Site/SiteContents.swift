import PackFormats
import PackStore

extension SiteRoot {
  /// Returns the files that the root refers to, without the root itself, and their lengths. Omits files of a lost manifest, because
  /// clients cannot find them.
  ///
  /// - Parameter acceptsUnreadable: whether files that the disk cannot read count as lost.
  /// - Throws: the error of reading a manifest. Such a manifest is not lost, and its files must stay.
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
  /// The segments, frame tables and change lists that the manifest refers to, and their lengths.
  package var files: [SitePath: UInt64] {
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
  /// Reads a manifest and checks it against the digest in the root.
  func manifest(of offer: SiteRoot.Offer, in pack: PackID) throws -> VersionManifest {
    try offer.openManifest(try read(.version(offer.manifest), limit: VersionManifest.byteCountLimit), of: pack)
  }

  /// Reads a manifest; `nil` if it is missing or damaged.
  ///
  /// - Parameter acceptsUnreadable: whether files that the disk cannot read count as damaged.
  func intactManifest(
    of offer: SiteRoot.Offer, in pack: PackID, acceptsUnreadable: Bool
  ) throws -> VersionManifest? {
    do {
      return try manifest(of: offer, in: pack)
    } catch let error as PackStoreError where error.saysLost || (acceptsUnreadable && error.systemError == .ioError) {
      return nil
    }
  }

  /// Whether an attribute sheet exists and matches the digest in the root.
  func holds(_ sheet: SiteRoot.Sheet) -> Bool { (try? self.sheet(sheet)) != nil }

  /// Reads an attribute sheet and checks it against the digest in the root.
  func sheet(_ sheet: SiteRoot.Sheet) throws -> AttributeSheet {
    try sheet.open(try read(.sheet(sheet.digest), limit: AttributeSheet.byteCounts.upperBound))
  }

  /// Whether a frame table exists and matches the digest in the manifest.
  func holdsTable(of segment: VersionManifest.Segment) -> Bool {
    guard let bytes = try? read(.frames(segment.id), limit: Int(segment.tableByteCount)) else { return false }
    return bytes.count == Int(segment.tableByteCount) && Digest256(hashing: bytes) == segment.table
  }

  /// Whether a change list exists and matches the digest in the manifest.
  func holds(_ list: VersionManifest.ChangeList) -> Bool {
    guard let bytes = try? read(.changes(list.digest), limit: Int(list.byteCount)) else { return false }
    return bytes.count == Int(list.byteCount) && Digest256(hashing: bytes) == list.digest
  }

  /// Whether a delta exists and matches the root: its header, and the blocks whose SHA-256 the header contains.
  ///
  /// - Throws: errors of reading the delta, except damage.
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
    let name = "\(SitePath.delta(delta.header))"
    guard try file.byteCount == delta.byteCount, Digest256(hashing: header) == delta.header else {
      throw ByteReader([], file: name).corrupt("the delta differs from the delta listed in the site's root")
    }
    let list = try DeltaBlockList(header: header, file: name)
    guard list.endOffset <= delta.byteCount else {
      throw ByteReader([], file: name).corrupt("the delta is incomplete")
    }
    for block in list.blocks
    where try Digest256(hashing: file.bytes(at: block.offset, upTo: block.byteCount)) != block.digest {
      throw ByteReader([], file: name).corrupt("a block is damaged", at: Int(block.offset))
    }
  }
}

extension PackStoreError {
  /// Whether a file of the site is missing or damaged. Other errors do not concern the file's contents: too many open files, or
  /// missing permission.
  fileprivate var saysLost: Bool { [.notFound, .corrupt, .wrongKind].contains(code) }
}
