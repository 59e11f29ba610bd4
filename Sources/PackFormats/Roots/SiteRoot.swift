import PackStore

/// What a channel of a site offers: versions of its packs, each to the devices that it is for. The one kind of file of a
/// site that changes, and the one that is signed; all else is named by its SHA-256, directly or by way of something that is.
package struct SiteRoot: Hashable, Sendable {
  /// Rises with each root that is published: ``nextSequence(after:at:)``.
  package var sequence: UInt64

  /// Nanoseconds since 1970.
  package var madeAt: Int64

  /// How long each root of the site counts, in nanoseconds: above 0; nil when it never expires.
  package var expiresAfter: Int64?

  /// Nanoseconds since 1970; nil when it never expires.
  package var expiresAt: Int64? {
    expiresAfter.map { after in
      let (end, overflows) = madeAt.addingReportingOverflow(after)
      return overflows ? .max : end
    }
  }

  /// Tells the files of sites apart; no trust depends on it.
  package var site: SiteID

  /// What all packs of the site belong to.
  package var product: Store.Product

  /// Of which channel it is the root.
  package var channel: SiteChannel

  /// The channel was removed: it has no packs, and clients keep what they have.
  package var isClosed = false

  /// The language of what packs without one are in; nil: that is not said.
  package var primaryLanguage: LanguageTag?

  /// Where the attributes of all offers are.
  package var sheets: [Sheet]

  /// In order of their names.
  package var packs: [Pack]

  package init(
    sequence: UInt64, madeAt: Int64, expiresAfter: Int64?, site: SiteID, product: Store.Product,
    channel: SiteChannel = .live, isClosed: Bool = false, primaryLanguage: LanguageTag? = nil, sheets: [Sheet] = [],
    packs: [Pack]
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
  }

  /// A sheet of attributes: ``AttributeSheet``.
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

    /// In the order in which clients try them: ``OfferTerms``. Never empty.
    package var offers: [Offer]

    /// Those that lead to offers, and those that lead on to where one of the others begins: ``DeltaRoutes``.
    package var deltas: [Delta]

    package init(id: PackID, priority: Int32, offers: [Offer], deltas: [Delta]) {
      self.id = id
      self.priority = priority
      self.offers = offers
      self.deltas = deltas
    }
  }

  /// A version, and which devices it is for.
  package struct Offer: Hashable, Sendable {
    package var number: UInt64
    package var catalog: CatalogID

    /// The SHA-256 of the manifest.
    package var manifest: Digest256

    package var manifestByteCount: UInt32

    /// The SHA-256 of the version's attributes, which are on a sheet; nil when it has none.
    package var attributes: Digest256?

    /// What a device without anything fetches for it, in bytes.
    package var downloadByteCount: UInt64

    /// Which part of all devices it is for, in 1/10000.
    package var share: UInt32

    /// Which versions of the app it is for; nil: all.
    package var appVersions: AppVersionRange?

    package init(
      number: UInt64, catalog: CatalogID, manifest: Digest256, manifestByteCount: UInt32, attributes: Digest256? = nil,
      downloadByteCount: UInt64 = 0, share: UInt32 = OfferTerms.everyDevice, appVersions: AppVersionRange? = nil
    ) {
      self.number = number
      self.catalog = catalog
      self.manifest = manifest
      self.manifestByteCount = manifestByteCount
      self.attributes = attributes
      self.downloadByteCount = downloadByteCount
      self.share = share
      self.appVersions = appVersions
    }
  }

  /// A file that turns one version into another.
  package struct Delta: Hashable, Sendable {
    package var from: CatalogID
    package var to: CatalogID

    /// The SHA-256 of its header.
    package var header: Digest256

    package var headerByteCount: UInt32

    /// Of the whole file.
    package var byteCount: UInt64

    package init(from: CatalogID, to: CatalogID, header: Digest256, headerByteCount: UInt32, byteCount: UInt64) {
      self.from = from
      self.to = to
      self.header = header
      self.headerByteCount = headerByteCount
      self.byteCount = byteCount
    }
  }

  /// How far ahead of a client's clock a root's date may be, in nanoseconds: a day. One of tomorrow is one of a clock that
  /// is wrong, or a trick: it would outlast all that come after it.
  package static let clockTolerance: Int64 = 86_400_000_000_000

  /// The sequence of the next statement: above the last one, and ahead of all that were made before by a publisher who lost
  /// count.
  ///
  /// - Parameter time: nanoseconds since 1970.
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
  /// Checks that bytes are the manifest that the root means, and takes them apart.
  ///
  /// - Throws: `corrupt`, `newerFormat`.
  package func openManifest(_ bytes: [UInt8], of pack: PackID) throws -> VersionManifest {
    let file = SitePath.version(manifest).description
    let reader = ByteReader(bytes[...], file: file)
    guard bytes.count == Int(manifestByteCount), Digest256(hashing: bytes) == manifest else {
      throw reader.corrupt("the file is not what the site's root names")
    }
    let contents = try VersionManifest(decoding: bytes, file: file)
    guard contents.pack == pack, contents.number == number, contents.catalog == catalog,
      contents.attributes == attributes
    else {
      throw reader.corrupt("the manifest is of another version than the site's root says")
    }
    return contents
  }
}
