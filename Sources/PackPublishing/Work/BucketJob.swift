import PackDelivery
import PackFormats
import PackStore

/// The steps of the protocol of `Docs/ObjectStorage.md`, from what a job found to the image that it commits.
struct BucketJob: Sendable {
  let storage: any ObjectStorage
  let ledgerFile: LedgerFile
  let times: ProtocolTimes
  let id: ID128
  let parallelCount: Int

  /// Called before each step, with its name: for tests that end a job there.
  var checkpoint: @Sendable (String) throws -> Void = { _ in }

  /// A served root as it was read.
  struct ServedRoot: Sendable {
    let digest: Digest256
    let bytes: [UInt8]
    let tag: ObjectTag
  }

  /// What a site was when a job began with it.
  struct Base: Sendable {
    var image: SignedSiteImage?

    /// When it was committed, in seconds since 1970.
    var committed: Ledger.Time
  }

  // MARK: - Read

  /// The committed image, after jobs that are past the point of no return were completed, and dead ones freed.
  ///
  /// - Parameters:
  ///   - tidies: false: only look.
  ///   - ledger: as it was read just now; nil: it is read. What a job makes of an older one comes to nothing, as if it had been
  ///     slower.
  ///   - known: an image by its digest, where it is at hand.
  func begin(
    tidies: Bool, with ledger: Ledger? = nil, known: (Digest256) -> SignedSiteImage? = { _ in nil },
    check: (SignedSiteImage) throws -> Void
  ) async throws -> Base {
    var tries = Retry(ledgerFile.retry, ledgerFile.clock)
    var given = ledger
    while true {
      do {
        try checkpoint("read")
        let ledger = if let given { given } else { try await ledgerFile.read().ledger }
        given = nil
        let base = Base(image: try await committedImage(ledger, known), committed: ledger.committed?.time ?? 0)
        try base.image.map(check)
        guard tidies else { return base }
        if let ready = ledger.readyJob {
          try await complete(ready, in: ledger, base.image, check)
          continue
        }
        let now = try await storage.now()
        let lapsed = ledger.lapsedJobs(now: now)
        if !lapsed.isEmpty {
          let needed = base.image?.keys ?? []
          try checkpoint("free")
          try await ledgerFile.change { ledger, now in
            guard ledger.committed?.image == base.image?.digest else { return }
            // One that was renewed meanwhile is not.
            for job in ledger.lapsedJobs(now: now) { ledger.free(job, needed: needed, from: 0) }
          }
        }
        return base
      } catch is MissingObject {
        // Another publisher went on meanwhile, and deleted what the ledger named that was read.
        try await ledgerFile.clock.sleep(
          try tries.delay(
            after: DeliveryError(.siteChanged, "what the ledger names is not there", at: storage.location)))
      }
    }
  }

  private func committedImage(
    _ ledger: Ledger, _ known: (Digest256) -> SignedSiteImage?
  ) async throws -> SignedSiteImage? {
    guard let committed = ledger.committed else { return nil }
    return try await known(committed.image).orElse {
      try await image(
        committed.image, in: committed.copy.flatMap { $0.bytes(of: committed.image, byteCount: committed.byteCount) })
    }
  }

  /// - Parameter bytes: nil: they are fetched.
  private func image(_ digest: Digest256, in bytes: [UInt8]? = nil) async throws -> SignedSiteImage {
    let bytes = try await bytes.orElse { try await blob(digest, limit: SignedSiteImage.byteCountLimit) }
    return try SignedSiteImage(decoding: bytes, file: "\(storage.location): \(ObjectKey.blob(digest))")
  }

  private func blob(_ digest: Digest256, limit: Int) async throws -> [UInt8] {
    guard let object = try await storage.read(.blob(digest), limit: limit) else {
      throw MissingObject(key: .blob(digest))
    }
    guard Digest256(hashing: object.bytes) == digest else {
      throw PackStoreError(
        .corrupt, "the object is not what a publisher stored", file: "\(storage.location): \(ObjectKey.blob(digest))")
    }
    return object.bytes
  }

  /// Whether a publisher has made the site by now, or is about to. The ledger is read more than once: an answer may be an old one.
  func ledgerHasSite() async throws -> Bool {
    for _ in 0..<3 {
      let (ledger, _) = try await ledgerFile.read()
      if ledger.committed != nil || ledger.readyJob != nil { return true }
    }
    return false
  }

