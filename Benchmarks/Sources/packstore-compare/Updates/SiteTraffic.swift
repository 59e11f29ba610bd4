import Foundation

/// A client's traffic with a site, by kind of data.
struct SiteTraffic: Codable, Equatable {
  var requestCount = 0
  /// All that the server sent, heads included.
  var sentByteCount = 0
  /// The part of it that is not content of assets: root, manifests, frame tables, pages of catalogs and layouts.
  var metadataByteCount = 0
  /// Bytes that the client sent.
  var receivedByteCount = 0

  /// - Parameter isMetadata: whether the segment file `segments/<digits>` holds pages.
  init(_ exchanges: [FileServer.Exchange], isMetadata: (String) -> Bool) {
    for exchange in exchanges {
      requestCount += 1
      sentByteCount += exchange.sentByteCount
      receivedByteCount += exchange.receivedByteCount
      let isContent =
        exchange.path.hasPrefix("deltas/") || exchange.path.hasPrefix("segments/") && !isMetadata(exchange.path)
      if !isContent { metadataByteCount += exchange.sentByteCount }
    }
  }

  /// Asks the site's frame tables which segments hold pages.
  init(_ exchanges: [FileServer.Exchange], site: String) {
    self.init(exchanges) { path in
      let name = path.split(separator: "/").last ?? ""
      return Self.isOfMetadata(frameTable: FileManager.default.contents(atPath: "\(site)/frames/\(name)") ?? Data())
    }
  }

  /// Whether a frame table is one of pages. Its bytes 12 to 15 are the kind: 1 data, 2 metadata.
  static func isOfMetadata(frameTable: Data) -> Bool {
    frameTable.prefix(8) == Data("PKSFRAM0".utf8) && frameTable.dropFirst(12).prefix(4) == Data([2, 0, 0, 0])
  }
}
