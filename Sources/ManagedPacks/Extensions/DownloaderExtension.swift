/// A program of an app that downloads while the app does not run.
public protocol BADownloaderExtension: Sendable {
  init()
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
  public func shouldDownload(_ assetPack: AssetPack) -> Bool { true }
}

extension AssetPackManager.Options {
  /// Options with the filter of an extension.
  public init(_ downloader: some ManagedDownloaderExtension) {
    self.init()
    shouldDownload = { downloader.shouldDownload($0) }
  }
}
