import PackFormats
import PackStore

/// How many bytes of roots, attribute sheets and manifests a site may have a client read in one pull: they are in memory as a
/// whole, and there may be one manifest for each pack.
///
/// Pages and frame tables of a version have a limit of their own: ``Store/PullOptions/NetworkLimits/metadataByteLimit``.
final class MetadataBudget {
  private let byteLimit: Int
  private var byteCount = 0
  /// A file that is read again, such as after a change of the root, counts once.
  private var counted: Set<Digest256> = []

  init(byteLimit: Int) { self.byteLimit = max(byteLimit, 0) }

  /// The budget of a pull from a source. Folders and archives of this machine have none.
  convenience init(of options: Store.PullOptions, for source: any SiteSource) {
    self.init(byteLimit: source.isLocal || source.isArchive ? .max : options.limits.metadataByteLimit)
  }

  /// Counts a file, before it is read if its length is known.
  ///
  /// - Throws: `badResponse`, with the limit `metadata`.
  func spend(_ byteCount: Int, on file: Digest256, at place: @autoclosure () -> String) throws {
    guard counted.insert(file).inserted else { return }
    let (sum, isTooLarge) = self.byteCount.addingReportingOverflow(byteCount)
    guard !isTooLarge, sum <= byteLimit else {
      throw DeliveryError(
        .badResponse, "the site's root, attribute sheets and manifests exceed \(formatBytes(byteLimit))",
        at: place(), limit: .metadata)
    }
    self.byteCount = sum
  }
}

extension VersionManifest {
  /// Whether the manifest lists more segments than the version can need: each has at least one chunk of a file, or one row of
  /// the catalog or layout, and a chunk has at least 32 bytes apart from the last one of a file.
  var hasTooManySegments: Bool {
    let rows = [fileCount, linkCount, folderCount].reduce(UInt64(64)) { $0.addingClamped($1).addingClamped($1) }
    return UInt64(segments.count) > rows.addingClamped(byteCount / 16)
  }
}
