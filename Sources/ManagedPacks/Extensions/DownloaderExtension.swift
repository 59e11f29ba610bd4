/// A program of an app that downloads files while the app does not run.
///
/// With `@main` it is a complete program: ``main()``. The agent starts it, calls its methods, and ends it, so its memory does not
/// persist. Its run time is limited. It counts while a method runs, and until exclusive control that the extension requested
/// asynchronously has ended.
public protocol BADownloaderExtension: Sendable {
  init()

  /// Returns the files to download after an installation or an update, or periodically. Return soon: after an installation the user
  /// waits for it.
  ///
  /// - Parameters:
  ///   - request: the event.
  ///   - manifestURL: a local copy of the file at `BAManifestURL`, which exists until this method returns.
  ///   - extensionInfo: the download limits before the first launch.
  func downloads(
    for request: BAContentRequest, manifestURL: URL, extensionInfo: BAAppExtensionInfo
  ) -> Set<BADownload>

  /// Answers a server's request for a name and a password (`Basic`), for the manifest, a download or the site of asset packs. The answer
  /// goes to the server that requested it, and to no server that it redirects to. For a site, `download` is not a ``BAURLDownload``.
  func backgroundDownload(
    _ download: BADownload, didReceive challenge: URLAuthenticationChallenge
  ) async -> (URLSession.AuthChallengeDisposition, URLCredential?)

  /// Called when a download failed. For the manifest, `download` is not a ``BAURLDownload``.
  func backgroundDownload(_ download: BADownload, failedWithError error: any Error)

  /// Called when a download has finished. Move the file away: it is deleted when this method returns. A file moved to a place
  /// within the group's folder may be purged when the disk is full, unless it has been changed.
  func backgroundDownload(_ download: BADownload, finishedWithFileURL fileURL: URL)

  /// Called shortly before the program is ended. Apple has deprecated it: do not rely on it.
  func extensionWillTerminate()
}

extension BADownloaderExtension {
  public func backgroundDownload(
    _ download: BADownload, didReceive challenge: URLAuthenticationChallenge
  ) async -> (URLSession.AuthChallengeDisposition, URLCredential?) { (.performDefaultHandling, nil) }
  public func backgroundDownload(_ download: BADownload, failedWithError error: any Error) {}
  public func backgroundDownload(_ download: BADownload, finishedWithFileURL fileURL: URL) {}
  public func extensionWillTerminate() {}
}

/// An extension that downloads packs by their policies. With `@main` it is a complete program: ``main()``.
///
///     @main
///     struct DownloaderExtension: ManagedDownloaderExtension {
///       func shouldDownload(_ assetPack: AssetPack) -> Bool { assetPack.language == nil }
///     }
///
/// In an app, ``AssetPackManager/Options/init(_:)`` uses an extension as a filter.
public protocol ManagedDownloaderExtension: BADownloaderExtension {
  /// Returns whether to download a pack that a policy requires (default: true). Not called for packs that the app requests itself.
  func shouldDownload(_ assetPack: AssetPack) -> Bool
}

/// Apple's name of ``ManagedDownloaderExtension`` for packs that Apple hosts.
public protocol StoreDownloaderExtension: ManagedDownloaderExtension {}

extension ManagedDownloaderExtension {
  /// Returns an empty set: packs are downloaded by their policies.
  public func downloads(
    for request: BAContentRequest, manifestURL: URL, extensionInfo: BAAppExtensionInfo
  ) -> Set<BADownload> { [] }

  public func shouldDownload(_ assetPack: AssetPack) -> Bool { true }
}

extension AssetPackManager.Options {
  /// Creates options with the filter of an extension, and with its answers to servers that request a name and a password.
  public init(_ downloader: some ManagedDownloaderExtension) {
    self.init()
    shouldDownload = { downloader.shouldDownload($0) }
    pullOptions.authorization = SiteAuthorization(answeringBy: { challenge in
      let download = BADownload.make(DownloadRecord(ofSite: challenge))
      let (disposition, credential) = await downloader.backgroundDownload(
        download, didReceive: challenge.authentication)
      return FileChallengeReply(disposition, credential)
    })
  }
}
