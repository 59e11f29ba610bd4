import PackArchives

/// Installs a received archive of a download manifest as the version that the manifest lists.
struct ArchiveInstallation {
  private let archive: ListedArchive
  private let origin: Store.Origin
  private let store: Store
  private let template: Store.PullOptions

  /// - Parameters:
  ///   - origin: the origin of archives that no key has signed.
  ///   - template: the options of the installation.
  init(_ archive: ListedArchive, origin: Store.Origin, in store: Store, _ template: Store.PullOptions) {
    self.archive = archive
    self.origin = origin
    self.store = store
    self.template = template
  }

  /// Whether a repetition with the same bytes would fail, too.
  static func isFaultOfArchive(_ error: any Error) -> Bool {
    switch error {
    case let error as PackStoreError: [.corrupt, .refused, .wrongKind, .untrusted].contains(error.code)
    case let error as DeliveryError:
      [.corrupt, .noPack, .noSite, .badSignature, .notSigned, .otherDraft].contains(error.code)
    default: false
    }
  }

  // MARK: - Archives of PackStore

  /// Installs an archive of PackStore. Its publisher is the key that signed it.
  func installPack(
    _ path: FilePath, onFirstContact: (String, SitePublicKey) -> Void
  ) async throws -> PulledPack {
    var options = template
    options.wantedVersion = .init(number: archive.number, isHeld: false)
    do {
      let result = try await store.pull(from: path.string, packs: [archive.id], options: options)
      if result.isFirstContact, let key = result.key { onFirstContact(withoutSecrets(archive.url ?? ""), key) }
      let outcome = result.packs.first { $0.pack == archive.id }?.outcome ?? .absent
      return PulledPack(outcome, origin: result.origin)
    } catch var error as DeliveryError {
      error.location = archive.url.map(withoutSecrets)
      throw error
    }
  }

  // MARK: - Apple's archives

  /// Installs an asset pack in Apple's format. It has no signature, so its origin is the manifest's.
  ///
  /// - Parameter folder: the folder in which the archive is unpacked, on the disk of the store.
  func installAppleArchive(_ path: FilePath, unpackingIn folder: FilePath) async throws -> PulledPack {
    let foreign = try ForeignArchive(path, name: withoutSecrets(archive.url ?? archive.id.name))
    guard foreign.format == .appleArchive else {
      throw refused("the archive is not an asset pack in Apple's format")
    }
    let content = try makeTemporaryFolder(in: folder)
    defer { removeTree(content) }
    let unpacked = try await BlockingExecutor.run { try foreign.unpackForInstall(into: content) }
    guard let manifest = unpacked.manifest else { throw refused("the archive does not contain an asset pack") }
    guard manifest.assetPackID == archive.id.name else {
      throw refused("the archive contains another asset pack than '\(archive.id)'")
    }
    var options = Store.InstallOptions(version: archive.number)
    options.links = .store
    options.attributes = manifest.attributes ?? archive.attributes
    options.provenance = Provenance(origin, .archive, serial: 0, sequence: 0)
    return try await install(unpacked.folder, options)
  }

  private func install(_ folder: FilePath, _ options: Store.InstallOptions) async throws -> PulledPack {
    var transactionOptions = Transaction.Options(durability: template.durability)
    transactionOptions.collectionPercent = template.collectionPercent
    let kept = template.keptVersionCount ?? 2
    do {
      let unchanged = try await store.change(options: transactionOptions) { [archive] transaction in
        var result = try transaction.install(folder: folder, as: archive.id, options: options)
        if result.isUnchanged, result.version.number < archive.number {
          // Equal content with a higher number: another label makes a version of its own, which devices do not fetch again.
          var labelled = options
          labelled.label = try VersionLabel("v\(archive.number)")
          result = try transaction.install(folder: folder, as: archive.id, options: labelled)
        }
        try transaction.trim(archive.id, keeping: kept)
        return result.isUnchanged
      }
      return PulledPack(unchanged ? .unchanged : .updated, origin: origin)
    } catch let error as PackStoreError where error.code == .otherOrigin {
      return PulledPack(.otherOrigin, origin: origin)
    }
  }

  private func refused(_ reason: String) -> PackStoreError {
    PackStoreError(.refused, reason, file: archive.url.map(withoutSecrets))
  }
}
