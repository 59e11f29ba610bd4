import PackFormats
import PackStore

/// A pack of a pull, with its entry in the root; `nil` if it was removed.
struct ChosenPack {
  let pack: PackID
  let entry: SiteRoot.Pack?
  let root: SiteRoot
  let firstKey: SitePublicKey?

  /// Whether the caller did not request the pack: it may belong to a release of a requested one.
  let isImplied: Bool
}

/// A pack of a pull, with the decision whether to install the site's offer.
struct AssessedPack {
  let chosen: ChosenPack

  /// The selection among the offers; `nil` if the pack has none, or if the caller named a version.
  let selection: OfferSelection?

  /// The current version, if the pack has the site's origin.
  let current: PackVersion?

  /// The result if nothing is installed.
  var result: Store.PullResult.Pack

  /// `nil`: nothing is installed.
  var installation: Installation?

  var id: PackID { chosen.pack }

  init(
    _ chosen: ChosenPack, _ result: Store.PullResult.Pack, _ selection: OfferSelection? = nil,
    current: PackVersion? = nil
  ) {
    self.chosen = chosen
    self.result = result
    self.selection = selection
    self.current = current
  }
}

/// An offer to install, and the state of the store before.
struct Installation {
  let version: SiteRoot.Offer
  let entry: SiteRoot.Pack
  let before: Store.Pack?
  let current: PackVersion?

  /// Whether the version is the current one already, and only lost data.
  let isCurrent: Bool

  let kept: [PackVersion]
  let provenance: Provenance
}

extension Store.PullResult.Pack {
  /// Whether the offered version cannot be installed.
  var isUnable: Bool {
    switch outcome {
    case .held, .otherOrigin, .publisherOutOfDate, .stale, .reusedNumber, .missingFiles, .releaseIncomplete: true
    case .updated, .unchanged, .healed, .purged, .absent, .notOffered: false
    }
  }
}
