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
      /// The sent bytes of all bodies.
      var sentByteCount: UInt64 = 0
      /// Bytes of packs: segments, tables, deltas, manifests of versions, attributes, archives.
      var packByteCount: UInt64 = 0
      var deltaByteCount: UInt64 = 0
      /// The size of the whole packs: of each version whose manifest was requested, and of each archive, without aborted downloads.
      var wholeByteCount: UInt64 = 0
      /// Bytes of packs that aborted downloads received.
      var abortedByteCount: UInt64 = 0
      var refusedCount: UInt64 = 0

      var savedByteCount: UInt64 {
        let sent = packByteCount - min(abortedByteCount, packByteCount)
        return wholeByteCount > sent ? wholeByteCount - sent : 0
      }
    }

    struct Snapshot: Sendable {
      var transfers: [Transfer] = []
      /// The downloads of clients that were active within the last seconds, the latest first.
      var downloads: [ClientDownload] = []
      var recent: [RequestNote] = []
      var totals = Totals()
    }

    private struct State {
      var transfers: [UInt64: Transfer] = [:]
      var recent: [RequestNote] = []
      var totals = Totals()
      var next: UInt64 = 0
      /// The current download of each client address.
      var downloads: [String: ClientDownload] = [:]

      /// The totals of all downloads. `totals` contains earlier downloads.
      var currentTotals: Totals {
        downloads.values.reduce(into: totals) { $0.add($1) }
      }

      /// Begins the download of a version, or notes another request of the current download.
      mutating func noteRequest(_ note: RequestNote, at now: ContinuousClock.Instant) {
        guard let subject = note.subject, subject.kind != .root else { return }
        let whole = note.status == 200 && note.method == "GET" ? subject.wholeByteCount : nil
        let current = downloads[note.client]
        // The client continues an aborted download. After a completed download of the version, the request is from another device.
        let continues = current.map { whole == nil || $0.isBroken && $0.version == subject.version } ?? false
        if !continues {
          if let current { totals.add(current) }
          downloads[note.client] = nil
          if downloads.count >= ServerStatus.clientCount { settleAll() }
        }
        var download =
          downloads[note.client] ?? ClientDownload(client: note.client, target: note.target, lastActivity: now)
        download.target = note.target
        if let whole { download.wholeByteCount = whole }
        if download.version == nil { download.version = subject.version }
        download.isBroken = false
        download.lastActivity = now
        download.runningCount += 1
        downloads[note.client] = download
      }

      private mutating func settleAll() {
        for download in downloads.values { totals.add(download) }
        downloads.removeAll()
      }
    }

    private static let recentCount = 12
    fileprivate static let clientCount = 1024
    private let state = Mutex(State())
    private let notes = Mutex<[UInt64: RequestNote]>([:])

    func begin(
      _ note: RequestNote, of byteCount: UInt64?, at now: ContinuousClock.Instant = .now
    ) -> UInt64 {
      var note = note
      let id = state.withLock { state in
        state.next += 1
        state.totals.requestCount += 1
        if note.status >= 400 { state.totals.refusedCount += 1 }
        state.noteRequest(note, at: now)
        // Segments do not identify their version.
        let version = note.subject.flatMap { $0.version ?? state.downloads[note.client]?.version }
        note.version = version
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
        if let sum = state.downloads[transfer.client]?.sentByteCount {
          state.downloads[transfer.client]?.sentByteCount = sum.addingClamped(byteCount)
        }
        if kind == .delta { state.totals.deltaByteCount = state.totals.deltaByteCount.addingClamped(byteCount) }
      }
    }

    /// - Returns: the number of bytes of the body that were sent.
    func end(_ id: UInt64, failed: Bool, at now: ContinuousClock.Instant = .now) -> UInt64 {
      let note = notes.withLock { $0.removeValue(forKey: id) }
      return state.withLock { state in
        let transfer = state.transfers.removeValue(forKey: id), sent = transfer?.sentByteCount ?? 0
        if let transfer, let kind = transfer.kind, kind != .root, var download = state.downloads[transfer.client] {
          download.runningCount = max(download.runningCount - 1, 0)
          download.isBroken = download.isBroken || failed
          download.lastActivity = now
          state.downloads[transfer.client] = download
        }
        if var note, note.subject != nil {
          note.byteCount = sent
          state.recent.insert(note, at: 0)
          if state.recent.count > Self.recentCount { state.recent.removeLast() }
        }
        return sent
      }
    }

    func snapshot(at now: ContinuousClock.Instant = .now) -> Snapshot {
      state.withLock { state in
        Snapshot(
          transfers: state.transfers.sorted { $0.key < $1.key }.map(\.value),
          downloads: state.downloads.values.filter { $0.isShown(at: now) }.sorted { $0.lastActivity > $1.lastActivity },
          recent: state.recent, totals: state.currentTotals)
      }
    }
  }

  extension ServerStatus.Totals {
    /// Adds a download. An aborted download saves nothing.
    fileprivate mutating func add(_ download: ClientDownload) {
      if download.isBroken {
        abortedByteCount = abortedByteCount.addingClamped(download.sentByteCount)
      } else {
        wholeByteCount = wholeByteCount.addingClamped(download.wholeByteCount ?? 0)
      }
    }
  }
#endif
