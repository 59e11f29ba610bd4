import PackStore

extension SharedBase {
  // MARK: - Use

  /// Returns the lookup for the pulls of a group; `nil` if it cannot take part. An override never does: its packs are for tests.
  static func lookup(
    for group: GroupFolder, environment: [String: String]
  ) -> (@Sendable (PackID, CatalogID) -> SharedContent?)? {
    guard group.home == group.path, let base = try? SharedBase(environment: environment) else { return nil }
    return { pack, catalog in base.contains(group) ? base.content(of: pack, catalog) : nil }
  }

  /// Returns the segments of a version, otherwise of the pack's highest version; `nil` if no group has the pack. Nothing is checked:
  /// the segments are data of other programs until their chunks were compared.
  func content(of pack: PackID, _ catalog: CatalogID) -> SharedContent? {
    let versions = ((try? groups()) ?? []).flatMap(\.versions)
    let same = versions.first { $0.catalog == catalog }
    guard let version = same ?? versions.filter({ $0.pack == pack }).max(by: { $0.number < $1.number }) else {
      return nil
    }
    let shared = version.segmentIDs.map { SharedSegment(id: $0, file: segments.appending($0.description)) }
    return SharedContent(segments: shared, isWholeVersion: same != nil)
  }

  // MARK: - Changes

  /// Shares the packs of a group's store, records their segments, and deletes segments that no group needs from the base. Does
  /// nothing for a group that is not registered. Call it from the group's agent.
  ///
  /// If the base has its own file of a segment, the store's file is replaced by it after a check, so that groups which installed the
  /// same pack before they were registered free the space.
  ///
  /// - Throws: `PackStoreError` `busy` if another process is changing the base; `ioError`, `noSpace`, `corrupt`, `outOfMemory`. A
  ///   process that ends in between leaves files that the next call uses or deletes; the store stays complete.
  package func update(_ group: GroupFolder, from store: Store) throws {
    guard contains(group) else { return }
    // An agent of another group may be stopped while it has the lock. It must not stop this group's agent.
    let lock = try takeLock(waits: false)
    defer { withExtendedLifetime(lock) {} }
    // It may have been dropped since.
    guard contains(group) else { return }
    try makeFolder(segments, isSecret: true)
    var shared: Set<SegmentID> = [], known: Set<SegmentID> = []
    let versions = try Self.versions(of: store).map { version, segments in
      for id in segments where known.insert(id).inserted {
        if try share(id, of: store) { shared.insert(id) }
      }
      let names = segments.filter(shared.contains).map(\.description)
      return SharedGroup.Version(
        pack: version.pack, number: version.number, catalog: version.catalog, segments: names)
    }
    try write(SharedGroup(folder: Self.location(of: group), versions: versions.filter { !$0.segments.isEmpty }))
    try sweep()
  }

  /// Returns the kept versions of a store with their data segments. Skips versions with missing or damaged metadata.
  private static func versions(of store: Store) throws -> [(PackVersion, [SegmentID])] {
    let snapshot = try store.makeSnapshot()
    return try (snapshot.packs + snapshot.removedPacks).flatMap { snapshot.versions(of: $0.id) }.compactMap {
      version -> (PackVersion, [SegmentID])? in
      do {
        return (version, try snapshot.segments(of: version).filter { $0.kind == .data }.map(\.id))
      } catch let error as PackStoreError where [.purged, .corrupt, .notFound].contains(error.code) {
        return nil
      }
    }
  }

  /// Makes the store's file of a segment and the base's file one file.
  ///
  /// - Returns: whether the base has the segment. A segment in the cache folder is not shared, because it may be deleted.
  private func share(_ id: SegmentID, of store: Store) throws -> Bool {
    let own = FilePlace(Store.segmentName(id), in: store.path), name = id.description
    do {
      try linkFile(own, to: FilePlace(name, in: segments))
      return true
    } catch let error as PackStoreError where error.systemError == .noSuchFileOrDirectory {
      return false
    } catch let error as PackStoreError where error.code == .exists {
      let inode = try? InputFile(Store.segmentName(id), in: store.path).inode
      if let inode, inode == (try? InputFile(name, in: segments).inode) { return true }
      return try merge(id, own, of: store)
    }
  }

  /// Replaces the store's file of a segment by the base's file, if that is valid, and otherwise the base's by the store's.
  ///
  /// - Returns: whether they are one file now. A folder in place of the base's file stays.
  private func merge(_ id: SegmentID, _ own: FilePlace, of store: Store) throws -> Bool {
    let name = "shared.draft", shared = FilePlace(id.description, in: segments)
    let draft = FilePlace(name, in: store.path), repaired = FilePlace("segment.draft", in: path)
    defer { for place in [draft, repaired] { try? removeFile(place) } }
    for place in [draft, repaired] { try removeFile(place) }
    if (try? linkFile(shared, to: draft)) != nil, try store.isValidSegment(id, at: name) {
      // If the store has collected its file since, this name is garbage, which the store's next collection deletes.
      try renameFile(draft, to: own)
      return true
    }
    do {
      try linkFile(own, to: repaired)
      try renameFile(repaired, to: shared)
      return true
    } catch let error as PackStoreError where error.code == .wrongKind {
      return false
    }
  }

  /// Deletes segments that no registered group needs from the base. Groups whose folder no longer exists are dropped. While a record
  /// cannot be read, everything stays. The lock must be held.
  func sweep() throws {
    var needed: Set<String> = []
    for record in try records() {
      guard let group = record.group else { return }
      guard pathExists(FilePath(group.folder)) else {
        try remove(record)
        continue
      }
      needed.formUnion(group.segmentIDs.map(\.description))
    }
    for name in try namesInFolder(segments) where !needed.contains(name) {
      do {
        try removeFile(FilePlace(name, in: segments))
      } catch let error as PackStoreError where error.code == .wrongKind {
        // A folder, which only a user can have made, stays.
      }
    }
  }

  // MARK: - Sizes

  /// Returns the total size of some segments in the base, in bytes; missing ones count 0.
  package func byteCount(of ids: some Sequence<SegmentID>) -> Int {
    ids.reduce(0) { sum, id in
      let size = (try? InputFile(id.description, in: segments).byteCount) ?? 0
      return sum.addingClamped(Int(clamping: size))
    }
  }
}
