import CPackStore

// The parts of a store that a publisher reads.

extension Store {
  /// The store's unique id: 16 random bytes, generated at creation.
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

    /// The size of the segment file, in bytes.
    package let byteCount: UInt64
  }

  /// Returns the segments that a kept version needs, each once. The last one contains the root page of the version's layout.
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

  /// Computes the download size of a kept version for an empty store, in bytes: its frames and pages, each counted once. The
  /// manifest and the frame tables of the segments are not included.
  ///
  /// - Throws: `notFound`, `corrupt`, `purged`, `ioError`, `outOfMemory`.
  package func downloadByteCount(of version: PackVersion) throws -> UInt64 {
    let scope = try scope(version.pack)
    var byteCount: UInt64 = 0
    try check { error in pks_snapshot_measure_download(&byteCount, pointer, scope, version.number, error) }
    return byteCount
  }

  /// Computes the bytes of the frames that a device with one kept version fetches by ranges for another one. Manifest, frame tables
  /// and pages are not included.
  ///
  /// - Throws: `notFound`, `corrupt`, `purged`, `ioError`, `outOfMemory`.
  package func updateByteCount(from old: PackVersion, to new: PackVersion) throws -> Int {
    let scope = try scope(new.pack)
    var byteCount: UInt64 = 0
    try check { error in
      pks_snapshot_measure_update(&byteCount, pointer, scope, old.number, new.number, error)
    }
    return Int(clamping: byteCount)
  }

  /// Passes the frame table of a segment to `write` in pieces. The whole segment is read and verified.
  ///
  /// - Parameter write: called for each piece; if it throws, no further pieces follow.
  /// - Throws: the errors of `write`; `purged`, `corrupt`, `ioError`, `outOfMemory`.
  package func writeFrameTable(
    of segment: SegmentID, to write: (UnsafeRawBufferPointer) throws -> Void
  ) throws {
    try writeTable(of: segment, by: pks_snapshot_frame_table, to: write)
  }

  /// Passes the table of a data segment to `write` in pieces, in the form of a file in the folder `tables`. Publishing to a copy of
  /// a site's store requires no other part of the segment.
  ///
  /// - Parameter write: called for each piece; if it throws, no further pieces follow.
  /// - Throws: the errors of `write`; `invalidArgument` for a metadata segment; `purged`, `corrupt`, `ioError`, `outOfMemory`.
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

  /// Forwards pieces to `write`, and keeps its error until the core returns.
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
