/// A program of an app that downloads while the app does not run.
///
/// With `@main` it is a whole program: ``main()``. The agent starts it, calls its methods, and ends it: what it keeps in memory is gone
/// then. Run time counts while a method runs, and until asynchronous exclusive control that it asked for has ended.
public protocol BADownloaderExtension: Sendable {
  init()

  /// What to download, after an installation, an update, or from time to time. Return soon: after an installation people wait for it.
  ///
  /// - Parameters:
  ///   - request: which of these it is.
  ///   - manifestURL: the file that `BAManifestURL` names, on this machine, as long as this runs.
  ///   - extensionInfo: what may still be downloaded before the first launch.
  func downloads(
    for request: BAContentRequest, manifestURL: URL, extensionInfo: BAAppExtensionInfo
  ) -> Set<BADownload>

  /// A server asks for a name and a password: for the manifest, or for a download.
  func backgroundDownload(
    _ download: BADownload, didReceive challenge: URLAuthenticationChallenge
  ) async -> (URLSession.AuthChallengeDisposition, URLCredential?)

  /// A download did not come. The manifest is one that is no ``BAURLDownload``.
  func backgroundDownload(_ download: BADownload, failedWithError error: any Error)

  /// A download has come. What is not moved away is gone when this returns. What is moved within the group's folder may be purged when
  /// the disk is full, as long as it is not changed.
  func backgroundDownload(_ download: BADownload, finishedWithFileURL fileURL: URL)

  /// The program ends soon. Apple has deprecated it: do not rely on it.
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

/// One that fetches packs by their policies. With `@main` it is a whole program: ``main()``.
///
///     @main
///     struct DownloaderExtension: ManagedDownloaderExtension {
///       func shouldDownload(_ assetPack: AssetPack) -> Bool { assetPack.language == nil }
///     }
///
/// In an app, ``AssetPackManager/Options/init(_:)`` takes one as a filter.
public protocol ManagedDownloaderExtension: BADownloaderExtension {
  /// Whether to fetch a pack that a policy would fetch. By default true. What the app asks for itself is not asked about.
  func shouldDownload(_ assetPack: AssetPack) -> Bool
}

/// The same under the name that Apple gives it where it hosts the packs.
public protocol StoreDownloaderExtension: ManagedDownloaderExtension {}

extension ManagedDownloaderExtension {
  /// Packs come by their policies.
  public func downloads(
    for request: BAContentRequest, manifestURL: URL, extensionInfo: BAAppExtensionInfo
  ) -> Set<BADownload> { [] }

  public func shouldDownload(_ assetPack: AssetPack) -> Bool { true }
}

extension AssetPackManager.Options {
  /// Options with the filter of an extension.
  public init(_ downloader: some ManagedDownloaderExtension) {
    self.init()
    shouldDownload = { downloader.shouldDownload($0) }
  }
}
