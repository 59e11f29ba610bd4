#if Delivery
  import PackDelivery
  import PackStore

  /// Ends answers that arrive too slowly: a storage or network that sends single bytes is never idle.
  ///
  /// Only time in which the receiver waits for bytes counts.
  struct ReceivingRate {
    static let minimumByteRate = 1024
    static let window = Duration.seconds(60)

    /// Returns the time limit for the head of a request's answer: the body may be sent at ``minimumByteRate``.
    ///
    /// - Parameters:
    ///   - byteCount: the length of the request's body.
    ///   - idleLimit: how long the storage may take to begin, and to answer.
    static func answerLimit(afterSending byteCount: UInt64, idleLimit: Duration) -> Duration {
      idleLimit * 2 + .seconds(Int64(clamping: byteCount / UInt64(minimumByteRate)))
    }

    private var byteCount = 0
    private var waited = Duration.zero

    /// Counts bytes received after a wait.
    ///
    /// - Throws: `unreachable` if fewer than ``minimumByteRate`` bytes a second came over a ``window``.
    mutating func receive(_ count: Int, after wait: Duration, at place: String) throws {
      byteCount = byteCount.addingClamped(count)
      waited += max(wait, .zero)
      guard waited >= Self.window else { return }
      guard Double(byteCount) >= Double(Self.minimumByteRate) * (waited / .seconds(1)) else {
        let rate = formatBytes(Self.minimumByteRate)
        throw DeliveryError(.unreachable, "received less than \(rate) a second from the storage", at: place)
      }
      byteCount = 0
      waited = .zero
    }
  }
#endif
