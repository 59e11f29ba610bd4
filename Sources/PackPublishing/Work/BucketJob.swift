import PackDelivery
import PackFormats
import PackStore

/// The steps of the protocol of `Docs/ObjectStorage.md`, from the state that a job finds to the image that it commits.
struct BucketJob: Sendable {
  let storage: any ObjectStorage
  let ledgerFile: LedgerFile
  let times: ProtocolTimes
  let id: ID128
  let parallelCount: Int

  /// Whether the job converts a site: roots and images of the previous draft are then read.
  var isConverting = false

  /// The delegation of the publishing key revokes serials below this one.
  var revokedBelow: UInt64 = 0

  /// The most bytes of a ledger after a claim.
  var claimByteCountLimit = Ledger.claimByteCountLimit

  /// Called before each step, with its name; tests stop a job there.
  var checkpoint: @Sendable (String) throws -> Void = { _ in }

  /// Called for each ready job of the ledger that no publisher can have made ready, and that is discarded.
  var discarded: @Sendable () -> Void = {}

  /// The state of a site when a job began.
  struct Base: Sendable {
    var image: SignedSiteImage?

    /// The time of the commit, in seconds since 1970.
    var committed: Ledger.Time

    /// The served roots at that time, for the channels of the image.
    var served: [SiteChannel: ServedRoot] = [:]
  }

  // MARK: - Read

  /// Returns the committed image, after completing ready jobs and freeing dead ones.
  ///
  /// The ledger is not signed: before anything is changed, it is compared with the signed image that it names, and with the served
  /// roots.
  ///
  /// - Parameters:
  ///   - tidies: whether to make changes; false: only read.
  ///   - ledger: the ledger, if it was just read; `nil`: it is read. If it is outdated, the job fails like a slower one.
  ///   - known: returns an image by its digest, if it is available.
  ///   - check: throws if the job may not continue from an image: the committed image, or the image of a ready job.
  /// - Throws: `conflict` if a served root is newer than the ledger; the errors of `check`.
  func begin(
    tidies: Bool, with ledger: Ledger? = nil, known: (Digest256) -> SignedSiteImage? = { _ in nil },
    check: (SignedSiteImage) throws -> Void
  ) async throws -> Base {
    var tries = Retry(ledgerFile.retry, ledgerFile.clock)
    var given = ledger
    var rereads = Rereads()
    while true {
      do {
        try checkpoint("read")
        let ledger = if let given { given } else { try await ledgerFile.read().ledger }
        given = nil
        var base = Base(image: try await committedImage(ledger, known), committed: ledger.committed?.time ?? 0)
        do {
          try base.image.map(check)
        } catch let error as PackStoreError where error.code == .stale {
          guard rereads.next(ledger) else { throw error }
          continue
        }
        base.served = try await servedRoots(Self.channels(of: ledger, base.image))
        let ready = try await readyJob(of: ledger, after: base.image, base.served)
        if let channel = try await newerRoot(among: base.served, than: base.image, ready?.valid?.image) {
          guard rereads.next(ledger) else { throw conflict(channel, base.image) }
          continue
        }
        base.committed = try await committedTime(of: base)
        // If the site has roots and no image, its ledger was lost: nothing is changed.
        let isLost = base.image == nil && ready?.valid == nil && base.served[.live] != nil
        guard tidies, !isLost else { return base }
        if let ready {
          try await finish(ready, base, check)
        } else {
          try await freeDeadJobs(of: ledger, base)
          return base
        }
      } catch is MissingObject {
        // Another publisher has continued since, and deleted objects of the ledger that was read.
        try await ledgerFile.clock.sleep(
          try tries.delay(
            after: DeliveryError(.siteChanged, "an object listed in the ledger does not exist", at: storage.location)))
      }
    }
  }

  /// Completes a ready job, or discards it if no publisher can have made it ready.
  private func finish(_ ready: ReadyJob.Finding, _ base: Base, _ check: (SignedSiteImage) throws -> Void) async throws {
    switch ready {
    case .valid(let job):
      try check(job.image)
      guard try await hasFiles(of: job) else {
        try await discard(job.id, job.record, base.image)
        return discarded()
      }
      try await complete(job, base.image)
    case .invalid(let id, let job):
      try await discard(id, job, base.image)
      discarded()
    }
  }

  private func freeDeadJobs(of ledger: Ledger, _ base: Base) async throws {
    guard ledger.needsRepair(now: try await storage.now(), times: times) else { return }
    // The site lost its ledger, and is not new: nothing is changed.
    if base.image == nil, try await !servedRoots([.live]).isEmpty { return }
    let needed = base.image?.keys ?? [], times = times
    try checkpoint("free")
    try await ledgerFile.change { ledger, now in
      guard ledger.committed?.image == base.image?.digest else { return }
      ledger.capTimes(now: now, times: times)
      // A job whose lease was renewed since then stays.
      ledger.freeDeadJobs(needed: needed, now: now, times: times)
    }
  }

