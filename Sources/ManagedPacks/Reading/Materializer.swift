import Synchronization

/// Materializes in the background what publishers want to be mapped (``Attributes/mappedPaths``), so that the first read finds it
/// mapped as every later one does.
///
/// Of a durable pack there is nothing to do: such files lie raw and in one piece, and are mapped where they lie. The files of a
/// purgeable pack are never mapped. What is not materialized (it is smaller than the store's cache takes, or there is no room in
/// it) is decoded by the read that needs it.
final class Materializer: Sendable {
  private let store: Store
  /// One pack at a time, in the order in which they came.
  private let last: Mutex<Task<Void, Never>?> = Mutex(nil)

  /// Below, the store's cache takes no files.
  private static let leastByteCount = 1 << 20

  init(_ store: Store) { self.store = store }

  deinit { last.withLock { $0?.cancel() } }

  /// Begins with a pack that came.
  func start(_ pack: PackID) {
    guard store.hasCache else { return }
    last.withLock { last in
      last = Task(priority: .background) { [before = last, store] in
        await before?.value
        // A read that needs a file says what is wrong with it.
        try? await BlockingExecutor.run { try Self.materialize(pack, in: store) }
      }
    }
  }

  /// Returns when all that was begun is done.
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