  /// The roots that devices get, of these channels.
  func servedRoots(_ channels: some Sequence<SiteChannel>) async throws -> [SiteChannel: ServedRoot] {
    var roots: [SiteChannel: ServedRoot] = [:]
    for channel in channels { roots[channel] = try await servedRoot(channel) }
    return roots
  }

  private func servedRoot(_ channel: SiteChannel) async throws -> ServedRoot? {
    guard let object = try await storage.read(.file(.root(channel)), limit: SiteRoot.byteCountLimit) else { return nil }
    return ServedRoot(digest: Digest256(hashing: object.bytes), bytes: object.bytes, tag: object.tag)
  }

  // MARK: - Claim, upload, commit

  /// Puts the image of a folder in the place of that of the base.
  ///
  /// - Parameters:
  ///   - body: of a file that is new, by its path; nil for the image.
  ///   - progress: bytes that were uploaded, and that are to be.
  /// - Returns: how many bytes were uploaded.
  /// - Throws: `Ledger.Refusal.otherImage` when another publisher was faster.
  @discardableResult
  func commit(
    _ next: SignedSiteImage, after base: Base, body: @escaping @Sendable (SiteImage.Path) throws -> ObjectBody,
    progress: @escaping @Sendable (UInt64, UInt64) -> Void
  ) async throws -> UInt64 {
    try checkpoint("claim")
    let lease = LeaseKeeper(job: self)
    do {
      let (claimed, served) = try await bothInParallel(count: parallelCount) {
        try await claim(next, base)
      } _: {
        // Which ETags they have counts from here until the job is ready: no other job writes roots meanwhile, or this one is not
        // ready.
        try await servedRoots(next.image.roots.keys)
      }
      await lease.set(claimed)
      try await requireKnown(served, next, base)
      let intents = intents(next, served)
      let byteCount = try await upload(next, base, body, lease, progress)
      try checkpoint("ready")
      let (ledger, isOurs) = try await makeReady(intents)
      if isOurs { try await complete(id, in: ledger, base.image, own: (next, body)) { _ in } }
      return byteCount
    } catch {
      try await giveUp(error, base)
      throw error
    }
  }

  /// Sees that no root is served that is newer than what the ledger knows: who copied it there did without the ledger, and what it
  /// offers would be lost.
  private func requireKnown(_ served: [SiteChannel: ServedRoot], _ next: SignedSiteImage, _ base: Base) async throws {
    for (channel, root) in served {
      let known = [base.image, next].compactMap { $0?.image.roots[channel]?.digest }
      guard !known.contains(root.digest), try await isNewer(root, channel, than: base, next) else { continue }
      // Or it is that of another publisher, who was faster.
      for _ in 0..<3 {
        let ledger = try await ledgerFile.read().ledger
        guard ledger.committed?.image == base.image?.digest, ledger.readyJob == nil else {
          throw Ledger.Refusal.otherImage
        }
      }
      guard try await servedRoot(channel)?.digest == root.digest else { throw Ledger.Refusal.otherImage }
      throw conflict(channel)
    }
  }

  /// Whether a root follows the one that the ledger knows; a damaged one does not, nor one of another key.
  private func isNewer(
    _ root: ServedRoot, _ channel: SiteChannel, than base: Base, _ next: SignedSiteImage
  ) async throws -> Bool {
    let name = "\(storage.location): \(SitePath.root(channel))"
    guard let other = try? SignedSiteRoot(decoding: root.bytes, file: name),
      other.authority?.firstKey == next.authority.firstKey
    else { return false }
    guard let image = base.image?.image, let known = image.roots[channel] else { return true }
    let bytes = try await rootBytes(channel, known.digest, of: image)
    return other.root.sequence > (try SignedSiteRoot(decoding: bytes, file: name)).root.sequence
  }