  private func committedImage(
    _ ledger: Ledger, _ known: (Digest256) -> SignedSiteImage?
  ) async throws -> SignedSiteImage? {
    guard let committed = ledger.committed else { return nil }
    return try await known(committed.image).orElse {
      try await image(
        committed.image, byteCount: committed.byteCount,
        in: committed.copy.flatMap { $0.bytes(of: committed.image, byteCount: committed.byteCount) })
    }
  }

  /// - Parameters:
  ///   - byteCount: the size stated in the ledger: no more is read.
  ///   - bytes: the bytes; `nil`: they are fetched.
  func image(_ digest: Digest256, byteCount: UInt64, in bytes: [UInt8]? = nil) async throws -> SignedSiteImage {
    let file = "\(storage.location): \(ObjectKey.blob(digest))"
    guard byteCount <= UInt64(SignedSiteImage.byteCountLimit) else {
      var error = PackStoreError(
        .corrupt,
        "the ledger names an image of \(formatBytes(Int(clamping: byteCount))), and the limit is"
          + " \(formatBytes(SignedSiteImage.byteCountLimit))", file: file)
      error.specificRemedy = "restore an earlier version of the ledger's object; find out who wrote this one"
      throw error
    }
    let bytes = try await bytes.orElse { try await blob(digest, limit: Int(byteCount)) }
    return try SignedSiteImage(decoding: bytes, file: file, readsPreviousDraft: isConverting)
  }

  func blob(_ digest: Digest256, limit: Int) async throws -> [UInt8] {
    guard let object = try await storage.read(.blob(digest), limit: limit) else {
      throw MissingObject(key: .blob(digest))
    }
    guard Digest256(hashing: object.bytes) == digest else {
      throw PackStoreError(
        .corrupt, "the object has other content than its publisher stored",
        file: "\(storage.location): \(ObjectKey.blob(digest))")
    }
    return object.bytes
  }

  /// Whether a publisher has created the site by now, or is about to. The ledger is read more than once, because an answer may be
  /// outdated.
  func ledgerHasSite() async throws -> Bool {
    for _ in 0..<3 {
      let (ledger, _) = try await ledgerFile.read()
      if ledger.committed != nil { return true }
      if try await readyJob(of: ledger, after: nil)?.valid != nil { return true }
    }
    return false
  }

  // MARK: - Claim, upload, commit

  /// Replaces the base's image by the image of a folder.
  ///
  /// - Parameters:
  ///   - body: returns a new file by its path; `nil` for the image.
  ///   - progress: receives the uploaded and the total bytes.
  /// - Returns: the number of bytes uploaded.
  /// - Throws: `Ledger.Refusal.otherImage` if another publisher was faster.
  @discardableResult
  func commit(
    _ next: SignedSiteImage, after base: Base, body: @escaping @Sendable (SiteImage.Path) throws -> ObjectBody,
    progress: @escaping @Sendable (UInt64, UInt64) -> Void
  ) async throws -> UInt64 {
    try checkpoint("claim")
    let lease = LeaseKeeper(job: self)
    do {
      // Before the claim, so that a ledger older than the site stays unchanged. The ETags are valid until the job is ready: if
      // another job writes roots before then, this job cannot become ready.
      let served = try await servedRoots(next.image.roots.keys)
      try await requireKnown(served, next, base)
      let job = try await withRoom(base) { try await claim(next, base) }
      await lease.set(job.leaseEnd)
      let intents = intents(next, served)
      let byteCount = try await upload(next, base, body, lease, progress)
      try checkpoint("ready")
      let dropped = (base.image?.keys ?? []).subtracting(next.keys)
      let (ledger, isOurs) = try await withRoom(base) {
        try await makeReady(intents, claimed: job, dropped: dropped)
      }
      if isOurs { try await completeOwn(of: ledger, base, (next, body)) }
      return byteCount
    } catch {
      try await giveUp(error, base)
      throw error
    }
  }

  /// Makes a change of the ledger. If the ledger has no room for it, deletes loose objects and makes the change again: the deletion
  /// at the end of a job comes too late, because a job that fails does not reach it.
  private func withRoom<Result>(_ base: Base, _ change: () async throws -> Result) async throws -> Result {
    while true {
      do {
        return try await change()
      } catch let error as PackStoreError where error.detail == .limit {
        guard let image = base.image else { throw error }
        guard try await deleteLoose(after: image) > 0 else { throw try await withTime(error) }
      }
    }
  }

