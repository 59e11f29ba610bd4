import PackStore

/// The files that a manifest selects, installed directly into the site's store as the next version of its pack.
struct ManifestVersion: PublicationSource {
  let product: Store.Product? = nil
  let packs: Set<PackID>? = nil

  private let evaluation: ManifestEvaluation
  private let pack: PackID
  private let number: UInt64?
  private let site: Store
  private let folder: SiteFolder
  private let options: Store.InstallOptions
  private let progress: (@Sendable (Site.PublishProgress) -> Void)?

  /// - Parameters:
  ///   - number: the version's number; `nil` for one more than the highest number that the pack ever had on the site.
  ///   - wanted: the pack of the manifest, or `nil`.
  init(
    of evaluation: ManifestEvaluation, number: UInt64?, _ wanted: [Site.PublishedPack]?, for publication: Publication
  ) throws {
    let (manifest, _) = try evaluation.requireSelection()
    guard 1...PackVersion.lastNumber ~= number ?? 1 else {
      throw PackStoreError(
        .invalidArgument, "\(number ?? 0) is not in 1 to \(PackVersion.lastNumber)", about: .parameter("version"))
    }
    self.evaluation = evaluation
    pack = manifest.assetPackID
    self.number = number
    site = publication.site.store
    folder = publication.folder
    progress = publication.progress
    var options = manifest.installOptions
    options.label = publication.options.label
    options.setNote(
      publication.options.note ?? manifest.note, isPublished: publication.options.publishesNotes)
    options.level = publication.options.level ?? manifest.level ?? Site.PublishOptions.standardLevel
    if let layout = publication.options.layout { options.layout = layout }
    options.rowLimit = publication.options.rowLimit
    self.options = options
    for wanted in wanted ?? [] {
      guard wanted.pack == pack else { throw PackStoreError.noPack(wanted.pack, among: [pack], of: "the manifest") }
      guard wanted.version == nil else {
        var error = PackStoreError(
          .invalidArgument, "a manifest does not have numbered versions", about: .version(pack, wanted.version ?? 0))
        error.specificRemedy = "name the pack without a version; the option for the version number sets the number"
        throw error
      }
    }
  }

  func stage(
    restoring missing: [SiteChange.MissingVersion], above numbers: [PackID: UInt64],
    in transaction: inout Transaction
  ) throws -> StagedVersions {
    // Numbers of lost or dropped versions cannot be used again.
    let dropped = max(try folder.readNumbers().highest(of: pack), numbers[pack] ?? 0)
    let lost = missing.filter { $0.pack == pack }.map(\.number).reduce(dropped, max)
    let highest = transaction.packs.first { $0.id == pack }?.highestVersion ?? 0
    let number = number ?? (lost > highest ? lost.addingClamped(1) : nil)
    do {
      return StagedVersions(published: [try install(number, in: &transaction)])
    } catch let error as PackStoreError where error.code == .exists {
      return StagedVersions(published: [try takePresent(number, in: &transaction, else: error)])
    }
  }

  private func install(_ number: UInt64?, in transaction: inout Transaction) throws -> Store.InstallResult {
    var options = options
    options.version = number
    return try transaction.install(evaluation, options: options) { [progress, pack] in progress?(.store(pack, $0)) }
  }

  /// Handles a number of a version that the site keeps. If the manifest selects the same content, that version becomes current
  /// again; otherwise throws `error`.
  private func takePresent(
    _ number: UInt64?, in transaction: inout Transaction, else error: PackStoreError
  ) throws -> Store.InstallResult {
    guard let number, let present = transaction.versions(of: pack).first(where: { $0.number == number }) else {
      throw error
    }
    var trialOptions = Transaction.Options(durability: .atomic)
    trialOptions.isPublication = true
    // The transaction is discarded: it only stages the version for the comparison.
    var trial = try site.makeTransaction(options: trialOptions)
    let selected = try install(nil, in: &trial).version
    guard selected.catalog == present.catalog, selected.attributesDigest == present.attributesDigest else {
      var error = PackStoreError(
        .exists, "on the site already, with other content or attributes", about: .version(present.pack, present.number),
        detail: .otherContent)
      error.specificRemedy = "give the new content a higher version number"
      throw error
    }
    var copyOptions = Store.CopyOptions()
    copyOptions.isOwn = true
    return try transaction.copy(pack, version: number, from: site.makeSnapshot(), options: copyOptions)
  }
}
