import Synchronization

/// Collects the events of a simulation from the agent, its managers and the network.
final class SimulationCourse: Sendable {
  private struct State {
    var summary = SimulationSummary()
    var obstacles: [String: PlayObstacle] = [:]
    var begins: [String: Duration] = [:]
    /// The names of failed downloads of apps' own, which the agent does not request again.
    var failedDownloads: Set<String> = []
    /// The time at which an installation or an update was handled.
    var handledAfter: Duration?
  }

  let clock: SimulatedClock
  private let state = Mutex(State())
  private let hear: @Sendable (SimulationNote) -> Void

  init(clock: SimulatedClock, tell: @escaping @Sendable (SimulationNote) -> Void) {
    self.clock = clock
    hear = tell
  }

  func tell(_ note: SimulationNote) {
    if note.kind == .notHandled { state.withLock { $0.summary.isHandled = false } }
    var note = note
    note.time = clock.now
    hear(note)
  }

  // MARK: - Events of the parts

  func note(_ exchange: ShapedNetwork.Exchange) {
    state.withLock { state in
      state.summary.requestCount += 1
      state.summary.byteCount = state.summary.byteCount.addingClamped(exchange.byteCount)
    }
    let answer = exchange.fault ?? exchange.status.map { "\($0), \(formatBytes(exchange.byteCount))" } ?? "abandoned"
    let late = exchange.stallCount == 1 ? "1 segment" : "\(exchange.stallCount) segments"
    let stalls = exchange.stallCount > 0 ? ", \(late) delayed" : ""
    var note = SimulationNote(.asked, "\(exchange.target)\(exchange.range.map { " \($0)" } ?? ""): \(answer)\(stalls)")
    note.byteCount = exchange.byteCount
    note.exchange = exchange
    tell(note)
  }

  func explain(_ event: BAContentRequest, _ decisions: [PolicyDecision]) {
    if event == .install || event == .update { state.withLock { $0.handledAfter = clock.now } }
    for decision in decisions {
      let pack = decision.pack
      var note = SimulationNote(.decided, "\(pack) (\(pack.policyText)): \(decision.reason.text(event))")
      note.pack = pack.id
      note.version = pack.version
      note.reason = decision.reason.rawValue
      tell(note)
    }
  }

  /// Records the time at which an event was handled, unless its decisions were reported.
  func noteHandled(_ event: BAContentRequest) {
    guard event == .install || event == .update else { return }
    state.withLock { $0.handledAfter = $0.handledAfter ?? clock.now }
  }

  func note(_ notice: AgentNotice) {
    guard var note = SimulationNote(notice) else { return }
    if let pack = notice.pack ?? notice.download {
      let now = clock.now
      state.withLock { state in
        if notice.download != nil { state.summary.hasDownloads = true }
        switch notice.kind {
        case .began: state.begins[pack] = state.begins[pack] ?? now
        case .finished:
          state.summary.finished.append(pack)
          state.obstacles[pack] = nil
          state.failedDownloads.remove(pack)
          let time = now - (state.begins[pack] ?? now)
          note.text += " after \(formatSeconds(time))"
        case .failed:
          state.obstacles[pack] = notice.cause.map { PlayObstacle($0) } ?? .failed
          if notice.download != nil { state.failedDownloads.insert(pack) }
        case .paused: state.obstacles[pack] = state.obstacles[pack] ?? .paused
        default: break
        }
      }
    }
    if notice.kind == .launchable { state.withLock { $0.summary.launchableAfter = clock.now } }
    tell(note)
  }

  // MARK: - The end

  /// - Parameter held: the requested packs that were not downloaded.
  func summary(_ agent: GroupAgent.Summary, held: Set<String>, isMetered: Bool) -> SimulationSummary {
    let summary = state.withLock { state in
      state.summary.duration = clock.now
      // If no essential pack must be downloaded, an app can start as soon as the event is handled.
      state.summary.launchableAfter = state.summary.launchableAfter ?? state.handledAfter
      state.summary.finished.sort()
      for pack in held.union(agent.failures.keys).union(state.failedDownloads) {
        state.summary.left[pack] = state.obstacles[pack] ?? (isMetered ? .metered : .failed)
      }
      return state.summary
    }
    for (pack, obstacle) in summary.left.sorted(by: { $0.key < $1.key }) {
      var note = SimulationNote(.left, "\(pack) is deferred: \(obstacle.text)")
      note.pack = pack
      note.reason = obstacle.rawValue
      tell(note)
    }
    return summary
  }
}

extension SimulationNote {
  /// Creates the note of an agent's notice; `nil` if it is irrelevant in a simulation.
  fileprivate init?(_ notice: AgentNotice) {
    let kind: Kind
    switch notice.kind {
    case .started, .stopped, .handedOver: return nil
    case .app: kind = .app
    case .event: kind = .event
    case .extension: kind = .extension
    case .began: kind = .began
    case .paused: kind = .paused
    case .finished: kind = .finished
    case .failed: kind = .failed
    case .launchable: kind = .launchable
    case .override: kind = .override
    case .sharedKey, .problem: kind = .problem
    }
    self.init(kind, notice.text)
    app = notice.app
    pack = notice.pack
    download = notice.download
    version = notice.version
  }
}

extension PolicyReason {
  func text(_ event: BAContentRequest) -> String {
    switch self {
    case .event: "is downloaded for \(event.word)"
    case .update: "is downloaded, because it is newer than the installed version"
    case .here: "is installed already"
    case .language: "is not downloaded: its language is not selected"
    case .onDemand: "is not downloaded: its policy is on demand"
    case .otherEvent: "is not downloaded: its policy does not list \(event.word)"
    case .seen: "is not downloaded: an earlier event requested it"
    case .filter: "is not downloaded: the app's extension refused it"
    }
  }
}

extension PlayObstacle {
  var text: String {
    switch self {
    case .metered: "the network is metered"
    case .network: "the network or the site failed"
    case .space: "the disk has too little space"
    case .paused: "the download is paused"
    case .failed: "the download failed"
    }
  }
}

extension AssetPack {
  fileprivate var policyText: String {
    switch downloadPolicy {
    case .essential: "essential"
    case .prefetch: "prefetch"
    case .onDemand: "on demand"
    }
  }
}

/// For example `0.35 s`.
private func formatSeconds(_ duration: Duration) -> String {
  "\(String(format: "%.2f", min(max(duration / .seconds(1), 0), 1e9))) s"
}
