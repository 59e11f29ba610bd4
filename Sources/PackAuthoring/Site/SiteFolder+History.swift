import PackFormats
import PackStore

/// The history of channels in a site's folder: the records of changes, and their private parts.
extension SiteFolder {
  /// The folder of private parts, each named by the SHA-256 of its record. Only its owner may read it, because web servers serve the site's
  /// folder.
  static let notesFolder = "notes"

  /// Writes the record of a change, durably, and returns the root with a link to it. The caller holds the publisher's lock, and replaces the
  /// current root.
  ///
  /// - Throws: `invalidArgument`, `untrusted` if the key may not sign the root; `noSpace`, `ioError`.
  func addToHistory(_ root: SiteRoot, signedBy key: SiteKey) throws -> SiteRoot {
    var root = root
    // All files of a served copy are served, so it has no place for private files. The runs of a signing request must sign the same
    // bytes, but a private part has random bytes.
    let note = isServedCopy || key.signingTime != nil ? nil : changeNote.map { SealedChangeNote($0) }
    let record = try root.addToHistory(after: currentRoot(of: root.channel), signedBy: key, privatePart: note?.digest)
    if let note { try write(note, of: record.digest) }
    try write(.record(record.digest)) { file in try file.write(record.bytes) }
    try syncFolder(place("history"))
    return root
  }

  /// Returns the root that the next one replaces, and its bytes; `nil` if it is missing, damaged, or of another draft.
  private func currentRoot(of channel: SiteChannel) throws -> (root: SiteRoot, bytes: [UInt8])? {
    do {
      let bytes = try read(.root(channel), limit: SiteRoot.byteCountLimit)
      guard let signed = try? SignedSiteRoot(decoding: bytes, file: SitePath.root(channel).description),
        signed.root.channel == channel
      else { return nil }
      return (signed.root, bytes)
    } catch let error as PackStoreError where [.notFound, .corrupt, .wrongKind].contains(error.code) { return nil }
  }

  // MARK: - Private parts

  private func write(_ note: SealedChangeNote, of record: Digest256) throws {
    let name = "\(Self.notesFolder)/\(record.hex)"
    try checkpoint("write \(name)")
    if try makeFolder(path.appending(Self.notesFolder), isSecret: true) { try syncFolder(path) }
    let draft = try NewFile(place(name + Self.draftSuffix), isSecret: true)
    try draft.write(note.bytes)
    try draft.sync()
    try renameFile(draft.place, to: place(name))
    try syncFolder(place(Self.notesFolder))
  }

  /// Copies the private parts to the folder of another publisher's copy, durably, for its owner alone. One may be erased concurrently.
  ///
  /// - Returns: their size in bytes.
  func copyNotes(to copy: FilePath, isDryRun: Bool = false) throws -> UInt64 {
    let folder = copy.appending(Self.notesFolder)
    var byteCount: UInt64 = 0
    let names = try namesInFolder(place(Self.notesFolder)).filter { !$0.hasSuffix(Self.draftSuffix) }
    for name in names {
      do {
        let file = "\(Self.notesFolder)/\(name)"
        let bytes = try InputFile(file, in: path).contents(limit: SealedChangeNote.byteCountLimit)
        byteCount = byteCount.addingClamped(UInt64(bytes.count))
        guard !isDryRun else { continue }
        try makeFolder(folder, isSecret: true)
        let note = try NewFile(FilePlace(file, in: copy), isSecret: true)
        try note.write(bytes)
        try note.sync()
      } catch let error as PackStoreError where error.code == .notFound { continue }
    }
    guard !isDryRun else { return byteCount }
    // Erased since an earlier run copied them.
    for name in Set(try namesInFolder(folder)).subtracting(names) {
      try removeFile(FilePlace("\(Self.notesFolder)/\(name)", in: copy))
    }
    if byteCount > 0 { try syncFolder(folder) }
    return byteCount
  }

  /// Reads the private part of a record; `nil` if it does not exist, or differs from the record.
  func note(of record: ChangeRecord) throws -> ChangeNote? {
    do {
      let name = "\(Self.notesFolder)/\(record.digest.hex)"
      let bytes = try InputFile(name, in: path).contents(limit: SealedChangeNote.byteCountLimit)
      let sealed = try SealedChangeNote(decoding: bytes, file: name)
      return sealed.digest == record.privatePart ? sealed.note : nil
    } catch let error as PackStoreError where [.notFound, .corrupt, .wrongKind].contains(error.code) { return nil }
  }

  /// Deletes the private parts of records. The records stay.
  ///
  /// - Returns: the number of deleted files.
  func eraseNotes(of records: some Collection<Digest256>) throws -> Int {
    let present = Set(try namesInFolder(place(Self.notesFolder)))
    let names = Set(records.map(\.hex)).intersection(present)
    for name in names.sorted() {
      try checkpoint("remove \(Self.notesFolder)/\(name)")
      try removeFile(place("\(Self.notesFolder)/\(name)"))
    }
    if !names.isEmpty { try syncFolder(place(Self.notesFolder)) }
    return names.count
  }

  // MARK: - Records

  /// Returns the records in the history of roots, and their lengths. After a record that cannot be read here, the records before it are
  /// unknown.
  func linkedRecords(of roots: [SiteRoot]) throws -> [SitePath: UInt64] {
    var records: [SitePath: UInt64] = [:]
    for root in roots {
      var next = (try? root.historyHead())?.record
      while let digest = next, records.updateValue(UInt64(ChangeRecord.byteCount), forKey: .record(digest)) == nil {
        next = try record(digest)?.predecessor
      }
    }
    return records
  }

  /// The records that the site of this copy has, and their lengths.
  var recordsElsewhere: [SitePath: UInt64] {
    elsewhere.reduce(into: [:]) { records, path in
      if path.isRecord { records[path] = UInt64(ChangeRecord.byteCount) }
    }
  }

  /// Reads a record; `nil` if it is missing or damaged.
  private func record(_ digest: Digest256) throws -> ChangeRecord? {
    do {
      let path = SitePath.record(digest), bytes = try read(path, limit: ChangeRecord.byteCount)
      guard Digest256(hashing: bytes) == digest else { return nil }
      return try ChangeRecord(decoding: bytes, file: path.description)
    } catch let error as PackStoreError where [.notFound, .corrupt, .wrongKind].contains(error.code) { return nil }
  }
}
