/// One thing that is timed, in batches.
struct Call {
  /// As the page names it.
  let name: String

  /// The question that the call answers: calls with the same question are compared.
  let question: String

  /// The maximum duration, in seconds.
  var limit: Double?

  /// How often it is made in a batch: as a batch takes milliseconds, the clock's steps do not count.
  let batchCount: Int

  let body: () async throws -> Void

  /// Seconds of one call, in the mean of a batch.
  func measure() async throws -> Double {
    let clock = ContinuousClock()
    let begin = clock.now
    for _ in 0..<batchCount { try await body() }
    return (clock.now - begin) / .seconds(1) / Double(batchCount)
  }
}

/// A call returned another answer than the scene was prepared for.
struct WrongAnswer: Error, CustomStringConvertible {
  let description: String
}

func expect(_ isRight: Bool, _ call: String) throws {
  guard isRight else { throw WrongAnswer(description: "wrong answer: \(call)") }
}
