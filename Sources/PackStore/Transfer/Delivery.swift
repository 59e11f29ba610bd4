import CPackStore

/// The progress of a delivery.
package struct DeliveryTotals: Hashable, Sendable {
  /// Whether all metadata has arrived, so that the totals are known.
  package var isPlanned: Bool
  /// Bytes of frames as the site stores them. Frames that an interrupted delivery left in the store count as done.
  package var byteCount: Int, totalByteCount: Int
  /// The part of ``byteCount`` that an interrupted delivery left.
  package var resumedByteCount: Int
  package var chunkCount: Int, totalChunkCount: Int
}

/// The transfer of a version from a site into a transaction: it requests byte ranges and accepts their contents.
///
/// Accepted bytes are kept in the store until ``close(discarding:)`` discards them. After any interruption, another delivery of the
/// same version reuses them. Every call blocks; make one call at a time.
package final class Delivery {
  /// `nil` after ``close(discarding:)``.
  private var pointer: OpaquePointer?
  /// Keeps the transaction open for as long as the delivery exists.
  private let transaction: TransactionHold
  private let pack: PackID
  /// Receives the progress of applying deltas. The core has a pointer to it.
  private let observer = UnsafeMutablePointer<InstallObserver>.allocate(capacity: 1)

  /// Begins the delivery of the version that a manifest describes.
  ///
  /// - Parameters:
  ///   - priority: the priority of the pack if it is new to the store.
  ///   - placement: the placement that the version specifies; `nil` if it is unknown.
  ///   - provenance: the origin of the version, and the signed file that lists it.
  ///   - withoutFrames: whether to request no frames: the version can be inspected, but its assets cannot be read.
  ///   - rowLimit: like `Store.PullOptions.rowLimit`.
  /// - Returns: `nil` if the version is already the pack's current version and complete. A pending adoption is then staged.
  /// - Throws: `otherOrigin`, `downgrade`, `stale`; `busy` if another process delivers the same version: begin a new transaction
  ///   later; `exists` if other content has the version's number; `held`; `invalidArgument`; `noSpace`, `ioError`, `outOfMemory`,
  ///   `corrupt`.
  package static func open(
    _ manifest: VersionManifest, priority: Int32, placement: Placement? = nil, by provenance: Provenance,
    withoutFrames: Bool = false, rowLimit: Int? = nil, in transaction: borrowing Transaction
  ) throws -> Delivery? {
    var pointer: OpaquePointer?
    var isNeeded = false
    let placement = try transaction.hold.corePlacement(placement, of: manifest.pack)
    do {
      try check { error in
        manifest.withCore(priority, placement, provenance, withoutFrames: withoutFrames, rowLimit) {
          pks_delivery_open(&pointer, &isNeeded, transaction.hold.pointer, $0, error)
        }
      }
    } catch {
      throw transaction.explain(error, of: manifest.pack)
    }
    return isNeeded ? Delivery(pointer, transaction.hold, manifest.pack) : nil
  }

  private init(_ pointer: OpaquePointer?, _ transaction: TransactionHold, _ pack: PackID) {
    self.pointer = pointer
    self.transaction = transaction
    self.pack = pack
    observer.initialize(to: InstallObserver(progress: nil))
  }

  deinit {
    close(discarding: false)
    observer.deinitialize(count: 1)
    observer.deallocate()
  }

  /// Uses a change list for the version's metadata instead of pages. Call it at most once, before any fetch, for a version that is
  /// not kept.
  ///
  /// - Returns: whether the next request is for the whole list, with segment 0. Otherwise an interrupted delivery left the list in
  ///   the store.
  /// - Throws: `invalidArgument`, `ioError`, `noSpace`, `outOfMemory`.
  package func use(_ list: VersionManifest.ChangeList) throws -> Bool {
    var core = pks_delivery_changes()
    var isWanted = false
    withUnsafeMutableBytes(of: &core.digest) { $0.copyBytes(from: list.digest.bytes) }
    core.length = list.byteCount
    let pointer = try open()
    try naming(transaction.store.path) {
      try check { pks_delivery_use_changes(pointer, &core, &isWanted, $0) }
    }
    return isWanted
  }

  /// Uses deltas for the version from now on: one delta, or a chain in which each delta starts from the result of the previous one.
  /// All requests are then for the delta files, with a delta's index in the chain as the segment. Staging applies the deltas.
  ///
  /// - Parameter progress: called while the deltas are applied, on the thread that stages.
  /// - Throws: `invalidArgument`, `ioError`, `noSpace`, `outOfMemory`, `corrupt`, `newerFormat`.
  package func use(
    _ deltas: [DeltaReference], progress: @escaping (Store.InstallProgress) -> Void
  ) throws {
    observer.pointee = InstallObserver(progress: progress)
    let rows = deltas.map { delta in
      var core = pks_delivery_delta()
      withUnsafeMutableBytes(of: &core.header_digest) { $0.copyBytes(from: delta.header.bytes) }
      core.header_length = delta.headerByteCount
      core.length = delta.byteCount
      return core
    }
    let pointer = try open()
    try rows.withUnsafeBufferPointer { rows in
      guard let first = rows.baseAddress else { return }
      var chain = pks_delivery_chain(
        deltas: first, delta_count: UInt32(clamping: rows.count), context: UnsafeMutableRawPointer(observer),
        progress: observeProgress)
      try naming(transaction.store.path) { try check { pks_delivery_use_deltas(pointer, &chain, $0) } }
    }
  }

  /// Links a data segment of another store into this one. Its chunks count as received after their SHA-256 was compared, which
  /// happens in ``next()``; an invalid segment is not used. Call it before any fetch.
  ///
  /// - Returns: whether the segment was linked. Otherwise the file is missing, is on another file system or is not a regular file,
  ///   or this store has it already.
  /// - Throws: `invalidArgument`, `noSpace`, `ioError`, `outOfMemory`.
  @discardableResult
  package func use(_ segment: SharedSegment) throws -> Bool {
    let pointer = try open()
    let store = transaction.store.path
    guard let folder = pks_delivery_folder(pointer).map({ String(cString: $0) }),
      let name = segment.file.lastComponent?.string,
      let inode = try? InputFile(name, in: segment.file.removingLastComponent()).inode,
      (try? InputFile(Store.segmentName(segment.id), in: store).inode) != inode
    else { return false }
    do {
      try linkFile(FilePlace(segment.file), to: FilePlace("\(folder)/\(segment.id)", in: store))
    } catch let error as PackStoreError where error.code == .exists {
      // An interrupted delivery linked it.
    } catch is PackStoreError {
      return false
    }
    try naming(store) { try check { pks_delivery_use_segment(pointer, segment.id.id.bytes, $0) } }
    return true
  }

  /// Returns the next request. Any number of requests may be outstanding.
  ///
  /// - Throws: `CancellationError` if the surrounding task is cancelled while a catalog is walked; `tooManyRows`, `corrupt`,
  ///   `noSpace`, `ioError`, `outOfMemory`.
  package func next() throws -> NextWant {
    var want = pks_want()
    var next = PKS_NEXT_DONE
    let pointer = try open()
    do {
      try naming(transaction.store.path) { try check { pks_delivery_next(pointer, &want, &next, $0) } }
    } catch var error as PackStoreError where error.code == .corrupt {
      error.specificRemedy = "the published data is inconsistent: report it to the publisher of the site"
      throw error
    }
    switch next {
    case PKS_NEXT_WANT:
      return .want(
        Want(
          segment: Int(want.segment), isTable: want.is_table, offset: want.offset, byteCount: Int(want.length)))
    case PKS_NEXT_WAIT: return .wait
    default: return .done
    }
  }

  /// Passes the bytes of the oldest outstanding request to the delivery.
  package func give(_ bytes: UnsafeRawBufferPointer) throws -> GiveOutcome {
    var isFinal = false
    let pointer = try open()
    do {
      try naming(transaction.store.path) {
        try check { pks_delivery_give(pointer, bytes.baseAddress, bytes.count, &isFinal, $0) }
      }
      return .taken
    } catch let error as PackStoreError where error.code == .corrupt {
      return .mismatch(error, isFinal: isFinal)
    }
  }

  /// The progress so far; zeros if the delivery is closed.
  package var totals: DeliveryTotals {
    let totals = pointer.map { pks_delivery_measure($0) } ?? pks_delivery_totals()
    return DeliveryTotals(
      isPlanned: totals.is_planned, byteCount: Int(clamping: totals.bytes_done),
      totalByteCount: Int(clamping: totals.bytes_total), resumedByteCount: Int(clamping: totals.bytes_resumed),
      chunkCount: Int(clamping: totals.chunks_done), totalChunkCount: Int(clamping: totals.chunks_total))
  }

  /// Stages the version in the transaction, after all requested bytes were passed.
  ///
  /// - Throws: for deltas also the errors of ``Transaction/apply(_:options:progress:)``. After `corrupt`, `newerFormat`, `purged`,
  ///   `notFound` and `noSpace` another delivery may still fetch the version frame by frame.
  package func stage() throws -> Store.InstallResult {
    var result = pks_add_result()
    let pointer = try open()
    try naming(transaction.store.path) { try check { pks_delivery_stage(&result, pointer, $0) } }
    transaction.noteWhole(pack)
    return Store.InstallResult(result, of: pack, notices: [])
  }

  /// Ends the delivery. Keep the accepted bytes if the transaction is not committed; discard them after the commit.
  package func close(discarding: Bool) {
    pks_delivery_close(pointer, discarding)
    pointer = nil
  }

  /// Returns the core's delivery, unless the delivery is closed.
  private func open() throws -> OpaquePointer {
    guard let pointer else { throw PackStoreError(.invalidArgument, "the delivery is closed", about: .pack(pack)) }
    return pointer
  }
}

