/// An event during a change of a site.
public enum SiteChangeEvent: Sendable {
  /// Metadata was fetched for the copy of the site.
  case fetched(byteCount: UInt64)
  /// Content that the change reads was fetched.
  case fetchedContent(byteCount: UInt64)
  /// New files are being uploaded.
  case upload(byteCount: UInt64, totalByteCount: UInt64)
  /// All new files were uploaded, and the site contains them.
  case uploaded(byteCount: UInt64)
  /// Another publisher was faster; the change is repeated on its result.
  case overtaken
  /// Files that the site no longer needs were deleted.
  case deleted(count: Int)
  /// The ledger contained a job that no publisher can have written; it was discarded.
  case discardedJob
  /// Objects of the site are missing in the storage, and this publisher does not have their content. Paths in the site.
  case missing([String])
  /// Missing objects were uploaded again.
  case restored(count: Int)
}
