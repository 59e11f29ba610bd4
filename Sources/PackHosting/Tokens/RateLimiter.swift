#if Hosting
  import Synchronization

  /// Counts each credential's requests in a rolling hour.
  ///
  /// An hour consists of 60 slots of a minute. A request leaves the count with its slot: after 60 to 61 minutes, never earlier
  /// than after an hour, so the count is never too low.
  final class RateLimiter: Sendable {
    /// The result for one request.
    struct Verdict: Hashable, Sendable {
      let isAdmitted: Bool
      let limit: Int
      let remaining: Int

      /// Seconds until a request is admitted again; 0 if this one was admitted.
      let retrySeconds: Int64

      /// The value of `X-Rate-Limit`.
      var field: String { "user-hour-lim:\(limit);user-hour-rem:\(remaining);" }
    }

    private struct Slot {
      let minute: Int64
      var count: Int
    }

    private struct State {
      /// Slots in rising order, by credential.
      var slots: [String: [Slot]] = [:]
      var lastSweep: Int64 = 0
    }

    private static let slotCount: Int64 = 61

    let limit: Int
    private let state = Mutex(State())

    init(requestsPerHour: Int = Assumptions.requestsPerHour) { limit = requestsPerHour }

    /// Counts a request. A refused request does not count.
    ///
    /// - Parameter credential: the id of an existing key or token; clients cannot invent ids, which bounds the memory.
    func admit(_ credential: String, at now: Timestamp) -> Verdict {
      let minute = now.seconds / 60
      return state.withLock { state in
        sweep(&state, minute)
        var slots = (state.slots[credential] ?? []).filter { $0.minute > minute - Self.slotCount }
        let count = slots.reduce(0) { $0 + $1.count }
        guard count < limit else {
          state.slots[credential] = slots
          let end = ((slots.first?.minute ?? minute) + Self.slotCount) * 60
          return Verdict(isAdmitted: false, limit: limit, remaining: 0, retrySeconds: max(1, end - now.seconds))
        }
        if let last = slots.last, last.minute >= minute {
          slots[slots.count - 1].count += 1
        } else {
          slots.append(Slot(minute: minute, count: 1))
        }
        state.slots[credential] = slots
        return Verdict(isAdmitted: true, limit: limit, remaining: limit - count - 1, retrySeconds: 0)
      }
    }

    private func sweep(_ state: inout State, _ minute: Int64) {
      guard minute - state.lastSweep >= 60 || minute < state.lastSweep else { return }
      state.lastSweep = minute
      state.slots = state.slots.filter { ($0.value.last?.minute ?? 0) > minute - Self.slotCount }
    }
  }
#endif