  /// Adds to the error of a full ledger when the next objects may be deleted.
  private func withTime(_ error: PackStoreError) async throws -> PackStoreError {
    let ledger = try await ledgerFile.read().ledger, now = try await storage.now()
    guard let next = ledger.nextDeletion(after: now) else { return error }
    var error = error
    error.specificRemedy =
      "publish again in \(next.time - now + 1) seconds, when \(next.count) unused objects can be deleted; or publish fewer packs at a time"
    return error
  }

  private func intents(
    _ next: SignedSiteImage, _ served: [SiteChannel: ServedRoot]
  ) -> [SiteChannel: Ledger.Intent] {
    var intents: [SiteChannel: Ledger.Intent] = [:]
    for (channel, root) in next.image.roots where served[channel]?.digest != root.digest {
      intents[channel] = Ledger.Intent(root: root.digest, byteCount: root.byteCount, tag: served[channel]?.tag)
    }
    return intents
  }

  /// - Returns: the job in the ledger.
  private func claim(_ next: SignedSiteImage, _ base: Base) async throws -> Ledger.Job {
    let job = Ledger.Job(
      leaseEnd: 0, base: base.image?.digest,
      proposal: .init(image: next.digest, byteCount: UInt64(next.bytes.count)),
      claims: next.keys.subtracting(base.image?.reusableKeys ?? []))
    let id = id, times = times, limit = claimByteCountLimit
    let ledger = try await ledgerFile.change { ledger, now in
      var job = job
      job.leaseEnd = now + times.lease
      try ledger.claim(id, job, now: now, limit: limit)
    }
    guard let claimed = ledger.jobs[id], claimed.isSame(as: job) else { throw Ledger.Refusal.freed }
    return claimed
  }

  fileprivate func renew() async throws -> Ledger.Time {
    let id = id, times = times
    let ledger = try await ledgerFile.change { ledger, now in try ledger.renew(id, until: now + times.lease) }
    guard let end = ledger.jobs[id]?.leaseEnd else { throw Ledger.Refusal.freed }
    return end
  }

  private func makeReady(
    _ intents: [SiteChannel: Ledger.Intent], claimed: Ledger.Job, dropped: Set<ObjectKey>
  ) async throws -> (Ledger, isOurs: Bool) {
    let id = id, limit = claimByteCountLimit
    var isOurs = false
    let ledger = try await ledgerFile.change { ledger, _ in
      isOurs = try ledger.makeReady(id, intents, claimed: claimed, dropped: dropped, limit: limit)
    }
    return (ledger, isOurs)
  }

  /// Withdraws the claims of a job that failed before it was ready, so that its files need not wait for the end of its lease. An
  /// error of this is ignored.
  private func giveUp(_ error: any Error, _ base: Base) async throws {
    guard !(error is JobWasKilled) else { return }
    let id = id, needed = base.image?.keys ?? [], times = times, image = base.image?.digest, ledgerFile = ledgerFile
    // Also if this task was cancelled.
    _ = await Task {
      try await ledgerFile.change { ledger, now in
        // The needed objects are known only for this image.
        guard ledger.committed?.image == image else { return }
        ledger.free(id, needed: needed, from: now + times.requestLife)
      }
    }.result
  }

  // MARK: - Upload

  private func upload(
    _ next: SignedSiteImage, _ base: Base, _ body: @escaping @Sendable (SiteImage.Path) throws -> ObjectBody,
    _ lease: LeaseKeeper, _ progress: @escaping @Sendable (UInt64, UInt64) -> Void
  ) async throws -> UInt64 {
    let present = base.image?.reusableKeys ?? []
    var bodies: [ObjectKey: ObjectBody] = [:]
    for (path, file) in next.image.files {
      guard let key = SiteImage.key(path, file), !present.contains(key), bodies[key] == nil else { continue }
      bodies[key] = try body(path)
    }
    if !present.contains(next.key) { bodies[next.key] = .bytes(next.bytes) }
    let total = bodies.values.map(\.byteCount).clampedSum()
    let done = ByteCounter()
    progress(0, total)
    // The longest first, so that none of them is the last one, on a connection of its own.
    let queue = bodies.sorted { ($1.value.byteCount, $0.key) < ($0.value.byteCount, $1.key) }
    try await forEachInParallel(queue, count: parallelCount) { key, body in
      try checkpoint("upload \(key)")
      try await put(body, at: key, lease)
      progress(await done.add(body.byteCount), total)
    }
    return total
  }

  /// Writes an immutable object, unless it exists.
  private func put(_ body: ObjectBody, at key: ObjectKey, _ lease: LeaseKeeper) async throws {
    var condition = WriteCondition.absent
    for _ in 0..<Self.putLimit {
      let latest = try await lease.latest()
      do {
        let outcome = try await storage.write(body, to: key, condition, latest: latest)
        if case .written = outcome { return }
      } catch is LeaseOver {
        continue  // it took so long that the lease must be renewed
      }
      guard let found = try await storage.examine(key) else {
        condition = .absent
        continue
      }
      if try await isSame(found, body, key) { return }
      condition = .matching(found.tag)
    }
    throw DeliveryError(
      .siteChanged, "replaced repeatedly by another object", at: "\(storage.location): \(key)")
  }

