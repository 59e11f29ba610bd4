import PackStore

/// The root of a channel: the pack versions that the channel offers, and the devices that each offer is for.
///
/// Roots are the only signed files of a site, and the only files that change. The root contains the SHA-256 of every other file,
/// either directly or in a file that it refers to.
package struct SiteRoot: Hashable, Sendable {
  /// The sequence number, which rises with every published root: ``nextSequence(after:at:)``.
  package var sequence: UInt64

  /// The date of the root, in nanoseconds since 1970.
  package var madeAt: Int64

  /// How long the root is valid, in nanoseconds, above 0; `nil` if it never expires.
  package var expiresAfter: Int64?

  /// Nanoseconds since 1970; `nil` if the root never expires.
  package var expiresAt: Int64? {
    expiresAfter.map { after in
      let (end, overflows) = madeAt.addingReportingOverflow(after)
      return overflows ? .max : end
    }
  }

  /// The site's unique id. Trust never depends on it.
  package var site: SiteID

  /// The product of all packs of the site.
  package var product: Store.Product

  package var channel: SiteChannel

  /// Whether the channel was removed. The root of a removed channel has no packs; clients keep the versions that they have.
  package var isClosed = false

  /// The language of packs whose attributes specify none; `nil` if unspecified.
  package var primaryLanguage: LanguageTag?

  /// The sheets that contain the attributes of all offers.
  package var sheets: [Sheet]

  /// The packs in bytewise order of their names.
  package var packs: [Pack]

  /// The highest number and epoch of every pack that the channel ever offered.
  package var highest: [PackID: Highest] = [:]

  /// How long after ``madeAt`` steps of rollouts count, in nanoseconds, above 0; `nil` if unlimited. Only a root with rollouts has
  /// one.
  package var horizon: Int64?

  /// Extensions that this version of PackStore does not know, in order of their types.
  package var otherExtensions: [Extension] = []

  /// - Parameter highest: by default, the lowest table that is valid for `packs`.
  package init(
    sequence: UInt64, madeAt: Int64, expiresAfter: Int64?, site: SiteID, product: Store.Product,
    channel: SiteChannel = .live, isClosed: Bool = false, primaryLanguage: LanguageTag? = nil, sheets: [Sheet] = [],
    packs: [Pack], highest: [PackID: Highest]? = nil
  ) {
    self.sequence = sequence
    self.madeAt = madeAt
    self.expiresAfter = expiresAfter
    self.site = site
    self.product = product
    self.channel = channel
    self.isClosed = isClosed
    self.primaryLanguage = primaryLanguage
    self.sheets = sheets
    self.packs = packs
    self.highest = highest ?? Self.highest(of: packs)
  }

  /// A reference to an attribute sheet: ``AttributeSheet``.
  package struct Sheet: Hashable, Sendable {
    package var digest: Digest256
    package var byteCount: UInt32

    package init(digest: Digest256, byteCount: UInt32) {
      self.digest = digest
      self.byteCount = byteCount
    }
  }

  package struct Pack: Hashable, Sendable {
    package var id: PackID
    package var priority: Int32

    /// The offers in the order in which clients try them: ``OfferTerms``. Never empty.
    package var offers: [Offer]

    /// Deltas to the version of an offer, and deltas to a version from which another delta of the list starts: ``DeltaRoutes``.
    package var deltas: [Delta]

    package init(id: PackID, priority: Int32, offers: [Offer], deltas: [Delta]) {
      self.id = id
      self.priority = priority
      self.offers = offers
      self.deltas = deltas
    }
  }

  /// A version, and the devices that it is for.
  package struct Offer: Hashable, Sendable {
    package var number: UInt64

    /// The epoch: the sequence number of the root that took something of the pack away last, as of the root in which the offer was
    /// made or changed; 0 if none did.
    package var epoch: UInt64

    package var catalog: CatalogID

    /// The SHA-256 of the manifest.
    package var manifest: Digest256

    package var manifestByteCount: UInt32

    /// The SHA-256 of the version's attributes, which are on a sheet; `nil` if it has none.
    package var attributes: Digest256?

    /// The download size for an empty store, in bytes.
    package var downloadByteCount: UInt64

    /// The share of all devices that the offer is for, in 1/10000; before the first step of a rollout.
    package var share: UInt32

    /// The changes of the share over time; `nil` if it is fixed.
    package var rollout: Rollout?

    /// The versions of the app that the offer is for; `nil` for all.
    package var appVersions: AppVersionRange?

    /// The release that the offer is a member of; `nil` if none. The release determines ``share`` and
    /// ``rollout``.
    package var release: PackRelease?

    package init(
      number: UInt64, epoch: UInt64 = 0, catalog: CatalogID, manifest: Digest256, manifestByteCount: UInt32,
      attributes: Digest256? = nil, downloadByteCount: UInt64 = 0, share: UInt32 = OfferTerms.everyDevice,
      rollout: Rollout? = nil, appVersions: AppVersionRange? = nil, release: PackRelease? = nil
    ) {
      self.number = number
      self.epoch = epoch
      self.catalog = catalog
      self.manifest = manifest
      self.manifestByteCount = manifestByteCount
      self.attributes = attributes
      self.downloadByteCount = downloadByteCount
      self.share = share
      self.rollout = rollout
      self.appVersions = appVersions
      self.release = release
    }
  }

  /// A reference to a file that turns one version into another.
  package struct Delta: Hashable, Sendable {
    package var from: CatalogID
    package var to: CatalogID

    /// The SHA-256 of the delta's header.
    package var header: Digest256

    package var headerByteCount: UInt32

    /// The size of the whole file.
    package var byteCount: UInt64

    package init(from: CatalogID, to: CatalogID, header: Digest256, headerByteCount: UInt32, byteCount: UInt64) {
      self.from = from
      self.to = to
      self.header = header
      self.headerByteCount = headerByteCount
      self.byteCount = byteCount
    }
  }

  /// How far a root's date may be ahead of a client's clock, in nanoseconds: one day. A later date comes from a wrong clock or an
  /// attacker, and such a root would supersede all later ones.
  package static let clockTolerance: Int64 = 86_400_000_000_000

  /// Returns the sequence number of the next root, archive or delta. It is above `last`, and at least the milliseconds since 1970,
  /// so that it is above all earlier numbers even if the publisher lost the last one.
  ///
  /// - Parameter time: the time now, in nanoseconds since 1970.
  package static func nextSequence(after last: UInt64?, at time: Int64) -> UInt64 {
    let (next, overflows) = (last ?? 0).addingReportingOverflow(1)
    return max(overflows ? .max : next, UInt64(max(time, 0)) / 1_000_000)
  }
}

extension SiteRoot.Delta {
  package var reference: DeltaReference {
    DeltaReference(header: header, headerByteCount: headerByteCount, byteCount: byteCount)
  }
}

extension SiteRoot.Offer {
  /// Checks the length and SHA-256 of a manifest against the offer, decodes it, and checks its contents against the offer.
  ///
  /// - Throws: `corrupt`, `newerFormat`.
  package func openManifest(_ bytes: [UInt8], of pack: PackID) throws -> VersionManifest {
    let file = SitePath.version(manifest).description
    let reader = ByteReader(bytes[...], file: file)
    guard bytes.count == Int(manifestByteCount), Digest256(hashing: bytes) == manifest else {
      throw reader.corrupt("length or checksum mismatch")
    }
    let contents = try VersionManifest(decoding: bytes, file: file)
    guard contents.pack == pack, contents.number == number, contents.catalog == catalog,
      contents.attributes == attributes
    else {
      throw reader.corrupt("unexpected pack, version number, catalog or attributes")
    }
    return contents
  }
}
