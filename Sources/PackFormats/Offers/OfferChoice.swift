import PackStore

/// The properties of a client that decide which offers of a site apply to it.
package struct SiteClient: Hashable, Sendable {
  /// The version of the client's app. If it is `nil`, offers for any range of app versions apply.
  package var appVersion: AppVersion?

  /// The versions of other apps that read the same packs. An offer must also apply to them.
  package var otherAppVersions: [AppVersion]

  /// The client's platform. If it is `nil`, offers for any platform apply.
  package var platform: Platform?

  /// The id that decides shares of devices. `nil` selects the store's own id, which is generated when a share first decides.
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

/// The version that a share applies to. Devices are selected independently for each version of each pack of a publisher, and together
/// for all members of a release.
package struct OfferedVersion: Hashable, Sendable {
  package var pack: PackID
  package var number: UInt64
  package var product: Store.Product

  /// The publisher's first root key; `nil` if the site is unsigned.
  package var firstKey: SitePublicKey?

  /// The release that the version is offered in; `nil` if none.
  package var release: PackReleaseID?

  package init(
    pack: PackID, number: UInt64, product: Store.Product, firstKey: SitePublicKey?, release: PackReleaseID? = nil
  ) {
    self.pack = pack
    self.number = number
    self.product = product
    self.firstKey = firstKey
    self.release = release
  }

  /// Returns a number from 0 to 9,999: the version is offered to the device if the share is above it.
  ///
  /// The number depends only on the device and the version, or the release, so raising a share only adds devices.
  package func draw(for device: DeviceID) -> UInt32 {
    var writer = ByteWriter()
    writer.append((release == nil ? "packstore share\0" : "packstore release\0").utf8)
    writer.append(device.id.bytes)
    writer.append(firstKey?.bytes ?? [UInt8](repeating: 0, count: SitePublicKey.byteCount))
    if let release {
      writer.append("\(product)\0".utf8)
      writer.append(release.id.bytes)
    } else {
      writer.append("\(product)\0\(pack)\0".utf8)
      writer.append(number)
    }
    let word = Digest256(hashing: writer.bytes).bytes.prefix(8).reversed().reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
    return UInt32(word % UInt64(OfferTerms.everyDevice))
  }
}

/// The reason why a version that a site offers does not apply to a client.
public enum OfferObstacle: String, Hashable, Codable, CaseIterable, Sendable {
  /// The version is for other platforms.
  case platform
  /// The version is for other versions of the app.
  case appVersion
  /// The version is for a share of all devices that does not include this one.
  case share
  /// The version is released in steps, and a later step includes this device.
  case schedule
  /// The version is released in steps, and the publisher paused the release before a step that includes this device.
  case paused
  /// The publisher halted the release of the version.
  case halted
  /// The version is for a share of all devices, and the store has not yet generated the device id that decides.
  case undrawnShare
}

extension OfferTerms {
  /// Whether an offer fits a client. A client uses the first offer that fits. If none fits, the pack is not offered to the client,
  /// which keeps the versions that it has.
  ///
  /// - Parameters:
  ///   - isCurrent: whether the version is the pack's current one in the client's store, or the client has its release. The share is
  ///     then ignored, so that a halt, or a share of 0, does not withdraw the version from the devices that have it.
  ///   - storeDevice: called only if the share decides and the client specifies no device.
  package func fits(
    _ client: SiteClient, _ version: OfferedVersion, isCurrent: Bool, storeDevice: () throws -> DeviceID
  ) rethrows -> Bool {
    try obstacle(to: client, version, isCurrent: isCurrent, storeDevice: storeDevice) == nil
  }

  /// Returns the reason why an offer does not fit a client; `nil` if it fits.
  ///
  /// - Parameters:
  ///   - isCurrent: as in ``fits(_:_:isCurrent:storeDevice:)``.
  ///   - storeDevice: returns `nil` if the store has no device id yet.
  package func obstacle(
    to client: SiteClient, _ version: OfferedVersion, isCurrent: Bool, storeDevice: () throws -> DeviceID?
  ) rethrows -> OfferObstacle? {
    if let platform = client.platform, !platforms.isEmpty, !platforms.contains(platform) { return .platform }
    let versions = client.otherAppVersions + (client.appVersion.map { [$0] } ?? [])
    if let appVersions, !versions.allSatisfy(appVersions.contains) { return .appVersion }
    if isCurrent || share >= Self.everyDevice { return nil }
    guard state != .halted else { return .halted }
    let later: OfferObstacle = state == .paused ? .paused : .schedule
    guard share > 0 else { return finalShare > 0 ? later : .share }
    guard let device = try client.device ?? storeDevice() else { return .undrawnShare }
    let number = version.draw(for: device)
    guard number >= share else { return nil }
    return number < finalShare ? later : .share
  }
}
