extension Transaction {
  /// Adds facts of this transaction to the core's error about a pack: the version at which the pack is held, its origin, its
  /// highest version.
  package func explain(_ error: any Error, of id: PackID) -> any Error {
    guard var error = error as? PackStoreError else { return error }
    guard error.code != .noSpace else { return error.naming(hold.store.path) }
    if error.subject == .store(nil) { error.subject = .store(hold.store.path.string) }
    guard let pack = (packs + removedPacks).first(where: { $0.id == id }) else { return error }
    switch error.code {
    case .held: error.reason = "held at version \(pack.version.number) since a rollback"
    case .otherOrigin: error.reason = "belongs to another origin, \(pack.origin.phrase)"
    case .downgrade where error.detail == .higherAccepted:
      error.reason = "a higher version was accepted before, \(pack.highestVersion)"
    case .exists where error.detail == .lowNumber:
      error.reason =
        "the version number must be above \(pack.highestVersion), the highest number that the pack ever had"
      error.specificRemedy = "use \(pack.highestVersion.addingClamped(1)) or a higher number, or leave out the number"
    case .stale: break
    default: return error
    }
    error.subject = .pack(id)
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
