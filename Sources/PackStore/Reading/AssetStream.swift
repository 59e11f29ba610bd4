import CPackStore

/// A file of a store, or a range of it, as an asynchronous sequence of buffers in order.
///
///     for try await buffer in try store.stream(of: "Videos/Introduction.m4v") { try await socket.write(buffer) }
///
/// Each request reads one buffer, on a thread that may block: a slow consumer does not increase memory use. The stream retains its
/// generation, so it contains one version of the file even if other writers commit. It can be iterated several times.
///
/// Cancelling the task ends it with `CancellationError`, within one frame. Bytes are verified before they are returned. An error
/// (`corrupt`, `purged`, `ioError` or `outOfMemory`) ends the stream.
public struct AssetStream: AsyncSequence, Sendable {
  /// The default size of a buffer in bytes: enough for several threads to decode it.
  public static let bufferByteCount = 1024 * 1024

  let source: Source
  let range: Range<Int>

  /// The size of each buffer in bytes, except the last one.
  public let bufferByteCount: Int

  /// The total size of all buffers in bytes.
  public var byteCount: Int { range.count }

  /// Iterates over the buffers.
  public struct AsyncIterator: AsyncIteratorProtocol {
    let source: Source
    var rest: Range<Int>
    let bufferByteCount: Int

    /// Returns the next buffer; `nil` after the last one, and after an error.
    public mutating func next() async throws -> Data? {
      let source = source, next = rest.prefix(bufferByteCount), end = rest.upperBound
      guard !next.isEmpty else { return nil }
      rest = end..<end
      try Task.checkCancellation()
      let buffer = try await BlockingExecutor.run { try source.read(next) }
      rest = next.upperBound..<end
      return buffer
    }
  }

  public func makeAsyncIterator() -> AsyncIterator {
    AsyncIterator(source: source, rest: range, bufferByteCount: bufferByteCount)
  }
}

extension AssetStream {
  /// A file of a snapshot, retained while a task reads it.
  final class Source: Sendable {
    private let hold: SnapshotHold
    private let path: String
    private nonisolated(unsafe) let core: pks_asset

    init(_ core: pks_asset, at path: String, of hold: SnapshotHold) {
      self.hold = hold
      self.path = path
      self.core = core
    }

    func read(_ range: Range<Int>) throws -> Data {
      try Data(count: range.count) { memory in
        try check { error in
          path.withPath { path, _ in
            var asset = core
            asset.path = path
            return readWhileWanted(&asset, UInt64(range.lowerBound), memory, range.count, error)
          }
        }
      }
    }
  }
}

extension Snapshot {
  /// Returns the bytes of a file, or of a range of it, as an asynchronous sequence of buffers, which outlives the snapshot.
  ///
  /// - Throws: `notFound`; `wrongKind` for a link or folder; `invalidArgument` if the range exceeds the file.
  public func stream(
    of path: String, pack: PackID? = nil, range: Range<Int>? = nil,
    bufferByteCount: Int = AssetStream.bufferByteCount
  ) throws -> AssetStream {
    precondition(bufferByteCount > 0, "a buffer has at least one byte")
    let asset = try asset(path, pack: pack)
    guard asset.kind == .file else { throw asset.notAFile() }
    let range = range ?? 0..<asset.byteCount
    guard range.lowerBound >= 0, range.upperBound <= asset.byteCount else {
      throw asset.outside(range)
    }
    let source = AssetStream.Source(asset.withCore { $0.pointee }, at: path, of: hold)
    return AssetStream(source: source, range: range, bufferByteCount: bufferByteCount)
  }
}
