/// Receives the events of an app's downloads while the app runs, in place of its extension. The methods of one download are called
/// one after the other, on threads of the manager.
public protocol BADownloadManagerDelegate: AnyObject {
  /// The transfer started, or continues after a pause.
  func downloadDidBegin(_ download: BADownload)

  /// The download waits for a retry, or for the process that continues it.
  func downloadDidPause(_ download: BADownload)

  /// Bytes were received. The expected total is the size that the download states, until the server reports one; 0 if unknown.
  func download(
    _ download: BADownload, didWriteBytes bytesWritten: Int64, totalBytesWritten: Int64,
    totalBytesExpectedToWrite totalExpectedBytes: Int64)

  /// Answers a server's request for a name and a password.
  func download(
    _ download: BADownload, didReceive challenge: URLAuthenticationChallenge
  ) async -> (URLSession.AuthChallengeDisposition, URLCredential?)

  /// The download has failed.
  func download(_ download: BADownload, failedWithError error: any Error)

  /// The download has finished. Move the file away: it is deleted when this method returns. A file moved to a place within the
  /// group's folder may be purged when the disk is full, unless it has been changed.
  func download(_ download: BADownload, finishedWithFileURL fileURL: URL)
}

extension BADownloadManagerDelegate {
  public func downloadDidBegin(_ download: BADownload) {}
  public func downloadDidPause(_ download: BADownload) {}
  public func download(
    _ download: BADownload, didWriteBytes bytesWritten: Int64, totalBytesWritten: Int64,
    totalBytesExpectedToWrite totalExpectedBytes: Int64
  ) {}
  public func download(
    _ download: BADownload, didReceive challenge: URLAuthenticationChallenge
  ) async -> (URLSession.AuthChallengeDisposition, URLCredential?) { (.performDefaultHandling, nil) }
  public func download(_ download: BADownload, failedWithError error: any Error) {}
  public func download(_ download: BADownload, finishedWithFileURL fileURL: URL) {}
}
