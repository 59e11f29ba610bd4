/// The information about its app that an extension receives.
public final class BAAppExtensionInfo: Sendable {
  /// The bytes that downloads may still use before the app's first launch; `nil` if unlimited.
  public let restrictedDownloadSizeRemaining: Int?

  /// The bytes that essential downloads may still use before the app's first launch; `nil` if unlimited.
  public let restrictedEssentialDownloadSizeRemaining: Int?

  init(restrictedDownloadSizeRemaining: Int?, restrictedEssentialDownloadSizeRemaining: Int?) {
    self.restrictedDownloadSizeRemaining = restrictedDownloadSizeRemaining
    self.restrictedEssentialDownloadSizeRemaining = restrictedEssentialDownloadSizeRemaining
  }
}