  static let putLimit = 8

  private func isSame(_ found: ObjectFacts, _ body: ObjectBody, _ key: ObjectKey) async throws -> Bool {
    guard found.byteCount == body.byteCount else { return false }
    if let digest = found.digest { return digest == body.digest }
    let hash = DigestBox()
    let isThere = try await storage.fetch(key, byteCount: found.byteCount, restart: { hash.begin() }) {
      hash.update($0)
    }
    return isThere && hash.finish() == body.digest
  }

  // MARK: - Delete

  /// Deletes objects that nothing needs.
  ///
  /// Nothing is deleted while a served root differs from the root in the image: it may lead to files that the image lacks.
  ///
  /// - Parameter image: the committed image. If the ledger contains another one, another publisher is active, and nothing is
  ///   deleted.
  /// - Returns: the number of objects.
  @discardableResult
  func deleteLoose(after image: SignedSiteImage) async throws -> Int {
    let id = id, times = times, needed = image.keys
    try checkpoint("delete")
    let present = try await ledgerFile.change(acceptsMemory: true) { _, _ in }
    guard try await !present.dueDeletions(now: storage.now()).isEmpty else { return 0 }
    let roots = image.image.roots, served = try await servedRoots(roots.keys)
    guard roots.allSatisfy({ served[$0.key]?.digest == $0.value.digest }) else { return 0 }
    let ledger = try await ledgerFile.change(acceptsMemory: true) { ledger, now in
      guard ledger.committed?.image == image.digest else { return }
      _ = ledger.beginDeletions(by: id, now: now, times: times, needed: needed)
    }
    let deletions = ledger.deletions(by: id)
    guard !deletions.isEmpty else { return 0 }
    let gone = KeySet()
    try await forEachInParallel(deletions.sorted { $0.key < $1.key }, count: parallelCount) { key, deletion in
      try checkpoint("delete \(key)")
      if try await storage.delete(key, latest: deletion.closes - times.requestLife) { await gone.insert(key) }
    }
    let keys = await gone.keys
    try checkpoint("deleted")
    try await ledgerFile.change { ledger, _ in ledger.endDeletions(by: id, keys) }
    return keys.count
  }
}

/// Reads the ledger again if it seems older than the site: another publisher may have committed since it was read.
private struct Rereads {
  private var last: [Digest256?] = []
  private var count = 0
  private var totalCount = 0
  private static let countLimit = 3, totalLimit = 30

  /// Whether to read the ledger once more.
  mutating func next(_ ledger: Ledger) -> Bool {
    let state = [ledger.committed?.image, ledger.readyJob.flatMap { ledger.jobs[$0] }?.proposal.image]
    if state != last { count = 0 }
    last = state
    count += 1
    totalCount += 1
    return count <= Self.countLimit && totalCount <= Self.totalLimit
  }
}

extension Optional {
  /// Returns the value, or computes another one.
  func orElse(_ other: () async throws -> Wrapped) async rethrows -> Wrapped {
    if let self { self } else { try await other() }
  }
}

/// A test stopped a job, like a signal would: nothing is withdrawn.
package struct JobWasKilled: Error {
  package init() {}
}

/// The latest time at which a job may sign requests, for parallel uploads.
private actor LeaseKeeper {
  private let job: BucketJob
  private var end: Ledger.Time = 0
  private var renewal: Task<Ledger.Time, any Error>?

  init(job: BucketJob) { self.job = job }

  func set(_ end: Ledger.Time) { self.end = end }

  /// Returns the latest time for signing a request; renews the lease if that is soon.
  func latest() async throws -> Ledger.Time {
    let now = try await job.storage.now()
    if end - now < job.times.renewal {
      let task = renewal ?? Task { [job] in try await job.renew() }
      renewal = task
      defer { renewal = nil }
      end = try await task.value
    }
    return end - job.times.requestLife
  }
}

private actor ByteCounter {
  private var count: UInt64 = 0

  func add(_ more: UInt64) -> UInt64 {
    count = count.addingClamped(more)
    return count
  }
}

private actor KeySet {
  private(set) var keys: Set<ObjectKey> = []

  func insert(_ key: ObjectKey) { keys.insert(key) }
}

/// A SHA-256 computation that can start again.
private final class DigestBox {
  private var hash = DigestBuilder()

  func begin() { hash = DigestBuilder() }
  func update(_ bytes: UnsafeRawBufferPointer) { hash.update(bytes) }
  func finish() -> Digest256 { hash.finish() }
}
// one more line
