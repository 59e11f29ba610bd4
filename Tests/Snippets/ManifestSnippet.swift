// Self-hosted packs and values of downloads: the names that the other snippets do not use.

import BackgroundAssets
import Foundation

/// The downloads that an extension returns for a manifest that the app hosts itself.
func downloads(listedIn manifestURL: URL, for request: BAContentRequest, group: String) throws -> Set<BADownload> {
  let manifest = try AssetPackManifest(contentsOf: manifestURL, appGroupID: group)
  let sameManifest = try AssetPackManifest(from: Data(contentsOf: manifestURL), appGroupID: group)
  guard manifest.assetPacks == sameManifest.assetPacks else { return [] }
  for assetPack in manifest.assetPacks where assetPack.userInfo == nil && assetPack.language == nil {
    let downloads = [assetPack.download(), assetPack.download(for: request)]
    guard downloads.allSatisfy({ $0.identifier == assetPack.id }) else { return [] }
  }
  return manifest.allDownloads(for: request)
}

/// A line for a log.
func summary(of download: BADownload) -> String {
  let state =
    switch download.state {
    case .failed: "failed"
    case .created: "created"
    case .waiting: "waiting"
    case .downloading: "downloading"
    case .finished: "finished"
    @unknown default: "unknown"
    }
  let isUrgent = download.priority > BADownload.Priority.default && download.priority <= BADownload.Priority.max
  let isLow = download.priority == BADownload.Priority.min
  return
    "\(download.identifier) \(state) \(download.isEssential) \(isUrgent) \(isLow) \(!download.uniqueIdentifier.isEmpty)"
}

func name(of request: BAContentRequest) -> String {
  switch request {
  case .install: "install"
  case .update: "update"
  case .periodic: "periodic"
  case .languageChange: "language change"
  @unknown default: "unknown"
  }
}

func remainingBytes(_ extensionInfo: BAAppExtensionInfo) -> [Int?] {
  [extensionInfo.restrictedDownloadSizeRemaining, extensionInfo.restrictedEssentialDownloadSizeRemaining]
}

func sizes(ofPack name: String) async throws -> [Int64] {
  let methods: [AssetPackManager.SizeCalculationMethod] = [.logical, .allocated]
  var sizes: [Int64] = []
  for method in methods {
    sizes.append(try await AssetPackManager.shared.localSize(ofAssetPackWithID: name, calculationMethod: method))
  }
  return sizes
}

/// The first event of any pack.
func firstUpdate() async -> AssetPackManager.DownloadStatusUpdate? {
  for await update in AssetPackManager.shared.statusUpdates { return update }
  return nil
}

/// The facts that Objective-C code reads from an error.
func facts(of error: any Error) -> [String] {
  let error = error as NSError
  var facts: [String] = []
  if error.domain == BAManagedErrorDomain, let code = BAManagedErrorCode(rawValue: error.code) {
    switch code {
    case .assetPackNotFound: facts.append("\(error.userInfo[BAAssetPackIdentifierErrorKey] ?? "")")
    case .fileNotFound: facts.append("file")
    case .localAvailabilityFailure:
      facts.append("\(error.userInfo[BASuccessesErrorKey] != nil) \(error.userInfo[BAFailuresErrorKey] != nil)")
    @unknown default: break
    }
  }
  if error.domain == BAErrorDomain, let code = BAErrorCode(rawValue: error.code), code == .downloadAlreadyScheduled {
    facts.append("scheduled")
  }
  return facts
}

/// The folder that the apps of a group share.
func sharedFolder(ofGroup group: String) -> URL? {
  FileManager.default.containerURL(forSecurityApplicationGroupIdentifier: group)
}

/// An extension for packs that the app hosts itself, as a filter of the app.
struct SelfHostedExtension: ManagedDownloaderExtension {
  func shouldDownload(_ assetPack: AssetPack) -> Bool { assetPack.downloadSize < 1_000_000_000 }
}
