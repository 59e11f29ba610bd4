import PackDelivery
package import PackStore
import Synchronization

/// The stored ledger. It changes only by compare-and-set.
///
/// The last read or written ledger is remembered: a change is tried on it first, which saves a request if no other publisher was
/// active. Other decisions use it only after the ledger was read again.
struct LedgerFile: Sendable {
  let storage: any ObjectStorage
  let retry: RetryPolicy
  let clock: TransferClock

  /// Whether a ledger of the previous draft is read, for a conversion. It is written in the current one.
  let readsPreviousDraft: Bool
  private let memory = LedgerMemory()

  init(storage: any ObjectStorage, retry: RetryPolicy, clock: TransferClock, readsPreviousDraft: Bool = false) {
    self.readsPreviousDraft = readsPreviousDraft
    self.storage = storage
    self.retry = retry
    self.clock = clock
  }

  private var place: String { "the ledger of \(storage.location)" }

  /// Reads the ledger and its tag; the tag is `nil` if no ledger exists.
  ///
  /// - Throws: `corrupt` for a ledger that no publisher can have written.
  func read() async throws -> (ledger: Ledger, tag: ObjectTag?) {
    guard let object = try await readObject() else { return (Ledger(), nil) }
    let ledger = try Ledger(decoding: object.bytes, file: place, readsPreviousDraft: readsPreviousDraft)
    memory.remember(ledger, object.tag)
    return (ledger, object.tag)
  }

  private func readObject() async throws -> StoredObject? {
    do {
      return try await storage.read(.ledger, limit: Ledger.byteCountLimit)
    } catch let failure as DeliveryError where failure.code == .badResponse {
      guard let byteCount = try await storage.examine(.ledger)?.byteCount, byteCount > UInt64(Ledger.byteCountLimit)
      else { throw failure }
      var error = PackStoreError(
        .corrupt,
        "the ledger has \(formatBytes(Int(clamping: byteCount))), and a publisher writes"
          + " \(formatBytes(Ledger.byteCountLimit)) at most", file: "\(storage.location): \(ObjectKey.ledger)")
      error.specificRemedy = "restore an earlier version of the ledger's object; find out who wrote this one"
      throw error
    }
  }

  /// Makes a change, and repeats it if another publisher was faster or no answer came.
  ///
  /// - Parameters:
  ///   - latest: the latest time for the change; `nil`: any time.
  ///   - acceptsMemory: whether the remembered ledger suffices if it needs no change, because nothing depends on it.
  ///   - body: makes the change, with the storage's time; an error ends the call. It can be called several times.
  /// - Returns: the resulting ledger.
  @discardableResult
  func change(
    latest: Int64? = nil, acceptsMemory: Bool = false, _ body: (inout Ledger, _ now: Ledger.Time) throws -> Void
  ) async throws -> Ledger {
    var tries = Retry(retry, clock)
    while true {
      let remembered = memory.take()
      let (before, tag) = if let remembered { remembered } else { try await read() }
      _ = memory.take()
      var next = before
      do {
        try body(&next, try await storage.now())
      } catch  where remembered != nil && error is Ledger.Refusal {
        continue  // it may have changed by now
      }
      guard next != before else {
        guard remembered == nil || acceptsMemory else { continue }
        memory.remember(before, tag)
        return before
      }
      next.revision = before.revision + 1
      next.nonce = .random()
      let outcome: WriteOutcome
      do {
        outcome = try await storage.write(
          .bytes(try next.encode()), to: .ledger, tag.map(WriteCondition.matching) ?? .absent, latest: latest)
      } catch let error as DeliveryError where error.code == .unreachable {
        // It may have been written. If that cannot be determined, this error is thrown.
        guard try await read().ledger.nonce == next.nonce else { throw error }
        return next
      }
      if case .written(let tag) = outcome {
        memory.remember(next, tag)
        return next
      }
      guard remembered == nil else { continue }
      try await clock.sleep(
        try tries.delay(
          after: DeliveryError(.siteChanged, "changed repeatedly by other publishers", at: place)))
    }
  }
}

/// The last read or written ledger, for one use.
private final class LedgerMemory: Sendable {
  private let state = Mutex<(ledger: Ledger, tag: ObjectTag?)?>(nil)

  func remember(_ ledger: Ledger, _ tag: ObjectTag?) { state.withLock { $0 = (ledger, tag) } }

  func take() -> (ledger: Ledger, tag: ObjectTag?)? {
    state.withLock { state in
      defer { state = nil }
      return state
    }
  }
}

extension ID128 {
  package static func random() -> ID128 {
    ID128(copying: (0..<byteCount).map { _ in UInt8.random(in: 0 ... .max) })
  }
}
