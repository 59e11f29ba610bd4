#if Delivery
  import PackDelivery
  import Testing

  @testable import PackPublishing

  /// A storage that sends a byte now and then does not keep a publisher for ever.
  @Suite struct ReceivingRateTests {
    @Test func tricklesEnd() throws {
      var rate = ReceivingRate()
      for _ in 0..<5 { try rate.receive(1, after: .seconds(10), at: "a") }
      do {
        try rate.receive(1, after: .seconds(10), at: "a")
        Issue.record("a trickle was accepted")
      } catch let error as DeliveryError {
        #expect(error.code == .unreachable && error.reason.hasPrefix("received less than 1.0 kB a second"))
      }
    }

    @Test func slowAnswersAreReceived() throws {
      var rate = ReceivingRate()
      for _ in 0..<1000 { try rate.receive(1024, after: .seconds(1), at: "a") }
      // A fast beginning does not pay for a slow end.
      for _ in 0..<1000 { try rate.receive(1 << 20, after: .milliseconds(1), at: "a") }
      try rate.receive(.max, after: .seconds(59), at: "a")
      #expect(throws: DeliveryError.self) { for _ in 0..<7 { try rate.receive(1, after: .seconds(10), at: "a") } }
    }

    /// A storage that takes an upload byte by byte, or sends the head of its answer so, is given up.
    @Test func requestsHaveADeadline() {
      func limit(_ byteCount: UInt64) -> Duration {
        ReceivingRate.answerLimit(afterSending: byteCount, idleLimit: .seconds(60))
      }
      #expect(limit(0) == .seconds(120))
      #expect(limit(64 << 20) == .seconds(120 + 65_536))
      #expect(limit(.max) > .seconds(1 << 53))
    }

    @Test func ownTimeDoesNotCount() throws {
      var rate = ReceivingRate()
      for wait in [Duration.zero, .seconds(-5)] { for _ in 0..<100 { try rate.receive(1, after: wait, at: "a") } }
    }
  }
#endif
