/// The facts that determine a status: the installed version, the offered version, and whether the pack is listed and being
/// downloaded.
package struct PackState: Hashable, Sendable {
  /// The installed version; `nil` if the pack is not installed or not complete.
  package var local: UInt64?

  package var localOrigin = Store.Origin.unknown

  /// Whether the pack stays at its version after a rollback.
  package var isHeld = false

  /// Whether a site lists the pack, including for other apps or devices.
  package var isListed = false

  /// The version that a site offers this app; `nil` if none.
  package var offered: UInt64?

  package var offeredOrigin = Store.Origin.unknown

  package var isDownloading = false

  package init() {}

  /// The status of the pack on its site and on this machine.
  package var status: AssetPack.Status { status(relativeTo: offered, of: offeredOrigin) }

  /// Returns the status compared with a version that the site may have replaced since.
  ///
  /// - Parameter version: `nil` if no version exists to compare with; the installed version then counts as up to date.
  package func status(relativeTo version: UInt64?, of origin: Store.Origin) -> AssetPack.Status {
    var status: AssetPack.Status = isDownloading ? .downloading : []
    if offered != nil { status.insert(.downloadAvailable) }
    guard let local else { return status }
    status.insert(.downloaded)
    guard isListed else { return status.union(.obsolete) }
    guard let version else { return status.union(.upToDate) }
    // Version numbers of different publishers are not comparable.
    guard origin == localOrigin else { return status.union(.outOfDate) }
    guard local != version else { return status.union(.upToDate) }
    status.insert(.outOfDate)
    if let offered, offered == version, offered > local, !isHeld { status.insert(.updateAvailable) }
    return status
  }
}
