/// The download of an asset pack. In an app with asset packs, ``BADownloadManager`` passes it to the ``AssetPackManager``. In an app
/// with downloads of its own, it is the download of the archive's file.
final class AssetPackDownload: BADownload, @unchecked Sendable {
  /// Set once, before another thread can use the download.
  private var pack: AssetPack?

  init(of pack: AssetPack, isEssential: Bool) {
    var record = DownloadRecord(name: pack.id, url: pack.archiveURL ?? "", group: pack.appGroupID ?? "")
    record.byteCount = pack.downloadSize
    record.isEssential = isEssential
    self.pack = pack
    super.init(record)
  }

  required init(copying record: DownloadRecord) { super.init(copying: record) }

  override func removingEssential() -> Self {
    let copy = super.removingEssential()
    copy.pack = pack
    return copy
  }

  /// Requests the pack, and follows the events of its download.
  func schedule(by manager: AssetPackManager, isForeground: Bool) throws {
    guard state != .failed else { throw BAError(.downloadAlreadyFailed) }
    guard let pack, state == .created else { throw BAError(.downloadAlreadyScheduled) }
    let core = try manager.coreToAsk(), updates = manager.hub.subscribe(to: pack.id)
    let urgency: Urgency = isEssential ? .essential : isForeground ? .foreground : .prefetch
    _ = try core.register([pack], urgency)
    move(to: .waiting)
    Task {
      while let update = await updates.next() { self.follow(update) }
    }
  }

  private func follow(_ update: AssetPackManager.DownloadStatusUpdate) {
    switch update {
    case .began, .downloading: move(to: .downloading)
    case .paused: move(to: .waiting)
    case .finished: move(to: .finished)
    case .failed: move(to: .failed)
    }
  }

  func cancel(by manager: AssetPackManager) throws {
    guard state != .created else { throw BAError(.downloadNotScheduled) }
    guard state == .waiting || state == .downloading else { throw BAError(.downloadDoesNotExist) }
    manager.cancelDownload(ofAssetPackWithID: identifier)
  }
}

extension AssetPack {
  /// Returns a download of the pack, to be scheduled with ``BADownloadManager``. It is not essential.
  public func download() -> BADownload { AssetPackDownload(of: self, isEssential: false) }

  /// Returns a download of the pack for an event. It is essential if the policy of the pack makes it essential for the event.
  public func download(for contentRequest: BAContentRequest) -> BADownload {
    guard case .essential(let events) = downloadPolicy else { return download() }
    let isEssential =
      switch contentRequest {
      case .install: events.contains(.firstInstallation)
      case .update: events.contains(.subsequentUpdate)
      case .periodic, .languageChange: false
      }
    return AssetPackDownload(of: self, isEssential: isEssential)
  }
}

extension AssetPackManifest {
  /// Returns the downloads that the policies of the packs require for an event, for the preferred languages of the user. An extension
  /// returns them from ``BADownloaderExtension/downloads(for:manifestURL:extensionInfo:)``.
  ///
  /// - Parameter contentRequest: the event; `nil` for the downloads of all packs, none of them essential.
  public func allDownloads(for contentRequest: BAContentRequest?) -> Set<BADownload> {
    guard let event = contentRequest else { return Set(assetPacks.map { $0.download() }) }
    let language = resolvedTag(ProcessInfo.processInfo.environment)
    let chosen = PolicyRules.packs(for: event, among: assetPacks, isLocal: { _ in false }, seen: [], language: language)
    return Set(chosen.map { $0.pack.download(for: event) })
  }

  private func resolvedTag(_ environment: [String: String]) -> LanguageTag? {
    if let resolvedLanguage { return try? LanguageTag(resolvedLanguage.maximalIdentifier) }
    let primary = primaryLanguage.flatMap { try? LanguageTag($0.maximalIdentifier) }
    let matcher = LanguageMatcher(available: assetPacks.compactMap(\.languageTag), primary: primary)
    return matcher.resolve(preferred: preferredLanguages(environment))
  }
}
