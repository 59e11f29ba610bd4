/// What an extension is told of its app.
public final class BAAppExtensionInfo: Sendable {
  /// Bytes that downloads may still take before the app's first launch; nil: nothing restricts them.
  public let restrictedDownloadSizeRemaining: Int?

  /// The same of essential downloads.
  public let restrictedEssentialDownloadSizeRemaining: Int?

  init(restrictedDownloadSizeRemaining: Int?, restrictedEssentialDownloadSizeRemaining: Int?) {
    self.restrictedDownloadSizeRemaining = restrictedDownloadSizeRemaining
    self.restrictedEssentialDownloadSizeRemaining = restrictedEssentialDownloadSizeRemaining
  }
}
