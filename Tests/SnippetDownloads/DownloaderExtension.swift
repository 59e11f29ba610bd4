// An extension with downloads of its own, as in Apple's talk: `DownloadSnippetTests` has the agent run it.

import BackgroundAssets
import ExtensionFoundation

@main
struct DownloaderExtension: BADownloaderExtension {
  func downloads(
    for request: BAContentRequest, manifestURL: URL, extensionInfo: BAAppExtensionInfo
  ) -> Set<BADownload> {
    guard let manifest = try? String(contentsOf: manifestURL, encoding: .utf8) else { return [] }
    var downloads: Set<BADownload> = []
    // NAME SIZE URL
    for line in manifest.split(separator: "\n") {
      let words = line.split(separator: " ").map(String.init)
      guard words.count == 3, let size = Int(words[1]), let url = URL(string: words[2]) else { continue }
      let isEssential = request != .periodic && size <= extensionInfo.restrictedEssentialDownloadSizeRemaining ?? .max
      downloads.insert(
        BAURLDownload(
          identifier: words[0], request: URLRequest(url: url), essential: isEssential, fileSize: size,
          applicationGroupIdentifier: "group.com.example.player", priority: .default))
    }
    return downloads
  }

  func backgroundDownload(
    _ download: BADownload, didReceive challenge: URLAuthenticationChallenge
  ) async -> (URLSession.AuthChallengeDisposition, URLCredential?) {
    guard challenge.previousFailureCount == 0 else { return (.cancelAuthenticationChallenge, nil) }
    return (.useCredential, URLCredential(user: "player", password: "secret", persistence: .none))
  }

  func backgroundDownload(_ failedDownload: BADownload, failedWithError error: any Error) {
    // The manifest is one, too.
    guard type(of: failedDownload) == BAURLDownload.self else { return note("no manifest") }
    note("failed \(failedDownload.identifier)")
    guard failedDownload.isEssential else { return }
    let nonEssential = failedDownload.removingEssential()
    try? BADownloadManager.shared.scheduleDownload(nonEssential)
  }

  func backgroundDownload(_ finishedDownload: BADownload, finishedWithFileURL fileURL: URL) {
    // The system deletes the file when this returns, so it is moved here first.
    let place = folder.appendingPathComponent("moving-\(finishedDownload.identifier)")
    _ = try? FileManager.default.moveItem(at: fileURL, to: place)
    BADownloadManager.shared.withExclusiveControl { lockAcquired, error in
      defer { try? FileManager.default.removeItem(at: place) }
      guard lockAcquired else { return note("\(String(describing: error))") }
      _ = try? FileManager.default.moveItem(at: place, to: folder.appendingPathComponent(finishedDownload.identifier))
      note("finished \(finishedDownload.identifier)")
    }
  }

  func extensionWillTerminate() { note("terminates") }
}

private let folder = URL(fileURLWithPath: ProcessInfo.processInfo.environment["PLAYER"] ?? "/nowhere")

private func note(_ line: String) {
  let log = folder.appendingPathComponent("log")
  let old = (try? String(contentsOf: log, encoding: .utf8)) ?? ""
  try? Data((old + line + "\n").utf8).write(to: log)
}
