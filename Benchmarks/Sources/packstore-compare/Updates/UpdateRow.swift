/// What one way of bringing a client from one version to the next costs.
struct UpdateRow: Codable, Equatable {
  /// Names the row in the JSON and never changes.
  let key: String
  /// Names it in the report.
  let name: String
  /// What the client fetches. Of a chunk store or repository without a server of its own: what the second version adds.
  var byteCount: Int
  /// Of that, what is not content: indexes, manifests, tables, pages.
  var metadataByteCount: Int?
  var requestCount: Int?
  /// What the publisher's run added to what it keeps.
  var publishedByteCount: Int?
  /// Taking the new version in, where that is a step of its own.
  var ingest: ProgramUsage?
  /// Making what the client fetches, when the old version has been published.
  var build: ProgramUsage?
  /// From what was fetched to the new version on the client's disk; with `requestCount`, fetching included.
  var apply: ProgramUsage?
  /// Bytes of the client's files that are new or have changed.
  var keptByteCount: Int?
  /// Bytes of the chunks that the client did not have, as it stores them.
  var newStoredByteCount: Int?
  /// Private memory of a client that is connected and finds nothing new, or that has what a delta leads to.
  var idlePrivateByteCount: Int?
}

extension UpdateRow {
  var isPackStore: Bool { key.hasPrefix("packstore-") }

  /// What was written for each byte that there was to store.
  var writtenRatio: Double? {
    guard let written = apply?.writtenByteCount, let stored = newStoredByteCount, stored > 0 else { return nil }
    return Double(written) / Double(stored)
  }

  /// For a client that has nothing yet.
  var isInstall: Bool { key.hasPrefix("packstore-install-") }
}
