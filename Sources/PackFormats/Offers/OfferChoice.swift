import PackStore

/// What a client says of itself, by which the offers of a site are chosen.
package struct SiteClient: Hashable, Sendable {
  /// The version of its app; nil: it says none, and is offered what is for any range of versions.
  package var appVersion: AppVersion?

  /// Those of other apps that read the same packs: an offer has to be for them, too.
  package var otherAppVersions: [AppVersion]

  /// Nil: it says none, and is offered what is for any platform.
  package var platform: Platform?

  /// Nil: the store's own, which is drawn when a share first decides.
  package var device: DeviceID?

  package init(
    appVersion: AppVersion? = nil, otherAppVersions: [AppVersion] = [], platform: Platform? = nil,
    device: DeviceID? = nil
  ) {
    self.appVersion = appVersion
    self.otherAppVersions = otherAppVersions
    self.platform = platform
    self.device = device
  }
}

/// Which clients an offer of a pack version is for.
package struct OfferTerms: Hashable, Sendable {
  /// As of the version's attributes; empty: all.
  package var platforms: Set<Platform>

  /// Of the app; nil: all.
  package var appVersions: AppVersionRange?

  /// Of how many of 10,000 devices that do not have the version: 0 to ``everyDevice``.
  package var share: UInt32

  package static let everyDevice: UInt32 = 10_000

  package init(
    platforms: Set<Platform> = [], appVersions: AppVersionRange? = nil, share: UInt32 = OfferTerms.everyDevice
  ) {
    self.platforms = platforms
    self.appVersions = appVersions
    self.share = share
  }
}

/// What a share is of: devices are drawn apart for each version of each pack of a publisher.
package struct OfferedVersion: Hashable, Sendable {
  package var pack: PackID
  package var number: UInt64
  package var product: Store.Product

  /// The publisher's first root key; nil: the site is not signed.
  package var firstKey: SitePublicKey?

  package init(pack: PackID, number: UInt64, product: Store.Product, firstKey: SitePublicKey?) {
    self.pack = pack
    self.number = number
    self.product = product
    self.firstKey = firstKey
  }

  /// From which share on a device is offered the version, less one: 0 to 9,999. A function of the device and the
  /// version alone, so that a share which rises only adds devices.
  package func draw(for device: DeviceID) -> UInt32 {
    var writer = ByteWriter()
    writer.append("packstore share\0".utf8)
    writer.append(device.id.bytes)
    writer.append(firstKey?.bytes ?? [UInt8](repeating: 0, count: SitePublicKey.byteCount))
    writer.append("\(product)\0\(pack)\0".utf8)
    writer.append(number)
    let word = Digest256(hashing: writer.bytes).bytes.prefix(8).reversed().reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
    return UInt32(word % UInt64(OfferTerms.everyDevice))
  }
}

/// Why a version that a site offers is not for a client.
public enum OfferObstacle: String, Hashable, Codable, CaseIterable, Sendable {
  /// It is for other platforms.
  case platform
  /// It is for other versions of the app.
  case appVersion
  /// It is for a share of all devices, and this one is not among them; or for none any more, when a release was halted.
  case share
  /// It is for a share of all devices, and the store has not drawn yet whether it is among them.
  case undrawnShare
}

extension OfferTerms {
  /// Whether an offer fits a client. It takes the first one that does; where none does, the pack is not offered to it, and
  /// what it has of the pack stays.
  ///
  /// - Parameters:
  ///   - isCurrent: the version is the pack's current one in the client's store: the share does not count then, so that
  ///     one of 0 halts an offer without taking it from those who have it.
  ///   - storeDevice: asked only where a share decides and the client has no device of its own.
  package func fits(
    _ client: SiteClient, _ version: OfferedVersion, isCurrent: Bool, storeDevice: () throws -> DeviceID
  ) rethrows -> Bool {
    try obstacle(to: client, version, isCurrent: isCurrent, storeDevice: storeDevice) == nil
  }

  /// Why an offer does not fit a client; nil: it does.
  ///
  /// - Parameters:
  ///   - isCurrent: as of ``fits(_:_:isCurrent:storeDevice:)``.
  ///   - storeDevice: nil where the store has none yet.
  package func obstacle(
    to client: SiteClient, _ version: OfferedVersion, isCurrent: Bool, storeDevice: () throws -> DeviceID?
  ) rethrows -> OfferObstacle? {
    if let platform = client.platform, !platforms.isEmpty, !platforms.contains(platform) { return .platform }
    let versions = client.otherAppVersions + (client.appVersion.map { [$0] } ?? [])
    if let appVersions, !versions.allSatisfy(appVersions.contains) { return .appVersion }
    if isCurrent || share >= Self.everyDevice { return nil }
    guard share > 0 else { return .share }
    guard let device = try client.device ?? storeDevice() else { return .undrawnShare }
    return version.draw(for: device) < share ? nil : .share
  }
}
