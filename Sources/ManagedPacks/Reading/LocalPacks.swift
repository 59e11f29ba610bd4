import Synchronization

/// The packs of a store's newest generation, cached until a commit. Looking up a pack needs no system call. Completeness is cached
/// until a file is deleted or added; that check needs two to seven system calls.
final class LocalPacks: Sendable {
  struct Contents: Sendable {
    let generation: Store.Generation
    let packs: [String: LocalPack]
    /// In order of precedence.
    let order: [LocalPack]
    /// Whether any pack has a language.
    let hasLanguages: Bool
  }

  private let store: Store
  private let known: Mutex<Contents?> = Mutex(nil)
  private let presence: Mutex<Presence?> = Mutex(nil)

  /// The packs that were complete while the same files existed.
  private struct Presence {
    let generation: Store.Generation
    let stamp: UInt64
    var isWhole: [String: Bool] = [:]

    /// `nil` if it was not determined then.
    func isWhole(_ id: String, _ generation: Store.Generation, _ stamp: UInt64) -> Bool? {
      self.generation == generation && self.stamp == stamp ? isWhole[id] : nil
    }
  }

  init(of store: Store) { self.store = store }

  /// Returns the installed packs.
  func current() throws -> Contents {
    let generation = try store.newestGeneration()
    if let known = known.withLock({ $0 }), known.generation == generation { return known }
    let contents = try read(store.makeSnapshot())
    known.withLock { $0 = contents }
    return contents
  }

  /// Returns whether a pack is complete, judged by the modification times of the folders that contain its files. A truncated file
  /// is detected by ``isWhole(_:)``, and when it is read. Blocks at most as long as reading a commit of another process takes.
  func isAvailable(_ id: String) -> Bool {
    guard let contents = try? current(), contents.packs[id] != nil else { return false }
    if let stamp = store.filesStamp(),
      let whole = presence.withLock({ $0?.isWhole(id, contents.generation, stamp) })
    {
      return whole
    }
    return (try? isWhole(id)) ?? false
  }

  /// Returns whether a pack is complete, durable or not, judged by the lengths of all its files and by damage found during reads.
  ///
  /// - Complexity: as `Snapshot.availability(of:)`.
  func isWhole(_ id: String) throws -> Bool {
    guard let local = try current().packs[id] else { return false }
    let stamp = store.filesStamp()
    let snapshot = try store.makeSnapshot()
    guard let pack = snapshot.pack(local.pack.id) else { return false }
    let isWhole = try snapshot.availability(of: pack.version).isWhole
    if let stamp { note(id, isWhole, snapshot.generation, stamp) }
    return isWhole
  }

  private func note(_ id: String, _ isWhole: Bool, _ generation: Store.Generation, _ stamp: UInt64) {
    presence.withLock { presence in
      if presence?.generation != generation || presence?.stamp != stamp {
        presence = Presence(generation: generation, stamp: stamp)
      }
      presence?.isWhole[id] = isWhole
    }
  }

  /// Discards the cached completeness, after a read found missing data that the folders' times did not show.
  func forgetPresence() { presence.withLock { $0 = nil } }

  private func read(_ snapshot: Snapshot) throws -> Contents {
    let order = try snapshot.packs.map { pack in
      LocalPack(pack: pack, language: try snapshot.attributes(of: pack.version).language)
    }
    return Contents(
      generation: snapshot.generation, packs: Dictionary(uniqueKeysWithValues: order.map { ($0.pack.id.name, $0) }),
      order: order, hasLanguages: order.contains { $0.language != nil })
  }
}

struct LocalPack: Sendable {
  let pack: Store.Pack
  let language: LanguageTag?
}