extension VersionManifest {
  /// Calls `body` with the core's request. The pointer is valid only during the call.
  fileprivate func withCore<Result>(
    _ priority: Int32, _ placement: pks_placement, _ provenance: Provenance, withoutFrames: Bool,
    _ rowLimit: Int?, _ body: (UnsafePointer<pks_delivery_request>) -> Result
  ) -> Result {
    let segments = segments.map { segment in
      var site = pks_site_segment()
      withUnsafeMutableBytes(of: &site.id) { $0.copyBytes(from: segment.id.id.bytes) }
      site.file_length = segment.byteCount
      site.is_metadata = segment.kind == .metadata
      withUnsafeMutableBytes(of: &site.table_digest) { $0.copyBytes(from: segment.table.bytes) }
      site.table_length = segment.tableByteCount
      return site
    }
    var request = pks_delivery_request()
    request.version = number
    withUnsafeMutableBytes(of: &request.catalog) { $0.copyBytes(from: catalog.bytes) }
    withUnsafeMutableBytes(of: &request.layout) { $0.copyBytes(from: layout.bytes) }
    if let attributes { withUnsafeMutableBytes(of: &request.attributes) { $0.copyBytes(from: attributes.bytes) } }
    request.committed_at_ns = committedAt
    request.provenance = provenance.core
    request.set_priority = true
    request.priority = priority
    request.placement = placement
    request.without_frames = withoutFrames
    request.max_rows = coreRowLimit(rowLimit)
    request.goes_on = { _ in !Task.isCancelled }
    request.segment_count = UInt32(segments.count)
    return pack.name.withCString { name in
      segments.withUnsafeBufferPointer { segments in
        request.pack = name
        request.segments = segments.baseAddress
        return body(&request)
      }
    }
  }
}
