import CPackStore

// What a publisher has to know of a store.

extension Store {
  /// What tells this store from others: drawn when it was made.
  package var id: SiteID {
    var id = [UInt8](repeating: 0, count: ID128.byteCount)
    pks_store_id(pointer, &id)
    return SiteID(ID128(copying: id))
  }
}

extension Snapshot {
  /// A segment of the store.
  package struct Segment: Hashable, Sendable {
    package let id: SegmentID
    package let kind: SegmentKind

    /// Of its file, in bytes.
    package let byteCount: UInt64
  }

  /// The segments that a kept version needs, each once; last the one that has the root page of its layout.
  ///
  /// - Throws: `notFound`, `corrupt`, `purged`, `ioError`, `outOfMemory`.
  package func segments(of version: PackVersion) throws -> [Segment] {
    let scope = try scope(version.pack)
    var segments: [Segment] = []
    try check { error in
      withContext(&segments) { context in
        pks_snapshot_visit_segments(
          pointer, scope, version.number,
          { context, id, isMetadata, byteCount in
            let id = ID128(copying: UnsafeBufferPointer(start: id, count: ID128.byteCount))
            context!.assumingMemoryBound(to: [Segment].self).pointee.append(
              Segment(id: SegmentID(id), kind: isMetadata ? .metadata : .data, byteCount: byteCount))
            return true
          }, context, error)
      }
    }
    return segments
  }

  /// What a device without anything fetches of a kept version, in bytes, besides its manifest and the frame tables of
  /// its segments: frames and pages. It fetches neither twice.
  ///
  /// - Throws: `notFound`, `corrupt`, `purged`, `ioError`, `outOfMemory`.
  package func downloadByteCount(of version: PackVersion) throws -> UInt64 {
    let scope = try scope(version.pack)
    var byteCount: UInt64 = 0
    try check { error in pks_snapshot_measure_download(&byteCount, pointer, scope, version.number, error) }
    return byteCount
  }

  /// Hands out the frame table of a segment, piece by piece. All of the segment is read and checked.
  ///
  /// - Parameter write: what it throws ends the walk.
  /// - Throws: what `write` throws; `purged`, `corrupt`, `ioError`, `outOfMemory`.
  package func writeFrameTable(
    of segment: SegmentID, to write: (UnsafeRawBufferPointer) throws -> Void
  ) throws {
    try writeTable(of: segment, by: pks_snapshot_frame_table, to: write)
  }

  /// Hands out the table of a data segment as a folder `tables` has it, which is all that a copy of a site's store needs of it
  /// to be published to.
  ///
  /// - Parameter write: what it throws ends the walk.
  /// - Throws: what `write` throws; `invalidArgument` for a segment with pages; `purged`, `corrupt`, `ioError`, `outOfMemory`.
  package func writeTable(
    of segment: SegmentID, to write: (UnsafeRawBufferPointer) throws -> Void
  ) throws {
    try writeTable(of: segment, by: pks_snapshot_segment_table, to: write)
  }

  private typealias TableFunction = (
    OpaquePointer, UnsafePointer<UInt8>, @convention(c) (UnsafeMutableRawPointer?, UnsafeRawPointer, Int) -> Bool,
    UnsafeMutableRawPointer?, UnsafeMutablePointer<pks_error>?
  ) -> pks_status

  private func writeTable(
    of segment: SegmentID, by function: TableFunction, to write: (UnsafeRawBufferPointer) throws -> Void
  ) throws {
    try withoutActuallyEscaping(write) { write in
      var sink = TableSink(write: write)
      do {
        try check { error in
          withContext(&sink) { context in
            function(
              pointer, segment.id.bytes,
              { context, bytes, byteCount in
                context!.assumingMemoryBound(to: TableSink.self).pointee.take(
                  UnsafeRawBufferPointer(start: bytes, count: byteCount))
              }, context, error)
          }
        }
      } catch {
        throw sink.failure ?? error
      }
    }
  }

  /// Keeps what the sink threw while the core returns from the walk.
  private struct TableSink {
    let write: (UnsafeRawBufferPointer) throws -> Void
    private(set) var failure: (any Error)?

    mutating func take(_ bytes: UnsafeRawBufferPointer) -> Bool {
      do {
        try write(bytes)
        return true
      } catch {
        failure = error
        return false
      }
    }
  }
}
