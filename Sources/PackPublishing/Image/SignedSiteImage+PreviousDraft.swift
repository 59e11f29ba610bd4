import PackFormats
import PackStore

/// An image of the previous draft, which is converted: its files for clients are of a format that no reader accepts any more, except
/// segments, which have their final format.
extension SignedSiteImage {
  /// The image without files of the previous draft, except roots and the publisher's lists, which a conversion reads.
  var convertible: SiteImage {
    guard isOfPreviousDraft else { return image }
    var kept = image
    kept.files = image.files.filter { !$0.key.hasDraftFormat }
    return kept
  }

  /// The objects that the next image may share with this one. A frame table is named after its segment: the conversion replaces it
  /// under the same name.
  var reusableKeys: Set<ObjectKey> { convertible.keys.union([key]) }
}

extension SiteImage.Path {
  /// Whether the file's format depends on the draft and the file never changes.
  fileprivate var hasDraftFormat: Bool {
    guard case .site(let path) = self else { return false }
    return !path.isSegment && !path.isRoot && !path.isRecord
  }
}
