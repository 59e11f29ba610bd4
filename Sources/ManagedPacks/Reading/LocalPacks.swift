import Synchronization

/// The packs of a store's newest generation, remembered until a commit: asking for one costs no system call.
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
  private let availability: any PackAvailability
  private let known: Mutex<Contents?> = Mutex(nil)

  init(of store: Store, availability: any PackAvailability) {
    self.store = store
    self.availability = availability
  }

  /// What is here now.
  func current() throws -> Contents {
    let generation = try store.newestGeneration()
    if let known = known.withLock({ $0 }), known.generation == generation { return known }
    let contents = try read(store.makeSnapshot())
    known.withLock { $0 = contents }
    return contents
  }

  /// Whether all bytes of a pack are here. Never blocks for longer than it takes to read a commit of another process.
  func isAvailable(_ id: String) -> Bool {
    let generation = try? store.newestGeneration()
    let found = known.withLock { known -> LocalPack?? in
      guard let known, known.generation == generation else { return nil }
      return .some(known.packs[id])
    }
    guard let pack = found ?? (try? current())?.packs[id] else { return false }
    return availability.isAvailable(pack, in: store)
  }

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

/// Whether the bytes of a pack that the store shows are all here. The one place that asks: packs whose bytes may vanish are
/// another kind of it.
protocol PackAvailability: Sendable {
  func isAvailable(_ pack: LocalPack, in store: Store) -> Bool
}

/// Of packs that stay until they are removed.
struct DurablePacks: PackAvailability {
  func isAvailable(_ pack: LocalPack, in store: Store) -> Bool { true }
}