  private func conflict(_ channel: SiteChannel) -> PackStoreError {
    var error = PackStoreError(
      .conflict, "the root of '\(channel)' was replaced by a newer one that is not in the ledger",
      file: "\(storage.location): \(SitePath.root(channel))")
    error.specificRemedy = "put the root of the ledger back, or publish only by commands that use the ledger"
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

  /// - Returns: when the lease ends.
  private func claim(_ next: SignedSiteImage, _ base: Base) async throws -> Ledger.Time {
    let job = Ledger.Job(
      leaseEnd: 0, base: base.image?.digest,
      proposal: .init(image: next.digest, byteCount: UInt64(next.bytes.count)),
      claims: next.keys.subtracting(base.image?.keys ?? []))
    let id = id, times = times
    let ledger = try await ledgerFile.change { ledger, now in
      var job = job
      job.leaseEnd = now + times.lease
      try ledger.claim(id, job, now: now)
    }
    guard let end = ledger.jobs[id]?.leaseEnd else { throw Ledger.Refusal.freed }
    return end
  }

  fileprivate func renew() async throws -> Ledger.Time {
    let id = id, times = times
    let ledger = try await ledgerFile.change { ledger, now in try ledger.renew(id, until: now + times.lease) }
    guard let end = ledger.jobs[id]?.leaseEnd else { throw Ledger.Refusal.freed }
    return end
  }

  private func makeReady(_ intents: [SiteChannel: Ledger.Intent]) async throws -> (Ledger, isOurs: Bool) {
    let id = id
    var isOurs = false
    let ledger = try await ledgerFile.change { ledger, _ in isOurs = try ledger.makeReady(id, intents) }
    return (ledger, isOurs)
  }

  /// Takes the claims back of a job that failed before it was ready, so that its files need not wait for the end of its lease. It
  /// is no failure if that fails.
  private func giveUp(_ error: any Error, _ base: Base) async throws {
    guard !(error is JobWasKilled) else { return }
    let id = id, needed = base.image?.keys ?? [], times = times, image = base.image?.digest, ledgerFile = ledgerFile
    // Also when this task was cancelled.
    _ = await Task {
      try await ledgerFile.change { ledger, now in
        // Which objects are needed is known of this image alone.
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
    let present = base.image?.keys ?? []
    var bodies: [ObjectKey: ObjectBody] = [:]
    for (path, file) in next.image.files {
      guard let key = SiteImage.key(path, file), !present.contains(key), bodies[key] == nil else { continue }
      bodies[key] = try body(path)
    }
    if !present.contains(next.key) { bodies[next.key] = .bytes(next.bytes) }
    let total = bodies.values.map(\.byteCount).clampedSum()
    let done = ByteCounter()
    progress(0, total)
    // The longest first: none of them is then the last, on a connection of its own.
    let queue = bodies.sorted { ($1.value.byteCount, $0.key) < ($0.value.byteCount, $1.key) }
    try await forEachInParallel(queue, count: parallelCount) { key, body in
      try checkpoint("upload \(key)")
      try await put(body, at: key, lease)
      progress(await done.add(body.byteCount), total)
    }
    return total
  }

  /// Writes an object that never changes, unless it is there.
  private func put(_ body: ObjectBody, at key: ObjectKey, _ lease: LeaseKeeper) async throws {
    var condition = WriteCondition.absent
    for _ in 0..<Self.putLimit {
      let latest = try await lease.latest()
      do {
        let outcome = try await storage.write(body, to: key, condition, latest: latest)
        if case .written = outcome { return }
      } catch is LeaseOver {
        continue  // it took so long that the lease has to be renewed
      }
      guard let found = try await storage.examine(key) else {
        condition = .absent
        continue
      }
      if try await isSame(found, body, key) { return }
      condition = .matching(found.tag)
    }
    throw DeliveryError(
      .siteChanged, "the object is replaced again and again by something else", at: "\(storage.location): \(key)")
  }

  private static let putLimit = 8

  private func isSame(_ found: ObjectFacts, _ body: ObjectBody, _ key: ObjectKey) async throws -> Bool {
    guard found.byteCount == body.byteCount else { return false }
    if let digest = found.digest { return digest == body.digest }
    let hash = DigestBox()
    let isThere = try await storage.fetch(key, byteCount: found.byteCount, restart: { hash.begin() }) {
      hash.update($0)
    }
    return isThere && hash.finish() == body.digest
  }

  // MARK: - Complete

  /// Writes the roots of a job that is ready, and commits its image: by its own publisher or another.
  ///
  /// - Parameters:
  ///   - base: the committed image, with which the job began.
  ///   - own: of a job of this publisher, its image and the files of that: they need not be fetched.
  func complete(
    _ job: ID128, in ledger: Ledger, _ base: SignedSiteImage?,
    own: (image: SignedSiteImage, body: (SiteImage.Path) throws -> ObjectBody)? = nil,
    _ check: (SignedSiteImage) throws -> Void
  ) async throws {
    guard let found = ledger.jobs[job], let intents = found.intents else { return }
    let known = own?.image.digest == found.proposal.image ? own : nil
    let next = try await known.map(\.image).orElse { try await image(found.proposal.image) }
    try check(next)
    if let base {
      try base.requireFollowed(by: next.authority, "the key of a job in the ledger", at: storage.location)
    }
    for (channel, intent) in intents.sorted(by: { $0.key < $1.key }) {
      try checkpoint("root \(channel)")
      let bytes = try await rootBytes(channel, intent.root, of: next.image, own: known?.body)
      guard try await writeRoot(channel, intent, bytes, next, job) else { return }
    }
    let dropped = (base?.keys ?? []).subtracting(next.keys), times = times
    try checkpoint("finish")
    let copy = ImageCopy(of: next.bytes)
    try await ledgerFile.change { ledger, now in
      ledger.finish(job, dropped: dropped, copy: copy, now: now, times: times)
    }
  }

  /// The bytes of a root of an image: in the image, in a file of this publisher, or in a blob.
  private func rootBytes(
    _ channel: SiteChannel, _ digest: Digest256, of image: SiteImage,
    own: ((SiteImage.Path) throws -> ObjectBody)? = nil
  ) async throws -> [UInt8] {
    let path = SiteImage.Path.site(.root(channel))
    if let file = image.files[path], file.digest == digest, let content = file.content { return content }
    return try await own.flatMap { try Self.bytes($0(path), of: digest) }
      .orElse { try await blob(digest, limit: SiteRoot.byteCountLimit) }
  }

  /// What a file of this publisher holds; nil where that is not what it should.
  private static func bytes(_ body: ObjectBody, of digest: Digest256) throws -> [UInt8]? {
    guard body.digest == digest else { return nil }
    switch body {
    case .bytes(let bytes): return bytes
    case .file(let place, _, _):
      let bytes = try InputFile(place.path).bytes(upTo: SiteRoot.byteCountLimit)
      return Digest256(hashing: bytes) == digest ? bytes : nil
    }
  }

  /// - Returns: false when the job is no longer in the ledger: another publisher completed it.
  private func writeRoot(
    _ channel: SiteChannel, _ intent: Ledger.Intent, _ bytes: [UInt8], _ next: SignedSiteImage, _ job: ID128
  ) async throws -> Bool {
    let name = "\(storage.location): \(SitePath.root(channel))"
    let root = try SignedSiteRoot(decoding: bytes, file: name)
    guard root.root.channel == channel, root.root.site == next.image.site,
      root.authority?.firstKey == next.authority.firstKey
    else {
      throw PackStoreError(.untrusted, "a job in the ledger is to write a root that is not of this site", file: name)
    }
    var tag = intent.tag
    for _ in 0..<Self.putLimit {
      let outcome = try await storage.write(
        .bytes(bytes), to: .file(.root(channel)), tag.map(WriteCondition.matching) ?? .absent, latest: nil)
      if case .written = outcome { return true }
      let served = try await servedRoot(channel)
      if served?.digest == intent.root { return true }
      guard try await ledgerFile.read().ledger.jobs[job] != nil else { return false }
      if let served, let other = try? SignedSiteRoot(decoding: served.bytes, file: name),
        other.authority?.firstKey == root.authority?.firstKey, other.root.sequence > root.root.sequence
      {
        throw conflict(channel)
      }
      tag = served?.tag
    }
    throw DeliveryError(.siteChanged, "the root is replaced again and again", at: name)
  }

  // MARK: - Delete

  /// Deletes what nothing wants any more.
  ///
  /// - Returns: how many objects.
  @discardableResult
  func deleteLoose() async throws -> Int {
    let id = id, times = times
    try checkpoint("delete")
    let ledger = try await ledgerFile.change(acceptsMemory: true) { ledger, now in
      _ = ledger.beginDeletions(by: id, now: now, times: times)
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

extension Optional {
  /// The value, or another one that takes time to get.
  fileprivate func orElse(_ other: () async throws -> Wrapped) async rethrows -> Wrapped {
    if let self { self } else { try await other() }
  }
}

/// A test ended a job, as a signal would: nothing is taken back.
package struct JobWasKilled: Error {
  package init() {}
}

/// Until when a job may sign requests, for several uploads at a time.
private actor LeaseKeeper {
  private let job: BucketJob
  private var end: Ledger.Time = 0
  private var renewal: Task<Ledger.Time, any Error>?

  init(job: BucketJob) { self.job = job }

  func set(_ end: Ledger.Time) { self.end = end }

  /// Until when a request may be signed; renews the lease if that is soon.
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

/// A SHA-256 that can begin once more.
private final class DigestBox {
  private var hash = DigestBuilder()

  func begin() { hash = DigestBuilder() }
  func update(_ bytes: UnsafeRawBufferPointer) { hash.update(bytes) }
  func finish() -> Digest256 { hash.finish() }
}
