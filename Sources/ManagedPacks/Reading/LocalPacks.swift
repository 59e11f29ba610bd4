import Synchronization

/// The packs of a store's newest generation, cached until a commit. Looking a pack up costs no system call; whether it is whole is
/// cached until a file is deleted or added, which costs two to seven.
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

  /// Which packs were whole while the same files existed.
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

  /// What is here now.
  func current() throws -> Contents {
    let generation = try store.newestGeneration()
    if let known = known.withLock({ $0 }), known.generation == generation { return known }
    let contents = try read(store.makeSnapshot())
    known.withLock { $0 = contents }
    return contents
  }

  /// Whether a pack is whole, by the times of the folders that contain its files. A file that was cut short is found by
  /// ``isWhole(_:)``, and when it is read. Never blocks for longer than it takes to read a commit of another process.
  func isAvailable(_ id: String) -> Bool {
    guard let contents = try? current(), contents.packs[id] != nil else { return false }
    if let stamp = store.filesStamp(),
      let whole = presence.withLock({ $0?.isWhole(id, contents.generation, stamp) })
    {
      return whole
    }
    return (try? isWhole(id)) ?? false
  }

  /// Whether a pack is whole, durable or not, by the lengths of all of its files and by the damage that was found when they were read.
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

  /// Forgets which packs are whole: a read found bytes missing that the folders' times did not show.
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
