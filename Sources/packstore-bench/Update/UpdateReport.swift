/// The cost of each way to update a client.
struct UpdateReport: Codable {
  /// The version of the JSON format. It increases if a field changes its meaning or is removed.
  var format = 1
  let environment: Environment
  let fileSystem: String
  let oldByteCount: Int
  let newByteCount: Int
  let ways: [Method]

  struct Method: Codable {
    let name: String
    /// The number of bytes that the client downloads.
    let fetchedByteCount: Int
    /// The part of the download that is not content: manifests, frame tables, pages.
    var metadataByteCount: Int?
    var requestCount: Int?
    /// The time to prepare the download. The version is already in the publisher's store.
    let makeSeconds: Double
    /// The time from the downloaded data to the version in the client's store. For ranges, it includes the download from a folder.
    let applySeconds: Double
    /// The stored size of the chunks that the client lacked.
    var newStoredByteCount: Int?
  }

  private static let title = "An update with PackStore"

  /// Facts about the machine and the run, one line each.
  private var facts: [String] {
    [
      environment.line,
      "\(fileSystem); one run of each; from \(megabytes(oldByteCount)) MB to \(megabytes(newByteCount)) MB of 10^6 bytes",
      "fetch: the client's download, as it reports it. make: publishing the version, or creating the delta. MB/s: the size of "
        + "the whole version per second of apply. The result was verified, and compared with the publisher's version.",
    ]
  }

  private var table: Table {
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
    return table
  }

  var markdown: String {
    "# \(Self.title)\n\n" + facts.map { "- \($0)\n" }.joined() + "\n" + table.markdown
  }

  /// The report as a page for a browser, without scripts and external resources.
  var html: String {
    let list = element("ul", ["class": "facts"], facts.map { element("li", [:], escaped($0)) }.joined())
    let words = summary.map { element("p", [:], escaped($0)) }.joined()
    return page(titled: Self.title, list + words + table.html())
  }

  /// The result in five sentences.
  var summary: [String] {
    let install = ways.first, update = ways.first { $0.name == "update by ranges" }
    let delta = ways.filter { $0.name.hasPrefix("update by a delta") }.min { $0.fetchedByteCount < $1.fetchedByteCount }
    func cost(_ way: Method?) -> String { way.map { "\(fineMegabytes($0.fetchedByteCount)) MB" } ?? "unknown" }
    func share(_ way: Method?) -> String {
      guard let way, newByteCount > 0 else { return "" }
      return " (\(significant(Double(way.fetchedByteCount) / Double(newByteCount) * 100)) % of the version)"
    }
    return [
      "The new version has \(megabytes(newByteCount)) MB, the old one \(megabytes(oldByteCount)) MB.",
      "A new user downloads \(cost(install)) of the old version.",
      "A user of the old version downloads \(cost(update)) without deltas\(share(update)).",
      "With the smallest delta, the download is \(cost(delta))\(share(delta)).",
      "The update takes \(decimals(update?.applySeconds ?? 0, 2)) s here without deltas, and \(decimals(delta?.applySeconds ?? 0, 2))"
        + " s with the delta; creating the delta takes \(decimals(delta?.makeSeconds ?? 0, 2)) s.",
    ]
  }
}
