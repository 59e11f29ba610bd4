import PackDelivery
package import PackStore

/// The ledger where it is stored. It changes by compare-and-set alone.
struct LedgerFile: Sendable {
  let storage: any ObjectStorage
  let retry: RetryPolicy
  let clock: TransferClock

  private var place: String { "the ledger of \(storage.location)" }

  /// The ledger as it is, and its tag; nil: there is none yet.
  func read() async throws -> (ledger: Ledger, tag: ObjectTag?) {
    guard let object = try await storage.read(.ledger, limit: Ledger.byteCountLimit) else { return (Ledger(), nil) }
    return (try Ledger(decoding: object.bytes, file: place), object.tag)
  }

  /// Makes a change, again where another publisher was faster or no answer came.
  ///
  /// - Parameters:
  ///   - latest: no later than this; nil: whenever.
  ///   - body: what to change, by the storage's clock; what it throws ends this. It can be called several times.
  /// - Returns: the ledger as it is then.
  @discardableResult
  func change(
    latest: Int64? = nil, _ body: (inout Ledger, _ now: Ledger.Time) throws -> Void
  ) async throws -> Ledger {
    var tries = Retry(retry, clock)
    while true {
      let (before, tag) = try await read()
      var next = before
      try body(&next, try await storage.now())
      guard next != before else { return before }
      next.revision = before.revision + 1
      next.nonce = .random()
      let outcome: WriteOutcome
      do {
        outcome = try await storage.write(
          .bytes(try next.encode()), to: .ledger, tag.map(WriteCondition.matching) ?? .absent, latest: latest)
      } catch let error as DeliveryError where error.code == .unreachable {
        // It may have been written. If that cannot be found out, the error is this one.
        guard try await read().ledger.nonce == next.nonce else { throw error }
        return next
      }
      if case .written = outcome { return next }
      try await clock.sleep(
        try tries.delay(
          after: DeliveryError(.siteChanged, "other publishers change the ledger all the time", at: place)))
    }
  }
}

extension ID128 {
  package static func random() -> ID128 {
    ID128(copying: (0..<byteCount).map { _ in UInt8.random(in: 0 ... .max) })
  }
}
