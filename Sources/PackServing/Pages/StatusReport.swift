#if Serving
  import Foundation
  import PackAuthoring
  import PackServer
  import PackStore

  extension ServerStatus {
    /// Returns the status as JSON.
    func json(_ content: ServedContent.State) throws -> [UInt8] {
      let encoder = JSONEncoder()
      encoder.keyEncodingStrategy = .convertToSnakeCase
      encoder.dateEncodingStrategy = .iso8601
      encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
      return Array(try encoder.encode(StatusReport(content, snapshot())))
    }
  }

  /// The document at `/status`.
  private struct StatusReport: Encodable {
    struct SiteReport: Encodable {
      let place: String
      let channels: [Site.ChannelDescription]
    }
    struct Totals: Encodable {
      let requests, sentBytes, packBytes, deltaBytes, wholeBytes, savedBytes, refused: UInt64
    }
    struct Transfer: Encodable {
      let client, target: String
      let version: String?
      let sentBytes: UInt64
      let bytes: UInt64?
    }
    let sites: [SiteReport]
    let faults: [String]
    let totals: Totals
    let transfers: [Transfer]

    init(_ content: ServedContent.State, _ status: ServerStatus.Snapshot) {
      sites = content.sites.map { SiteReport(place: $0.place, channels: $0.channels()) }
      faults = content.faults.map { "\($0.key.lastComponent?.string ?? ""): \($0.value)" }.sorted()
      let all = status.totals
      totals = Totals(
        requests: all.requestCount, sentBytes: all.sentByteCount, packBytes: all.packByteCount,
        deltaBytes: all.deltaByteCount, wholeBytes: all.wholeByteCount, savedBytes: all.savedByteCount,
        refused: all.refusedCount)
      transfers = status.transfers.map {
        Transfer(
          client: $0.client, target: $0.target, version: $0.version, sentBytes: $0.sentByteCount, bytes: $0.byteCount)
      }
    }
  }
#endif
