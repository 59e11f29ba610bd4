#if Hosting
  /// The states of a pack version. FAILED is final: the next upload needs a new version.
  enum VersionStates: StateMachine {
    enum State: String, CaseIterable, Codable, Sendable {
      case awaitingUpload = "AWAITING_UPLOAD"
      case processing = "PROCESSING"
      case complete = "COMPLETE"
      case failed = "FAILED"
    }

    enum Event: CaseIterable {
      /// The archive was committed.
      case commitAsset
      /// Processing accepted the archive, and the site has the version.
      case accept
      /// Processing refused the archive.
      case reject
      /// The reservation of the archive expired.
      case expire
    }

    static let initial = State.awaitingUpload
    static let transitions: [(from: State, event: Event, to: State)] = [
      (.awaitingUpload, .commitAsset, .processing),
      (.awaitingUpload, .expire, .failed),
      (.processing, .accept, .complete),
      (.processing, .reject, .failed),
    ]
  }
#endif
