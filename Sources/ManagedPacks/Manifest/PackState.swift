/// What a status is made of: what is here of a pack, what its site offers, and what it is compared with.
package struct PackState: Hashable, Sendable {
  /// The version that is here; nil: none.
  package var local: UInt64?

  package var localOrigin = Store.Origin.unknown

  /// The pack stays at its version, since a rollback.
  package var isHeld = false

  /// Whether a site lists the pack, be it for other apps or devices.
  package var isListed = false

  /// The version that a site offers this app; nil: none.
  package var offered: UInt64?

  package var offeredOrigin = Store.Origin.unknown

  package var isDownloading = false

  package init() {}

  /// The status of the pack on its site and here.
  package var status: AssetPack.Status { status(relativeTo: offered, of: offeredOrigin) }

  /// The status against one version, which the site may have replaced since.
  ///
  /// - Parameter version: nil: there is none to compare with, so what is here is as new as can be.
  package func status(relativeTo version: UInt64?, of origin: Store.Origin) -> AssetPack.Status {
    var status: AssetPack.Status = isDownloading ? .downloading : []
    if offered != nil { status.insert(.downloadAvailable) }
    guard let local else { return status }
    status.insert(.downloaded)
    guard isListed else { return status.union(.obsolete) }
    guard let version else { return status.union(.upToDate) }
    // Numbers of different publishers say nothing of each other.
    guard origin == localOrigin else { return status.union(.outOfDate) }
    guard local != version else { return status.union(.upToDate) }
    status.insert(.outOfDate)
    if let offered, offered == version, offered > local, !isHeld { status.insert(.updateAvailable) }
    return status
  }
}
