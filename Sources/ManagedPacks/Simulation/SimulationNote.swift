/// An event of a simulation.
package struct SimulationNote: Hashable, Sendable {
  package enum Kind: String, CaseIterable, Sendable {
    /// A request to a site.
    case asked
    /// The decision whether an event downloads a pack, with its reason.
    case decided
    /// The answer of an extension, or its failure.
    case `extension`
    case began
    case paused
    case finished
    case failed
    case launchable
    case override
    /// An app of the group.
    case app
    /// The packs that the agent requests for an event.
    case event
    /// The event could not be handled, and will be detected again.
    case notHandled = "not_handled"
    case problem
    /// A requested pack that was not downloaded.
    case left
  }

  package var kind: Kind
  /// The simulated time since the beginning.
  package var time = Duration.zero
  package var app: String?
  package var pack: String?
  package var version: Int?
  /// The name of a download of the app's own.
  package var download: String?
  /// With `decided`, a ``PolicyReason``; with `left`, a ``PlayObstacle``.
  package var reason: String?
  /// The bytes received for a downloaded pack or a response.
  package var byteCount: Int?
  /// With `asked`.
  package var exchange: ShapedNetwork.Exchange?
  package var text: String

  package init(_ kind: Kind, _ text: String) {
    self.kind = kind
    self.text = text
  }

  /// Returns the note with the path of the group in place of the path of its copy.
  func naming(_ group: String, insteadOf copy: String) -> Self {
    guard group != copy else { return self }
    var note = self
    note.text = text.replacing(copy, with: group)
    return note
  }
}

/// The reason why a requested pack was not downloaded.
package enum PlayObstacle: String, CaseIterable, Sendable {
  /// The network is metered, and no caller waits for the pack.
  case metered
  /// Sites cannot be reached, or send invalid responses.
  case network
  /// The disk is full.
  case space
  /// The user paused the download.
  case paused
  /// Another reason, given in the note of the failure.
  case failed

  init(_ error: any Error) {
    switch error {
    case let error as DeliveryError where DownloadRules.isTemporary(error): self = .network
    case let error as ManagedPacksError where error.code == .lowSpace: self = .space
    case let error as PackStoreError where error.code == .noSpace: self = .space
    case let error as BAError where error.code == .downloadFailedToStart: self = .space
    default: self = .failed
    }
  }
}

/// The result of a simulation.
package struct SimulationSummary: Hashable, Sendable {
  /// The simulated duration.
  package var duration = Duration.zero
  /// The time at which the last app of the event could start; `nil` if no app was installed or updated.
  package var launchableAfter: Duration?
  package var requestCount = 0
  /// The bytes received over the network.
  package var byteCount = 0
  /// The installed packs, and the finished downloads of apps' own.
  package var finished: [String] = []
  /// Whether apps downloaded files of their own.
  package var hasDownloads = false
  /// The requested packs that were not downloaded, and the reasons.
  package var left: [String: PlayObstacle] = [:]
  /// Whether the event was handled.
  package var isHandled = true

  /// Whether the event was handled and all requested packs were downloaded.
  package var isComplete: Bool { isHandled && left.isEmpty }
}
