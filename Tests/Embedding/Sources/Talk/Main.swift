// swift-format-ignore-file
// An app of another team with the Swift code of Apple's talk of 2025 and of the article "Downloading Apple-hosted asset packs".
// Between the marks the code is unchanged, except for code that no compiler accepts: cases without a statement.

import BackgroundAssets
import Foundation

@main
struct Talk {
  static func main() async throws {
    try await query()
    try await ensure()
    try await download()
    try await showProgress()
    try await load()
    try await read()
    try await removeAndRedownload()
    try await remove()
    try await cancel()
    print("Tutorial: \(try AssetPackManager.shared.contents(at: "Videos/Introduction.m4v").count) bytes")
  }

  static func query() async throws {
    // --- the article
let assetPack = try await AssetPackManager.shared.assetPack(withID: "Tutorial")
    // ---
    print(assetPack.id)
  }

  static func ensure() async throws {
    let assetPack = try await AssetPackManager.shared.assetPack(withID: "Tutorial")
    // --- the article
try await AssetPackManager.shared.ensureLocalAvailability(of: assetPack)
    // ---
  }

  static func download() async throws {
    // --- the talk
let assetPack = try await AssetPackManager.shared.assetPack(withID: "Tutorial")

// Await status updates for progress information
let statusUpdates = AssetPackManager.shared.statusUpdates(forAssetPackWithID: "Tutorial")
Task {
	for await statusUpdate in statusUpdates {
		// …
  }
}

// Download the asset pack
try await AssetPackManager.shared.ensureLocalAvailability(of: assetPack)
    // ---
  }

  static func showProgress() async throws {
    let statusUpdate = AssetPackManager.DownloadStatusUpdate.began(
      try await AssetPackManager.shared.assetPack(withID: "Tutorial"))
    // The article's cases, with the dots that Swift requires, and a statement each.
	switch statusUpdate {
	case .began(let assetPack): print("\(assetPack.id) began")
	case .paused(let assetPack): print("\(assetPack.id) paused")
	case .downloading(let assetPack, let progress): print("\(assetPack.id) \(progress.fractionCompleted)")
	case .finished(let assetPack): print("\(assetPack.id) finished")
	case .failed(let assetPack, let error): print("\(assetPack.id) \(error)")
	}
  }

  static func load() async throws {
    // --- the article
let videoData = try AssetPackManager.shared.contents(at: "Videos/Introduction.m4v")
    // ---
    // --- the article
let videoDescriptor = try AssetPackManager.shared.descriptor(for: "Videos/Introduction.m4v")
defer {
	do {
		try videoDescriptor.close()
	} catch {
		print("The file descriptor couldn’t be closed: \(error)")
	}
}
    // ---
    print(videoData.count)
  }

  static func read() async throws {
    // --- the talk
// Read a file into memory
let videoData = try AssetPackManager.shared.contents(at: "Videos/Introduction.m4v")

// Open a file descriptor
let videoDescriptor = try AssetPackManager.shared.descriptor(for: "Videos/Introduction.m4v")
defer {
	do {
		try videoDescriptor.close()
	} catch {
		// …
	}
}
    // ---
    print(videoData.count)
  }

  static func removeAndRedownload() async throws {
    // --- the talk
// Remove the asset pack
try await AssetPackManager.shared.remove(assetPackWithID: "Tutorial")

// Redownload the asset pack
let assetPack = try await AssetPackManager.shared.assetPack(withID: "Tutorial")
try await AssetPackManager.shared.ensureLocalAvailability(of: assetPack)
    // ---
  }

  static func remove() async throws {
    // --- the article
try await AssetPackManager.shared.remove(assetPackWithID: "Tutorial")
    // ---
  }

  /// Cancels a download. Downloads are repeated until the talk's code has seen the end of one, because its sequence contains
  /// only later updates.
  static func cancel() async throws {
    let assetPack = try await AssetPackManager.shared.assetPack(withID: "Tutorial")
    let downloads = Task {
      while !Task.isCancelled {
        try? await AssetPackManager.shared.ensureLocalAvailability(of: assetPack)
        try? await AssetPackManager.shared.remove(assetPackWithID: "Tutorial")
      }
    }
    // --- the talk
let statusUpdates = AssetPackManager.shared.statusUpdates(forAssetPackWithID: "Tutorial")
for await statusUpdate in statusUpdates {
	if case .downloading(_, let progress) = statusUpdate {
		progress.cancel()
	}
}
    // ---
    downloads.cancel()
    await downloads.value
    try await AssetPackManager.shared.ensureLocalAvailability(of: assetPack)
  }
}
