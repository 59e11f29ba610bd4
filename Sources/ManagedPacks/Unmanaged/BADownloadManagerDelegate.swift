/// Hears of an app's downloads while the app runs, in place of its extension. Methods are called one after the other for each download,
/// on threads of the manager's own.
public protocol BADownloadManagerDelegate: AnyObject {
  func downloadDidBegin(_ download: BADownload)

  /// It waits: for another try, or for the process that downloads next.
  func downloadDidPause(_ download: BADownload)

  /// Bytes came. What is expected is 0 as long as the server does not say.
  func download(
    _ download: BADownload, didWriteBytes bytesWritten: Int64, totalBytesWritten: Int64,
    totalBytesExpectedToWrite totalExpectedBytes: Int64)

  /// A server asks for a name and a password.
  func download(
    _ download: BADownload, didReceive challenge: URLAuthenticationChallenge
  ) async -> (URLSession.AuthChallengeDisposition, URLCredential?)

  func download(_ download: BADownload, failedWithError error: any Error)

  /// All of it is here. What is not moved away is gone when this returns. What is moved within the group's folder may be purged when
  /// the disk is full, as long as it is not changed.
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
