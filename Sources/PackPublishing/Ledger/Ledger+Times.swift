package import PackStore

/// Bounds of the times in a ledger: anyone with write access to the private prefix can write any time there, and a time far ahead
/// would keep publishers out, or keep files, for as long.
extension Ledger {
  /// Jobs that are not ready and whose claims are to be freed: those whose lease is over, and those with a lease that no publisher can
  /// have taken.
  package func deadJobs(now: Time, times: ProtocolTimes) -> [ID128] {
    lapsedJobs(now: now)
      + jobs.filter { !$0.value.isReady && $0.value.leaseEnd > now + times.lease + times.skew }.map(\.key)
  }

  /// Frees ``deadJobs(now:times:)``.
  ///
  /// - Parameter needed: the objects that the committed image needs.
  package mutating func freeDeadJobs(needed: Set<ObjectKey>, now: Time, times: ProtocolTimes) {
    for id in deadJobs(now: now, times: times) {
      // The true lease of a job with an impossible one is unknown: requests of it may still arrive.
      let isLapsed = jobs[id].map { $0.leaseEnd < now } ?? true
      free(id, needed: needed, from: isLapsed ? 0 : now + times.lease)
    }
  }

  /// Lowers times that are further ahead than any publisher writes them.
  package mutating func capTimes(now: Time, times: ProtocolTimes) {
    if let time = committed?.time, time > now + times.skew { committed?.time = now }
    for (key, time) in loose where time > now + times.lease + times.skew { loose[key] = now + times.lease }
    for (key, deletion) in deletions where deletion.closes > now + times.deletion + times.skew {
      deletions[key]?.closes = now + times.deletion
    }
  }

  /// Whether ``capTimes(now:times:)`` or ``freeDeadJobs(needed:now:times:)`` changes anything.
  package func needsRepair(now: Time, times: ProtocolTimes) -> Bool {
    var capped = self
    capped.capTimes(now: now, times: times)
    return capped != self || !deadJobs(now: now, times: times).isEmpty
  }
}
