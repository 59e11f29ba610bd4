import PackStore

/// The origins of a store's packs for listings, as ids. Empty if all packs were added on this machine.
struct PackOrigins {
  private var ids: [PackID: String] = [:]

  init(_ packs: [Store.Pack]) {
    guard packs.contains(where: { $0.origin != .local }) else { return }
    for pack in packs { ids[pack.id] = pack.origin.id }
  }

  var areNamed: Bool { !ids.isEmpty }

  /// The length of the longest id.
  var width: Int { ids.values.map(\.count).max() ?? 0 }

  subscript(pack: PackID?) -> String? { pack.flatMap { ids[$0] } }
}
