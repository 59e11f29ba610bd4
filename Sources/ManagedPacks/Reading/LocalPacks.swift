import Synchronization

/// The packs of a store's newest generation, remembered until a commit: asking for one costs no system call, and for one whose
/// bytes may vanish four.
final class LocalPacks: Sendable {
  struct Contents: Sendable {
    let generation: Store.Generation
    let packs: [String: LocalPack]
    /// In the order in which they win.
    let order: [LocalPack]
    /// Any of them is in a language.
    let hasLanguages: Bool
  }

  private let store: Store
  private let known: Mutex<Contents?> = Mutex(nil)
  private let presence: Mutex<Presence?> = Mutex(nil)

  /// Which purgeable packs were whole at a time of the folder that has their bytes.
  private struct Presence {
    let generation: Store.Generation
    let time: Int64
    var isWhole: [String: Bool] = [:]

    /// Nil: it was not asked for then.
    func isWhole(_ id: String, _ generation: Store.Generation, _ time: Int64) -> Bool? {
      self.generation == generation && self.time == time ? isWhole[id] : nil
    }
  }

  init(of store: Store) { self.store = store }

  /// What is here now.
  func current() throws -> Contents {
    let generation = try store.newestGeneration()
    if let known = known.withLock({ $0 }), known.generation == generation { return known }
    let contents = try read(store.makeSnapshot())
    known.withLock { $0 = contents }
    return contents
  }

  /// Whether all bytes of a pack are here, as far as can be said at once: of a purgeable pack by the time of the folder where
  /// they lie. What was cut short there is found by ``isWhole(_:)``, and when it is read. Never blocks for longer than it takes to
  /// read a commit of another process.
  func isAvailable(_ id: String) -> Bool {
    guard let contents = try? current(), let local = contents.packs[id] else { return false }
    guard local.pack.placement == .purgeable else { return true }
    if let time = store.cacheFolderTime(),
      let whole = presence.withLock({ $0?.isWhole(id, contents.generation, time) })
    {
      return whole
    }
    return (try? isWhole(id)) ?? false
  }

  /// Whether all bytes of a pack are here, by the lengths of the files that may vanish and by what was found when they were read.
  func isWhole(_ id: String) throws -> Bool {
    guard let local = try current().packs[id] else { return false }
    // Of a durable pack, what lies in a base alone may be gone.
    let time = local.pack.placement == .purgeable ? store.cacheFolderTime() : nil
    let snapshot = try store.makeSnapshot()
    guard let pack = snapshot.pack(local.pack.id) else { return false }
    let isWhole = try snapshot.availability(of: pack.version).missingByteCount == 0
    if let time { note(id, isWhole, snapshot.generation, time) }
    return isWhole
  }

  private func note(_ id: String, _ isWhole: Bool, _ generation: Store.Generation, _ time: Int64) {
    presence.withLock { presence in
      if presence?.generation != generation || presence?.time != time {
        presence = Presence(generation: generation, time: time)
      }
      presence?.isWhole[id] = isWhole
    }
  }

  /// A read found bytes gone that the folder's time did not tell of.
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
