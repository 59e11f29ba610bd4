extension Transaction {
  /// The core's error about a pack with the facts that this transaction knows: at which version the pack is held, whose it
  /// is, how high it was.
  package func explain(_ error: any Error, of id: PackID) -> any Error {
    guard var error = error as? PackStoreError else { return error }
    guard error.code != .noSpace else { return error.naming(hold.store.path) }
    guard let pack = packs.first(where: { $0.id == id }) else { return error }
    switch error.code {
    case .held: error.reason = "'\(id)' is held at version \(pack.version.number) since a rollback"
    case .otherOrigin: error.reason = "'\(id)' is of another origin: \(pack.origin.phrase)"
    case .downgrade where error.reason.hasPrefix("a higher version"):
      error.reason = "a higher version of '\(id)' was taken before: \(pack.highestVersion)"
    case .stale: error.reason = "the root is older than what was taken of '\(id)' before"
    default: return error
    }
    return error
  }
}

extension Store.Origin {
  /// `this machine`, or `the product 'game' of the key 11qY...`.
  package var phrase: String {
    switch self {
    case .local: "this machine"
    case .signed(let key, let product): "the product '\(product)' of the key \(key)"
    case .unsigned(let product): "the product '\(product)', which is not signed"
    case .unknown: "unknown since a repair"
    }
  }
}
