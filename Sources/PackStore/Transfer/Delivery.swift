import CPackStore

/// How far a delivery is.
package struct DeliveryTotals: Hashable, Sendable {
  /// All metadata is there: the totals are known.
  package var isPlanned: Bool
  /// Of frames, as they are stored by the site; what was found of an interrupted delivery counts as done.
  package var byteCount: Int, totalByteCount: Int
  /// Of ``byteCount``, what was found.
  package var resumedByteCount: Int
  package var chunkCount: Int, totalChunkCount: Int
}

/// A version on its way into a transaction, from another store: says which bytes it wants, and takes them.
///
/// What was given is kept in the store until ``close(discarding:)``: another delivery of the same version goes on with
/// it, whatever ended this one. Every call blocks; one at a time.
package final class Delivery {
  /// Nil once it is closed.
  private var pointer: OpaquePointer?
  /// Outlives the delivery.
  private let transaction: TransactionHold
  private let pack: PackID
  /// Told of how deltas are applied; the core has a pointer to it.
  private let observer = UnsafeMutablePointer<InstallObserver>.allocate(capacity: 1)

  /// Begins to bring the version that a manifest describes.
  ///
  /// - Parameters:
  ///   - priority: for a pack that the store does not have yet.
  ///   - placement: what the version says of it; nil: not known.
  ///   - provenance: by whose word it comes.
  ///   - withoutFrames: wants no frames: the version can be looked at, and not be read.
  /// - Returns: nil when it is the pack's current version already, and nothing of it is missing; an adoption is staged then.
  /// - Throws: `otherOrigin`, `downgrade`, `stale`; `busy` when another process brings the same version: begin a new
  ///   transaction later; `exists` when the number is taken by other content; `held`; `invalidArgument`; `noSpace`,
  ///   `ioError`, `outOfMemory`, `corrupt`.
  package static func open(
    _ manifest: VersionManifest, priority: Int32, placement: Placement? = nil, by provenance: Provenance,
    withoutFrames: Bool = false, in transaction: borrowing Transaction
  ) throws -> Delivery? {
    var pointer: OpaquePointer?
    var isNeeded = false
    let placement = try transaction.hold.corePlacement(placement, of: manifest.pack)
    do {
      try check { error in
        manifest.withCore(priority, placement, provenance, withoutFrames: withoutFrames) {
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

  /// Lets the version's metadata come by a change list, in place of pages. Before anything else is fetched, and for a version
  /// that is not kept.
  ///
  /// - Returns: whether the list is what is wanted next, as if it were all of segment 0. Otherwise it was here.
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

  /// Lets the version come by deltas from here on: by one, or by a chain of which each goes on where the one before ends. All wants
  /// are of their files, and have the places of these in the chain as segments. Staging applies them.
  ///
  /// - Parameter progress: called while they are applied, on the thread that stages.
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

  /// What to fetch next. Any number of wants may be outstanding.
  package func next() throws -> NextWant {
    var want = pks_want()
    var next = PKS_NEXT_DONE
    let pointer = try open()
    do {
      try naming(transaction.store.path) { try check { pks_delivery_next(pointer, &want, &next, $0) } }
    } catch var error as PackStoreError where error.code == .corrupt {
      error.specificRemedy = "the published data is inconsistent: tell the publisher of the site"
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

  /// Gives the bytes of the oldest outstanding want.
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

  /// Of a closed delivery, zeros.
  package var totals: DeliveryTotals {
    let totals = pointer.map { pks_delivery_measure($0) } ?? pks_delivery_totals()
    return DeliveryTotals(
      isPlanned: totals.is_planned, byteCount: Int(clamping: totals.bytes_done),
      totalByteCount: Int(clamping: totals.bytes_total), resumedByteCount: Int(clamping: totals.bytes_resumed),
      chunkCount: Int(clamping: totals.chunks_done), totalChunkCount: Int(clamping: totals.chunks_total))
  }

  /// Stages the version in the transaction, when all was given.
  ///
  /// - Throws: for deltas also what ``Transaction/apply(_:options:progress:)`` throws; after `corrupt`,
  ///   `newerFormat`, `purged`, `notFound` and `noSpace` another delivery may still bring the version frame by frame.
  package func stage() throws -> Store.InstallResult {
    var result = pks_add_result()
    let pointer = try open()
    try naming(transaction.store.path) { try check { pks_delivery_stage(&result, pointer, $0) } }
    transaction.noteWhole(pack)
    return Store.InstallResult(result, of: pack, notices: [])
  }

  /// Ends the delivery. Before its transaction was committed, keep what came; afterwards discard it.
  package func close(discarding: Bool) {
    pks_delivery_close(pointer, discarding)
    pointer = nil
  }

  /// The core's delivery.
  private func open() throws -> OpaquePointer {
    guard let pointer else { throw PackStoreError(.invalidArgument, "the delivery is closed", file: pack.name) }
    return pointer
  }
}

extension VersionManifest {
  /// Lends the core's form.
  fileprivate func withCore<Result>(
    _ priority: Int32, _ placement: pks_placement, _ provenance: Provenance, withoutFrames: Bool,
    _ body: (UnsafePointer<pks_delivery_request>) -> Result
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
