package import PackStore

/// The one object that publishers change by compare-and-set: the committed image, the objects that are needed, and the objects
/// being deleted. `Docs/ObjectStorage.md` describes its format and the protocol; `Tests/Models/bucket.pml` is a model of it.
///
/// Invariants:
/// - Every object in the bucket is listed in the committed image, in a claim, as loose, or as being deleted.
/// - An object in the committed image or in a claim is neither loose nor being deleted.
/// - One job at most is ready, and it began with the committed image.
///
/// Each change is one function, which can be repeated on a later ledger: a change that was already made has no effect.
package struct Ledger: Hashable, Sendable {
  /// Times are seconds since 1970, by the storage's clock.
  package typealias Time = Int64

  package struct Committed: Hashable, Sendable {
    package var image: Digest256
    package var byteCount: UInt64

    /// The time of the commit.
    package var time: Time

    /// Written by the commit, and omitted by a claim, because the ledger is written for each step of a job.
    package var copy: ImageCopy?
  }

  /// An image that a job is about to commit.
  package struct Proposal: Hashable, Sendable {
    package var image: Digest256
    package var byteCount: UInt64
  }

  package struct Job: Hashable, Sendable {
    package var leaseEnd: Time

    /// The image that it began with; `nil`: none existed.
    package var base: Digest256?
    package var proposal: Proposal
    package var claims: Set<ObjectKey>

    /// The intended roots; `nil`: the job is not ready yet.
    package var intents: [SiteChannel: Intent]?

    package var isReady: Bool { intents != nil }

    /// Whether both are the same job in the same phase. Leases may differ.
    package func isSame(as other: Self) -> Bool {
      base == other.base && proposal == other.proposal && claims == other.claims && intents == other.intents
    }
  }

  package struct Intent: Hashable, Sendable {
    package var root: Digest256
    package var byteCount: UInt64

    /// The tag of the previous root; `nil`: none existed.
    package var tag: ObjectTag?
  }

  package struct Deletion: Hashable, Sendable {
    package var job: ID128

    /// When the last request of the job can arrive.
    package var closes: Time
  }

  package var revision: UInt64 = 0
  package var nonce = ID128(copying: [UInt8](repeating: 0, count: ID128.byteCount))
  package var committed: Committed?
  package var finished: [ID128] = []

  /// Unneeded objects that may exist, and the times from which they may be deleted.
  package var loose: [ObjectKey: Time] = [:]
  package var deletions: [ObjectKey: Deletion] = [:]
  package var jobs: [ID128: Job] = [:]

  package static let finishedLimit = 64
  package static let jobLimit = 64

  /// The maximum number of objects that one job deletes.
  package static let deletionLimit = 10_000

  package init() {}

  package var readyJob: ID128? { jobs.first { $0.value.isReady }?.key }

  private func isClaimed(_ key: ObjectKey, except job: ID128? = nil) -> Bool {
    jobs.contains { $0.key != job && $0.value.claims.contains(key) }
  }

  // MARK: - Claims

  /// The reason why a job cannot begin.
  package enum Refusal: Error, Hashable {
    /// Another image was committed, or is about to be.
    case otherImage

    /// A needed object is being deleted; a request to delete it may arrive until then.
    case beingDeleted(ObjectKey, until: Time)

    /// Its lease ended, and its claims were freed.
    case freed
    case tooManyJobs
  }

  /// Adds a job with claims on all objects it needs.
  ///
  /// - Parameter limit: bytes of the ledger with the claims.
  /// - Throws: ``Refusal``; `invalidArgument` if the ledger has no room for the claims.
  package mutating func claim(
    _ id: ID128, _ job: Job, now: Time, limit: Int = Self.claimByteCountLimit
  ) throws {
    guard jobs[id] == nil else { return }
    guard committed?.image == job.base, readyJob == nil else { throw Refusal.otherImage }
    guard jobs.count < Self.jobLimit else { throw Refusal.tooManyJobs }
    for key in job.claims {
      guard let deletion = deletions[key] else { continue }
      guard deletion.closes < now else { throw Refusal.beingDeleted(key, until: deletion.closes) }
    }
    for key in job.claims {
      loose[key] = nil
      deletions[key] = nil
    }
    jobs[id] = job
    committed?.copy = nil
    try requireRoom(limit: limit)
  }

  /// - Throws: ``Refusal``.
  package mutating func renew(_ id: ID128, until end: Time) throws {
    guard let job = jobs[id] else { throw Refusal.freed }
    jobs[id]?.leaseEnd = max(end, job.leaseEnd)
  }

  /// Makes a job ready, after all claimed objects exist: from now on it will be completed.
  ///
  /// - Parameters:
  ///   - claimed: the job as its publisher claimed it; `nil`: not compared. A job that was changed since cannot become ready,
  ///     because its files may have been deleted.
  ///   - dropped: the objects of the committed image that the job's image does not need.
  ///   - limit: bytes of the ledger with the dropped objects.
  /// - Returns: false if the job was already ready, and has been completed since.
  /// - Throws: ``Refusal``; `invalidArgument` if the ledger has no room for the dropped objects.
  package mutating func makeReady(
    _ id: ID128, _ intents: [SiteChannel: Intent], claimed: Job? = nil, dropped: Set<ObjectKey> = [],
    limit: Int = Self.claimByteCountLimit
  ) throws -> Bool {
    guard !finished.contains(id) else { return false }
    guard let job = jobs[id] else { throw Refusal.freed }
    if let claimed {
      var expected = claimed
      if job.isReady { expected.intents = intents }
      guard job.isSame(as: expected) else { throw Refusal.freed }
    }
    guard !job.isReady else { return true }
    guard committed?.image == job.base, readyJob == nil else { throw Refusal.otherImage }
    jobs[id]?.intents = intents
    try requireRoom(for: dropped, limit: limit)
    return true
  }

  /// Commits the image of a job whose roots are written.
  ///
  /// - Parameters:
  ///   - dropped: the objects of the previous image that this one does not need.
  ///   - copy: a copy of the image; `nil`: none is kept.
  package mutating func finish(
    _ id: ID128, dropped: Set<ObjectKey>, copy: ImageCopy?, now: Time, times: ProtocolTimes
  ) {
    guard let job = jobs[id], job.isReady else { return }
    jobs[id] = nil
    for key in dropped where !isClaimed(key) { loose[key] = now + times.requestLife }
    committed = Committed(image: job.proposal.image, byteCount: job.proposal.byteCount, time: now, copy: copy)
    finished = finished.suffix(Self.finishedLimit - 1) + [id]
  }

  /// Withdraws a job that never became ready, when none of its requests can arrive any more; or by its own publisher, when all of
  /// its requests were answered.
  ///
  /// - Parameter needed: the objects that the committed image needs.
  package mutating func free(_ id: ID128, needed: Set<ObjectKey>, from time: Time) {
    guard let job = jobs[id], !job.isReady else { return }
    jobs[id] = nil
    for key in job.claims where !needed.contains(key) && !isClaimed(key) {
      loose[key] = max(time, loose[key] ?? time)
    }
  }

  /// Removes a ready job that no publisher can have made ready: it is never completed.
  ///
  /// - Parameter needed: the objects that the committed image needs.
  package mutating func discard(_ id: ID128, needed: Set<ObjectKey>, from time: Time) {
    jobs[id]?.intents = nil
    free(id, needed: needed, from: time)
  }

  /// Jobs whose lease is over.
  package func lapsedJobs(now: Time) -> [ID128] {
    jobs.filter { !$0.value.isReady && $0.value.leaseEnd < now }.map(\.key)
  }

  // MARK: - Deletions

  /// Returns the objects that this job deletes now.
  package func deletions(by job: ID128) -> [ObjectKey: Deletion] { deletions.filter { $0.value.job == job } }

  /// The objects that a job may delete now: loose objects, and objects that another job did not finish deleting.
  package func dueDeletions(now: Time) -> [ObjectKey] {
    loose.filter { $0.value < now }.map(\.key) + deletions.filter { $0.value.closes < now }.map(\.key)
  }

  /// When objects that may not be deleted yet become due, and how many are due at that time; `nil` if all are due. The count is of the
  /// objects that are due when the last of them is: publishers drop objects in batches, and one object would not make room.
  package func nextDeletion(after now: Time) -> (time: Time, count: Int)? {
    let times = loose.values.filter { $0 >= now } + deletions.values.map(\.closes).filter { $0 >= now }
    return times.max().map { ($0, times.count) }
  }

  /// Assigns ``dueDeletions(now:)`` to a job, ``deletionLimit`` at most.
  ///
  /// - Parameter needed: the objects that the committed image needs. The ledger is not signed and the image is: these objects are never
  ///   deleted, and are removed from the ledger's lists.
  /// - Returns: whether there is anything.
  package mutating func beginDeletions(
    by job: ID128, now: Time, times: ProtocolTimes, needed: Set<ObjectKey> = []
  ) -> Bool {
    for key in needed {
      loose[key] = nil
      deletions[key] = nil
    }
    let deletion = Deletion(job: job, closes: now + times.deletion)
    for key in dueDeletions(now: now).prefix(Self.deletionLimit) {
      loose[key] = nil
      deletions[key] = deletion
    }
    return !deletions(by: job).isEmpty
  }

  /// Forgets objects that were deleted permanently.
  package mutating func endDeletions(by job: ID128, _ gone: Set<ObjectKey>) {
    for key in gone where deletions[key]?.job == job { deletions[key] = nil }
  }
}
