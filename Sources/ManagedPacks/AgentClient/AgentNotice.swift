/// A message of an agent to the user: a line of its log.
package struct AgentNotice: Sendable {
  package enum Kind: String, CaseIterable, Sendable {
    /// The agent works for the group.
    case started
    /// The agent has stopped.
    case stopped
    /// The agent serves an app.
    case app
    /// The agent applied the policies for an event.
    case event
    /// The answer or failure of an extension.
    case `extension`
    /// A download started or continues.
    case began
    case paused
    case finished
    case failed
    /// An app downloads a pack itself from now on.
    case handedOver = "handed_over"
    /// An app that was installed or updated can start: its essential packs were downloaded, have failed, or are not waited for.
    case launchable
    /// One root key signs two sites for the same product that are not copies of each other.
    case sharedKey = "shared_key"
    /// An override of the group's base became active or has ended.
    case override
    /// An error. The agent continues.
    case problem
  }

  package var kind: Kind
  package var app: String?
  package var pack: String?
  package var version: Int?
  /// The name of a download of the app's own.
  package var download: String?
  /// A description in a few English words.
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
  /// Creates the notice of an update; `nil` for progress, which is too frequent for a log.
  init?(_ update: AssetPackManager.DownloadStatusUpdate, app: String) {
    let pack = update.assetPack
    switch update {
    case .began: self.init(.began, app: app, pack: pack, "downloading \(pack)")
    case .paused: self.init(.paused, app: app, pack: pack, "\(pack) is paused")
    case .downloading: return nil
    case .finished: self.init(.finished, app: app, pack: pack, "\(pack) is installed")
    case .failed(_, let error) where error is PackHandedOver:
      self.init(.handedOver, app: app, pack: pack, "an app downloads \(pack)")
    case .failed(_, let error):
      self.init(.failed, app: app, pack: pack, "\(pack) failed: \(error)")
      cause = error
    }
  }
}

/// The error of a download that an app has taken over, or that was stopped with the agent: its request stays in the journal.
struct PackHandedOver: Error {}
