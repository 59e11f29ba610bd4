import PackAuthoring
import PackDelivery
import PackFormats
import PackStore

// A site of a bucket as a whole: into a folder, and from one.

extension BucketSite {
  /// Fetches all files of the site into a folder, roots and control file last. Files that an interrupted call left are kept.
  ///
  /// - Parameter folder: a folder without other files.
  /// - Throws: `noSite`; `unreachable`, `denied`; `corrupt`, `untrusted`, `noSpace`, `ioError`.
  func fetchWhole(into folder: FilePath) async throws {
    let work = try WorkFolder(
      nil, site: folder, temporaryParent: temporaryParent, parallelCount: fetchCount, waits: waitsForOthers)
    defer { work.end() }
    var lost = LostObject(location: location, clock: clock)
    for _ in 0..<Self.overtakenLimit {
      let base = try await job().begin(tidies: false) { try requireNotBefore(mark(of: $0), $0) }
      guard let image = base.image else { throw noSite() }
      try requireSameKey(base)
      do {
        try await work.take(image.image, committed: nanoseconds(base.committed), from: storage, .everything)
        return
      } catch let missing as MissingObject { try await lost.note(missing) }
    }
    throw DeliveryError(.siteChanged, "changed repeatedly while it was read", at: location)
  }

  /// Stores the site of a folder, with all versions, in a bucket without a site. The roots stay as they are. Objects that an
  /// interrupted call uploaded are not uploaded again.
  ///
  /// If the bucket has the site in the same state, or only as this call left it, this continues.
  ///
  /// - Parameters:
  ///   - site: the site of the folder.
  ///   - key: the key that signs the image.
  /// - Throws: `exists` if the bucket has another site, or another state that was published there; `busy` if another publisher was
  ///   faster; `unreachable`, `denied`; `untrusted`, `corrupt`, `noSpace`, `ioError`.
  func storeWhole(
    _ site: Site, signedBy key: SiteKey, events: @escaping @Sendable (SiteChangeEvent) -> Void
  ) async throws {
    try await BlockingExecutor.runAsync {
      let work = try WorkFolder(
        nil, site: site.path, temporaryParent: temporaryParent, parallelCount: fetchCount, waits: waitsForOthers)
      defer { work.end() }
      var job = job()
      job.revokedBelow = key.delegation?.revokedBelow ?? 0
      let base = try await job.begin(tidies: true) { try $0.requireFollowed(by: key, at: location) }
      try await requireRightClock()
      if base.image == nil {
        try await requireNoStranger(job)
        try await requireSafeStorage()
      }
      guard let product = try site.product else {
        throw PackStoreError(.notFound, "does not have a root yet", about: .site(site.path.string))
      }
      let image = try work.image(of: site, after: base.image)
      if let before = base.image {
        let isSameStore = image.files[.control]?.digest == before.image.files[.control]?.digest
        if before.image.site == image.site, isSameStore { return }
        guard before.image.site == image.site, before.image.number == Self.firstImage else { throw otherSite() }
      }
      let next = try SignedSiteImage(image, of: product, signedBy: key)
      do {
        let byteCount = try await job.commit(next, after: base) { path in
          guard let file = image.files[path] else { preconditionFailure("the image has the file") }
          return .file(work.place(of: path), byteCount: file.byteCount, digest: file.digest)
        } progress: {
          events(.upload(byteCount: $0, totalByteCount: $1))
        }
        events(.uploaded(byteCount: byteCount))
      } catch is Ledger.Refusal {
        throw PackStoreError(
          .busy, "another process is publishing to the site", about: .site(location), detail: .otherWriter)
      }
      marks?.remember(next, storage.identity)
    }
  }

  /// The number of the image that this call commits; a publication commits a later one.
  private static let firstImage: UInt64 = 1

  private func otherSite() -> PackStoreError {
    var error = PackStoreError(.exists, "a site exists there in another state", about: .site(location))
    error.specificRemedy =
      "use another prefix; or delete all objects below this prefix and the ledger's, if nothing needs them"
    return error
  }
}
