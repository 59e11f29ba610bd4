/// What one way of bringing a client from one version to the next costs.
struct UpdateRow: Codable, Equatable {
  /// Names the row in the JSON and never changes.
  let key: String
  /// Names it in the report.
  let name: String
  /// The client's download. For a chunk store or repository without its own server: the data added by the second
  /// version.
  var byteCount: Int
  /// The part of it that is not content: indexes, manifests, tables, pages.
  var metadataByteCount: Int?
  var requestCount: Int?
  /// The bytes that the publisher's run added to the data it keeps.
  var publishedByteCount: Int?
  /// Adding the new version to the publisher's store, if that is a separate step.
  var ingest: ProgramUsage?
  /// Preparing the client's download, when the old version is already published.
  var build: ProgramUsage?
  /// From the downloaded data to the new version on the client's disk; with `requestCount`, including the download.
  var apply: ProgramUsage?
  /// Bytes of the client's files that are new or changed.
  var keptByteCount: Int?
  /// Bytes of the chunks that the client did not have, as it stores them.
  var newStoredByteCount: Int?
  /// Private memory of a client that is connected and finds nothing new, or that already has a delta's target version.
  var idlePrivateByteCount: Int?
}

extension UpdateRow {
  var isPackStore: Bool { key.hasPrefix("packstore-") }

  /// Written bytes per byte of new chunks.
  var writtenRatio: Double? {
    guard let written = apply?.writtenByteCount, let stored = newStoredByteCount, stored > 0 else { return nil }
    return Double(written) / Double(stored)
  }

  /// For a client that has nothing yet.
  var isInstall: Bool { key.hasPrefix("packstore-install-") }
}
