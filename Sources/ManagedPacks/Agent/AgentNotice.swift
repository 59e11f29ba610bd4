/// What an agent tells people: a line of its log.
package struct AgentNotice: Sendable {
  package enum Kind: String, CaseIterable, Sendable {
    /// It works for the group.
    case started
    /// It does not any more.
    case stopped
    /// An app whose requests it meets.
    case app
    /// It applied the policies of an event.
    case event
    /// What an extension did.
    case `extension`
    /// A download began, or goes on.
    case began
    case paused
    case finished
    case failed
    /// An app fetches a pack itself from now on.
    case handedOver = "handed_over"
    /// An app that was installed or updated can start: its essential packs have come, have failed, or are not waited for.
    case launchable
    /// Another base for the group begins to count, or has ended.
    case override
    /// What kept it from its work. It goes on.
    case problem
  }

  package var kind: Kind
  package var app: String?
  package var pack: String?
  package var version: Int?
  /// A few English words.
  package var text: String
  /// With `failed`.
  package var cause: (any Error)?

  package init(_ kind: Kind, app: String? = nil, pack: AssetPack? = nil, _ text: String) {
    self.kind = kind
    self.app = app
    self.pack = pack?.id
    version = pack?.version
    self.text = text
  }
}

extension AgentNotice {
  /// Nil for how far a download is: that is too much for a log.
  init?(_ update: AssetPackManager.DownloadStatusUpdate, app: String) {
    let pack = update.assetPack
    switch update {
    case .began: self.init(.began, app: app, pack: pack, "\(pack) is being fetched")
    case .paused: self.init(.paused, app: app, pack: pack, "\(pack) waits")
    case .downloading: return nil
    case .finished: self.init(.finished, app: app, pack: pack, "\(pack) is here")
    case .failed(_, let error) where error is PackHandedOver:
      self.init(.handedOver, app: app, pack: pack, "\(pack) is fetched by an app")
    case .failed(_, let error):
      self.init(.failed, app: app, pack: pack, "\(pack) did not come: \(error)")
      cause = error
    }
  }
}

/// What a download ends with that an app has taken over, or that the end of the agent ends: the request stays in the journal.
struct PackHandedOver: Error {}
