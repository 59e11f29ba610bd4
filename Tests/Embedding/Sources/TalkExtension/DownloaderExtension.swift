// swift-format-ignore-file
// The extension of Xcode's template, as Apple's talk of 2025 shows it, without a change.

import BackgroundAssets
import ExtensionFoundation
import StoreKit

@main
struct DownloaderExtension: StoreDownloaderExtension {
	
	func shouldDownload(_ assetPack: AssetPack) -> Bool {
		return true
	}
	
}
