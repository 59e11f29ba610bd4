/// The cost of each way to update a client.
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
    /// The client's download.
    let fetchedByteCount: Int
    /// The part of it that is not content: manifests, frame tables, pages.
    var metadataByteCount: Int?
    var requestCount: Int?
    /// Preparing the download, with the version already in the publisher's store.
    let makeSeconds: Double
    /// From the downloaded data to the version in the client's store; for ranges, including the download from a folder.
    let applySeconds: Double
    /// Bytes of the chunks that the client lacked, as it stores them.
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
