#if Serving
  import PackAuthoring
  import PackServer
  import PackStore
  import Synchronization

  /// The running transfers and the totals of sent data, for the status page and `/status`. Its size is bounded for any requests.
  final class ServerStatus: Sendable {
    struct Transfer: Sendable {
      let client: String
      let target: String
      let version: String?
      let kind: Subject.Kind?
      var sentByteCount: UInt64 = 0
      let byteCount: UInt64?
    }

    /// The totals of sent data.
    struct Totals: Sendable {
      var requestCount: UInt64 = 0
      /// All bytes of bodies.
      var sentByteCount: UInt64 = 0
      /// Bytes of packs: segments, tables, deltas, manifests of versions, attributes, archives.
      var packByteCount: UInt64 = 0
      var deltaByteCount: UInt64 = 0
      /// The size of the whole packs: of each version whose manifest was requested, and of each archive.
      var wholeByteCount: UInt64 = 0
      var refusedCount: UInt64 = 0

      var savedByteCount: UInt64 { wholeByteCount > packByteCount ? wholeByteCount - packByteCount : 0 }
    }

    struct Snapshot: Sendable {
      var transfers: [Transfer] = []
      var recent: [RequestNote] = []
      var totals = Totals()
    }

    private struct State {
      var transfers: [UInt64: Transfer] = [:]
      var recent: [RequestNote] = []
      var totals = Totals()
      var next: UInt64 = 0
      /// The version that each client address downloads, because segments do not identify their version.
      var versions: [String: String] = [:]
    }

    private static let recentCount = 12
    private static let clientCount = 1024
    private let state = Mutex(State())
    private let notes = Mutex<[UInt64: RequestNote]>([:])

    func begin(_ note: RequestNote, of byteCount: UInt64?) -> UInt64 {
      let id = state.withLock { state in
        state.next += 1
        state.totals.requestCount += 1
        if note.status >= 400 { state.totals.refusedCount += 1 }
        var version = note.subject?.version
        if let version, note.subject?.kind == .version {
          if state.versions.count >= Self.clientCount { state.versions.removeAll() }
          state.versions[note.client] = version
        } else if note.subject != nil, version == nil {
          version = state.versions[note.client]
        }
        if note.status == 200, note.method == "GET", let whole = note.subject?.wholeByteCount {
          state.totals.wholeByteCount = state.totals.wholeByteCount.addingClamped(whole)
        }
        state.transfers[state.next] = Transfer(
          client: note.client, target: note.target, version: version, kind: note.subject?.kind, byteCount: byteCount)
        return state.next
      }
      notes.withLock { $0[id] = note }
      return id
    }

    func sent(_ byteCount: Int, by id: UInt64) {
      let byteCount = UInt64(clamping: byteCount)
      state.withLock { state in
        guard var transfer = state.transfers[id] else { return }
        transfer.sentByteCount = transfer.sentByteCount.addingClamped(byteCount)
        state.transfers[id] = transfer
        state.totals.sentByteCount = state.totals.sentByteCount.addingClamped(byteCount)
        guard let kind = transfer.kind, kind != .root else { return }
        state.totals.packByteCount = state.totals.packByteCount.addingClamped(byteCount)
        if kind == .delta { state.totals.deltaByteCount = state.totals.deltaByteCount.addingClamped(byteCount) }
      }
    }

    /// - Returns: the number of bytes of the body that were sent.
    func end(_ id: UInt64, failed: Bool) -> UInt64 {
      let note = notes.withLock { $0.removeValue(forKey: id) }
      return state.withLock { state in
        let sent = state.transfers.removeValue(forKey: id)?.sentByteCount ?? 0
        if var note, note.subject != nil {
          note.byteCount = sent
          state.recent.insert(note, at: 0)
          if state.recent.count > Self.recentCount { state.recent.removeLast() }
        }
        return sent
      }
    }

    func snapshot() -> Snapshot {
      state.withLock { state in
        Snapshot(
          transfers: state.transfers.sorted { $0.key < $1.key }.map(\.value), recent: state.recent, totals: state.totals
        )
      }
    }

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
