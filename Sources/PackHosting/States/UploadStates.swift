#if Hosting
  /// The states of an upload file (`assetDeliveryState`).
  enum UploadStates: StateMachine {
    enum State: String, CaseIterable, Codable, Sendable {
      case awaitingUpload = "AWAITING_UPLOAD"
      case uploadComplete = "UPLOAD_COMPLETE"
      case complete = "COMPLETE"
      case failed = "FAILED"
    }

    enum Event: CaseIterable {
      case commit
      case accept
      case reject
      case expire
    }

    static let initial = State.awaitingUpload
    static let transitions: [(from: State, event: Event, to: State)] = [
      (.awaitingUpload, .commit, .uploadComplete),
      (.awaitingUpload, .expire, .failed),
      (.uploadComplete, .accept, .complete),
      (.uploadComplete, .reject, .failed),
    ]
  }
#endif
