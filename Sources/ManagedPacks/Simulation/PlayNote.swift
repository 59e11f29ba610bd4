/// What happens in a play.
package struct PlayNote: Hashable, Sendable {
  package enum Kind: String, CaseIterable, Sendable {
    /// Something was asked of a site.
    case asked
    /// Whether an event makes a pack be fetched, and why.
    case decided
    /// What an extension said, or what became of it.
    case `extension`
    case began
    case paused
    case finished
    case failed
    case launchable
    case override
    /// An app of the group.
    case app
    /// What an event makes the agent ask for.
    case event
    /// The event could not be handled, and will be found again.
    case notHandled = "not_handled"
    case problem
    /// A pack that was asked for, and has not come.
    case left
  }

  package var kind: Kind
  /// Since the play began, by its clock.
  package var time = Duration.zero
  package var app: String?
  package var pack: String?
  package var version: Int?
  /// With `decided`, ``PolicyReason``; with `left`, ``PlayObstacle``.
  package var reason: String?
  /// Of a pack that has come, or of an answer: what came over the wire.
  package var byteCount: Int?
  /// With `asked`.
  package var exchange: ShapedNetwork.Exchange?
  package var text: String

  package init(_ kind: Kind, _ text: String) {
    self.kind = kind
    self.text = text
  }
}

/// Why a pack that was asked for has not come.
package enum PlayObstacle: String, CaseIterable, Sendable {
  /// The network costs money, and no one waits for the pack.
  case metered
  /// Sites cannot be reached, or do not answer as they should.
  case network
  /// The disk is full.
  case space
  /// A person holds it up.
  case paused
  /// Something else, which the note of the failure says.
  case failed

  init(_ error: any Error) {
    switch error {
    case let error as DeliveryError where DownloadRules.isTemporary(error): self = .network
    case let error as ManagedPacksError where error.code == .lowSpace: self = .space
    case let error as PackStoreError where error.code == .noSpace: self = .space
    default: self = .failed
    }
  }
}

/// What a play came to.
package struct PlaySummary: Hashable, Sendable {
  /// By its clock.
  package var duration = Duration.zero
  /// When the last app of the event could start; nil: none was installed or updated.
  package var launchableAfter: Duration?
  package var requestCount = 0
  /// What came over the wire.
  package var byteCount = 0
  package var finished: [String] = []
  /// By pack, what was asked for and has not come.
  package var left: [String: PlayObstacle] = [:]
  /// The event was handled.
  package var isHandled = true

  /// All came that was to come.
  package var isComplete: Bool { isHandled && left.isEmpty }
}
