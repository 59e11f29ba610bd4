// The extension of an app as Apple's template has it, with a filter of its own: `SnippetTests` runs it as a program.

import BackgroundAssets
import ExtensionFoundation
import StoreKit

@main
struct DownloaderExtension: StoreDownloaderExtension {
  func shouldDownload(_ assetPack: AssetPack) -> Bool {
    assetPack.id != "Unwanted"
  }
}
