/// What each way of bringing a client to a version costs.
struct UpdateReport: Codable {
  /// The version of the JSON layout: rises when a field changes its meaning or goes away.
  var format = 1
  let environment: Environment
  let fileSystem: String
  let oldByteCount: Int
  let newByteCount: Int
  let ways: [Way]

  struct Way: Codable {
    let name: String
    /// What the client fetches.
    let fetchedByteCount: Int
    /// Of that, what is not content: manifests, frame tables, pages.
    var metadataByteCount: Int?
    var requestCount: Int?
    /// Making what the client fetches, with the version in the publisher's store.
    let makeSeconds: Double
    /// From what is fetched to the version in the client's store; by ranges, fetching from a folder included.
    let applySeconds: Double
    /// Bytes of the chunks that the client did not have, as it stores them.
    var newStoredByteCount: Int?
  }

  var markdown: String {
    var table = Table(["", "fetch MB", "metadata KB", "requests", "make s", "apply s", "MB/s", "new stored MB"])
    table.rows = ways.enumerated().map { index, way in
      let byteCount = Double(index == 0 ? oldByteCount : newByteCount)
      return [
        way.name, fineMegabytes(way.fetchedByteCount),
        way.metadataByteCount.map { significant(Double($0) / 1e3) } ?? "", way.requestCount.map(grouped) ?? "",
        decimals(way.makeSeconds, 2), decimals(way.applySeconds, 2),
        significant(byteCount / 1e6 / max(way.applySeconds, 1e-9)), way.newStoredByteCount.map(fineMegabytes) ?? "",
      ]
    }
    return """
      # An update with PackStore

      - \(environment.line)
      - \(fileSystem); one run of each; from \(megabytes(oldByteCount)) MB to \(megabytes(newByteCount)) MB of 10^6 bytes
      - fetch: what the client fetches, counted by itself. make: publishing the version, or making the delta. MB/s are those \
      of the whole version. What came out was verified, and compared with the publisher's.

      \(table.markdown)
      """
  }
}
