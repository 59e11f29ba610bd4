public import PackStore

extension Site {
  /// The source of published versions.
  public enum Source: Sendable {
    /// A store that keeps the versions. Data that the site lacks is encoded with the options.
    case store(Store)

    /// A manifest. Its files are packed directly into the site, like `ManifestEvaluation.package` does, except for dates. The
    /// version's number is by default one more than the highest number on the site.
    case manifest(ManifestEvaluation, version: UInt64? = nil)

    /// Archives. Their data is copied without compressing it again.
    case archives(ArchivedPacks)
  }
}

/// Versions to publish. Everything that can be checked without the site is already checked.
protocol PublicationSource {
  /// The product of the versions; `nil` if the source does not specify it.
  var product: Store.Product? { get }

  /// All packs of the source; `nil` if it covers only its own pack.
  var packs: Set<PackID>? { get }

  /// Stages the versions in `missing` that the source has, then the versions to publish, in the order of the result.
  ///
  /// - Parameters:
  ///   - missing: versions that the site has lost.
  ///   - numbers: the highest numbers that channels ever offered. New numbers exceed them.
  func stage(
    restoring missing: [SiteChange.MissingVersion], above numbers: [PackID: UInt64], in transaction: inout Transaction
  ) throws -> StagedVersions

  /// Releases the resources of staging. Called after the commit, or if no commit follows.
  func close()
}

/// The versions that a source has staged.
struct StagedVersions {
  /// The requested versions.
  var published: [Store.InstallResult] = []

  /// Restored versions that the site had lost.
  var restored: [PackVersion] = []
}

extension PublicationSource {
  func close() {}
}

extension Site.Source {
  /// Finds the requested versions, by default one of each pack.
  ///
  /// - Parameter publication: the options, and the site.
  /// - Throws: `notFound` if the source lacks a pack or version; the reason why the source cannot be published to the site.
  func open(_ wanted: [Site.PublishedPack]?, for publication: Publication) throws -> any PublicationSource {
    switch self {
    case .store(let store): try StoreVersions(wanted, of: store, for: publication)
    case .manifest(let evaluation, let number):
      try ManifestVersion(of: evaluation, number: number, wanted, for: publication)
    case .archives(let archives): try ArchivedVersions(wanted, of: archives, for: publication)
    }
  }
}
