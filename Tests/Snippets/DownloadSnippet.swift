import BackgroundAssets
import Foundation
import Synchronization

/// Follows the app of Apple's talk about essential downloads: it promotes a download that its extension has scheduled,
/// or schedules it.
final class SessionManager: NSObject, BADownloadManagerDelegate, Sendable {
  let folder: URL
  private let lines = Mutex<[String]>([])
  private let continuation: AsyncStream<String>.Continuation
  let ends: AsyncStream<String>

  init(folder: URL) {
    self.folder = folder
    (ends, continuation) = AsyncStream.makeStream(of: String.self)
    super.init()
    BADownloadManager.shared.delegate = self
  }

  var log: [String] { lines.withLock { $0 } }

  func startDownload(of name: String, at url: URL, fileSize: Int) {
    BADownloadManager.shared.withExclusiveControl { [self] lockAcquired, error in
      guard lockAcquired else { return note("no control: \(String(describing: error))") }
      do {
        let download: BADownload
        let currentDownloads = try BADownloadManager.shared.fetchCurrentDownloads()
        if let existingDownload = currentDownloads.first(where: { $0.identifier == name }) {
          download = existingDownload
        } else {
          download = BAURLDownload(
            identifier: name, request: URLRequest(url: url), essential: false, fileSize: fileSize,
            applicationGroupIdentifier: "group.com.example.player", priority: .default)
        }
        guard download.state != .failed && download.state != .finished else { return note("too late") }
        try BADownloadManager.shared.startForegroundDownload(download)
      } catch {
        note("not started: \(error)")
      }
    }
  }

  /// Cancels a download, also when it was cancelled before.
  func cancel(_ name: String, at url: URL) async throws -> Int {
    let download = BAURLDownload(
      identifier: name, request: URLRequest(url: url), fileSize: 4,
      applicationGroupIdentifier: "group.com.example.player")
    try await BADownloadManager.shared.withExclusiveControl(before: .distantFuture) {
      try BADownloadManager.shared.scheduleDownload(download)
      try BADownloadManager.shared.cancel(download)
      try BADownloadManager.shared.cancel(download)
    }
    return try await BADownloadManager.shared.currentDownloads.filter { $0.identifier == name }.count
  }

  func downloadDidBegin(_ download: BADownload) { note("began \(download.identifier)") }

  func downloadDidPause(_ download: BADownload) { note("paused \(download.identifier)") }

  func download(
    _ download: BADownload, didWriteBytes bytesWritten: Int64, totalBytesWritten: Int64,
    totalBytesExpectedToWrite totalExpectedBytes: Int64
  ) {
    note("\(totalBytesWritten) of \(totalExpectedBytes)")
  }

  func download(
    _ download: BADownload, didReceive challenge: URLAuthenticationChallenge
  ) async -> (URLSession.AuthChallengeDisposition, URLCredential?) {
    (.rejectProtectionSpace, nil)
  }

  func download(_ download: BADownload, failedWithError error: any Error) {
    if let error = error as? BAError { note("\(error.code)") }
    note("failed \(download.identifier)")
    continuation.yield(download.identifier)
  }

  func download(_ download: BADownload, finishedWithFileURL fileURL: URL) {
    do {
      try FileManager.default.moveItem(at: fileURL, to: folder.appendingPathComponent(download.identifier))
      note("finished \(download.identifier)")
    } catch {
      note("\(error)")
    }
    continuation.yield(download.identifier)
  }

  private func note(_ line: String) { lines.withLock { $0.append(line) } }
}
