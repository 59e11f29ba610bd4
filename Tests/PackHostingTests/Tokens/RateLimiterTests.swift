#if Hosting
  import Testing

  @testable import PackHosting

  @Suite struct RateLimiterTests {
    private let begin = Timestamp(rawValue: 1_795_000_000_000)

    @Test func fieldHasBothNumbersAndASemicolon() {
      let verdict = RateLimiter().admit("key", at: begin)
      #expect(verdict.field == "user-hour-lim:3500;user-hour-rem:3499;")
    }

    @Test func limitHoldsForEachKeyInARollingHour() {
      let limiter = RateLimiter(requestsPerHour: 3)
      for _ in 0..<2 { #expect(limiter.admit("a", at: begin).isAdmitted) }
      #expect(limiter.admit("a", at: begin.adding(seconds: 1800)).remaining == 0)
      let refused = limiter.admit("a", at: begin.adding(seconds: 3500))
      #expect(!refused.isAdmitted && refused.field == "user-hour-lim:3;user-hour-rem:0;")
      #expect((1...3660).contains(refused.retrySeconds))
      #expect(limiter.admit("b", at: begin).isAdmitted, "another key")
      let later = begin.adding(seconds: 3500 + refused.retrySeconds)
      #expect(limiter.admit("a", at: later).remaining == 1, "the request in the middle still counts")
    }

    @Test func clockThatGoesBackIsTolerated() {
      let limiter = RateLimiter(requestsPerHour: 2)
      #expect(limiter.admit("a", at: begin).isAdmitted)
      #expect(limiter.admit("a", at: begin.adding(seconds: -86_400)).isAdmitted)
      #expect(!limiter.admit("a", at: Timestamp(rawValue: .min)).isAdmitted)
    }
  }
#endif
