public import PackStore

extension Site {
  /// Where the versions come from that are published.
  public enum Source: Sendable {
    /// A store keeps them. What the site lacks is encoded as the options say.
    case store(Store)

    /// A manifest selects the files of one version, which is packed right into the site: as `ManifestEvaluation.package` packs
    /// it, but for dates. The version's number is by default one more than the site's highest.
    case manifest(ManifestEvaluation, version: UInt64? = nil)

    /// Archives have them. Their content is taken as it is, without compressing it again.
    case archives(ArchivedPacks)
  }
}

/// Versions on their way to a site. What there is to read of them without the site was read and checked.
protocol PublicationSource {
  /// What the versions belong to; nil: the source does not say.
  var product: Store.Product? { get }

  /// All packs that the source has; nil: it speaks of its own pack alone.
  var packs: Set<PackID>? { get }

  /// Stages the versions that are to be published, in the order in which the result names them, and before them those of
  /// `missing` that the source has.
  ///
  /// - Parameters:
  ///   - missing: versions that the site had and has lost.
  ///   - numbers: the highest numbers that channels ever offered. A new number is above them.
  func stage(
    restoring missing: [SiteChange.MissingVersion], above numbers: [PackID: UInt64], in transaction: inout Transaction
  ) throws -> StagedVersions

  /// Lets go of what staging has opened, after the commit or in place of it.
  func close()
}

/// What a source has staged.
struct StagedVersions {
  /// What was to be published.
  var published: [Store.InstallResult] = []

  /// Versions that the site had lost.
  var restored: [PackVersion] = []
}

extension PublicationSource {
  func close() {}
}

extension Site.Source {
  /// Finds the versions that are wanted; by default one of each pack.
  ///
  /// - Parameter publication: by which options, and to which site.
  /// - Throws: `notFound` when the source has no such pack or version; what makes the source unfit for the site.
  func open(_ wanted: [Site.PublishedPack]?, for publication: Publication) throws -> any PublicationSource {
    switch self {
    case .store(let store): try StoreVersions(wanted, of: store, for: publication)
    case .manifest(let evaluation, let number):
      try ManifestVersion(of: evaluation, number: number, wanted, for: publication)
    case .archives(let archives): try ArchivedVersions(wanted, of: archives, for: publication)
    }
  }
}
