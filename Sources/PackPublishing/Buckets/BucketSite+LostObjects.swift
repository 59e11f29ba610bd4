import PackFormats
import PackStore

extension BucketSite {
  /// Finds missing public objects of the committed image by a list, uploads those whose content is in the work folder, and reports the
  /// others. Does nothing if the storage does not allow listing.
  ///
  /// An image keeps its objects, so that they may be written without a claim in the ledger.
  func restoreLostObjects(
    of image: SiteImage, _ folder: WorkFolder, _ events: @Sendable (SiteChangeEvent) -> Void
  ) async throws {
    guard let listed = try await storage.list() else { return }
    var missing: [String] = [], restoredCount = 0
    for (path, file) in image.files.sorted(by: { "\($0.key)" < "\($1.key)" }) {
      guard path.isPublic, let key = SiteImage.key(path, file), listed[key.path] != file.byteCount,
        try await storage.examine(key)?.byteCount != file.byteCount
      else { continue }
      if try await upload(path, file, to: key, folder) { restoredCount += 1 } else { missing.append(key.path) }
    }
    if restoredCount > 0 { events(.restored(count: restoredCount)) }
    if !missing.isEmpty { events(.missing(missing)) }
  }

  /// - Returns: false if the folder does not have the content.
  private func upload(
    _ path: SiteImage.Path, _ file: SiteImage.File, to key: ObjectKey, _ folder: WorkFolder
  ) async throws -> Bool {
    let body: ObjectBody
    if let content = file.content {
      body = .bytes(content)
    } else {
      guard try folder.hasContent(path, file) else { return false }
      body = .file(folder.place(of: path), byteCount: file.byteCount, digest: file.digest)
    }
    _ = try await storage.write(body, to: key, .always, latest: nil)
    return true
  }
}
