import Synchronization

/// Decodes the files that publishers want to be mapped (``Attributes/mappedPaths``) in the background, so that the first read maps
/// them, as later reads do.
///
/// The files of a durable pack need no work: they are stored raw in one piece, and are mapped directly. The files of a purgeable
/// pack are copied into the store's cache. A file that is too small for the cache, or does not fit, is decoded by the read that
/// needs it.
final class Materializer: Sendable {
  private let store: Store
  /// The last task. Packs are processed one at a time, in the order in which they were installed.
  private let last: Mutex<Task<Void, Never>?> = Mutex(nil)

  /// The store's cache does not accept smaller files.
  private static let leastByteCount = 1 << 20

  init(_ store: Store) { self.store = store }

  deinit { last.withLock { $0?.cancel() } }

  /// Starts with a pack that was installed.
  func start(_ pack: PackID) {
    guard store.hasCache else { return }
    last.withLock { last in
      last = Task(priority: .background) { [before = last, store] in
        await before?.value
        // Errors are ignored here: a read of the file reports them.
        try? await BlockingExecutor.run { try Self.materialize(pack, in: store) }
      }
    }
  }

  /// Returns when all started work is done.
  func settle() async { await last.withLock { $0 }?.value }

  private static func materialize(_ id: PackID, in store: Store) throws {
    let snapshot = try store.makeSnapshot()
    guard let pack = snapshot.pack(id) else { return }
    let patterns = try snapshot.attributes(of: pack.version).mappedPaths.map { try PathPattern($0) }
    guard !patterns.isEmpty else { return }
    for entry in try snapshot.entries(pack: id, depth: .descendants) {
      try Task.checkCancellation()
      guard entry.kind == .file, entry.byteCount >= leastByteCount, patterns.contains(where: { $0.matches(entry.path) })
      else { continue }
      guard !entry.isContiguous || pack.placement == .purgeable else { continue }
      _ = try snapshot.asset(entry.path, pack: id).contents()
    }
  }
}
