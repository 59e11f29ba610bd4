import PackDelivery
import PackFormats
import PackStore

/// A ready job of the ledger, which will be completed, checked against the signed images.
struct ReadyJob: Sendable {
  let id: ID128
  let record: Ledger.Job
  let image: SignedSiteImage

  /// The roots to write.
  let roots: [SiteChannel: (bytes: [UInt8], intent: Ledger.Intent)]

  enum Finding: Sendable {
    case valid(ReadyJob)

    /// No publisher can have made the job ready: another party wrote the ledger.
    case invalid(ID128, Ledger.Job)

    var valid: ReadyJob? { if case .valid(let job) = self { job } else { nil } }
  }
}

extension BucketJob {
  /// An image, and its files.
  typealias Own = (image: SignedSiteImage, body: (SiteImage.Path) throws -> ObjectBody)

  /// Finds the ready job of a ledger, and checks it against the committed image.
  ///
  /// - Parameters:
  ///   - served: the served roots. A root of the committed image that is among them is not fetched again.
  ///   - own: of a job of this publisher: the files need not be fetched.
  /// - Returns: `nil` if no job is ready.
  func readyJob(
    of ledger: Ledger, after base: SignedSiteImage?, _ served: [SiteChannel: ServedRoot] = [:], own: Own? = nil
  ) async throws -> ReadyJob.Finding? {
    guard let id = ledger.readyJob, let job = ledger.jobs[id] else { return nil }
    let invalid = ReadyJob.Finding.invalid(id, job)
    do {
      let own = own.flatMap { $0.image.digest == job.proposal.image ? $0 : nil }
      let next = try await own.map(\.image).orElse {
        try await image(job.proposal.image, byteCount: job.proposal.byteCount)
      }
      guard Self.follows(next, base, job) else { return invalid }
      try base?.requireFollowed(by: next.authority, "the key of a job in the ledger", at: storage.location)
      guard let roots = try await roots(of: job, next, base, served, own) else { return invalid }
      return .valid(ReadyJob(id: id, record: job, image: next, roots: roots))
    } catch is MissingObject {
      return invalid
    } catch let error as PackStoreError where [.corrupt, .untrusted].contains(error.code) {
      return invalid
    } catch let error as DeliveryError where error.code == .badResponse {
      return invalid  // longer than the ledger states
    }
  }

  /// Whether an image is the one after the committed image, and the job claimed exactly its new files.
  private static func follows(_ next: SignedSiteImage, _ base: SignedSiteImage?, _ job: Ledger.Job) -> Bool {
    guard job.base == base?.digest, next.image.before == base?.digest,
      next.image.number == (base?.image.number ?? 0) + 1, next.image.site == base?.image.site ?? next.image.site
    else { return false }
    return job.claims == next.keys.subtracting(base?.reusableKeys ?? [])
  }

  /// The roots that a job writes; `nil` if the image lacks one of them, or if the committed image has a newer one.
  private func roots(
    of job: Ledger.Job, _ next: SignedSiteImage, _ base: SignedSiteImage?, _ served: [SiteChannel: ServedRoot],
    _ own: Own?
  ) async throws -> [SiteChannel: (bytes: [UInt8], intent: Ledger.Intent)]? {
    var roots: [SiteChannel: (bytes: [UInt8], intent: Ledger.Intent)] = [:]
    for (channel, intent) in job.intents ?? [:] {
      guard let file = next.image.roots[channel], file.digest == intent.root, file.byteCount == intent.byteCount
      else { return nil }
      let bytes = try await rootBytes(channel, intent.root, of: next.image, own: own?.body)
      let root = try decodeRoot(bytes, of: channel)
      guard root.root.channel == channel, root.root.site == next.image.site,
        root.authority?.firstKey == next.authority.firstKey
      else { return nil }
      if let base, let before = base.image.roots[channel], before.digest != file.digest {
        guard RootOrder(root) > RootOrder(try await self.root(channel, of: base, served)) else { return nil }
      }
      roots[channel] = (bytes, intent)
    }
    return roots
  }

  /// Whether all files of another publisher's job exist. A ledger that was rewritten may have a job that was freed, or that has not
  /// uploaded all of its files.
  func hasFiles(of job: ReadyJob) async throws -> Bool {
    var byteCounts: [ObjectKey: UInt64] = [job.image.key: UInt64(job.image.bytes.count)]
    for (path, file) in job.image.image.files {
      if let key = SiteImage.key(path, file), job.record.claims.contains(key) { byteCounts[key] = file.byteCount }
    }
    do {
      try await forEachInParallel(byteCounts, count: parallelCount) { key, byteCount in
        guard try await storage.examine(key)?.byteCount == byteCount else { throw MissingObject(key: key) }
      }
      return true
    } catch is MissingObject { return false }
  }

  /// Completes the job of this publisher.
  func completeOwn(of ledger: Ledger, _ base: Base, _ own: Own) async throws {
    guard let ready = try await readyJob(of: ledger, after: base.image, base.served, own: own),
      case .valid(let job) = ready,
      job.id == id
    else { throw rewritten() }
    guard try await complete(job, base.image) else { throw rewritten() }
  }

  private func rewritten() -> PackStoreError {
    var error = PackStoreError(
      .conflict, "a program other than a publisher changed the ledger during this job",
      file: "\(storage.location): \(ObjectKey.ledger)", detail: .foreignChange)
    error.specificRemedy = "check who can write below the ledger's prefix, then publish again"
    return error
  }

  /// Writes the roots of a job that is ready, and commits its image: by its own publisher or another.
  ///
  /// - Parameter base: the committed image, with which the job began.
  /// - Returns: false if the ledger still has the job, in another form.
  @discardableResult
  func complete(_ job: ReadyJob, _ base: SignedSiteImage?) async throws -> Bool {
    for (channel, root) in job.roots.sorted(by: { $0.key < $1.key }) {
      try checkpoint("root \(channel)")
      guard try await writeRoot(channel, root.intent, root.bytes, job) else { return true }
    }
    let dropped = (base?.keys ?? []).subtracting(job.image.keys), times = times
    try checkpoint("finish")
    let copy = ImageCopy(of: job.image.bytes)
    let ledger = try await ledgerFile.change { ledger, now in
      guard let found = ledger.jobs[job.id], found.isSame(as: job.record), ledger.committed?.image == base?.digest
      else { return }
      ledger.finish(job.id, dropped: dropped, copy: copy, now: now, times: times)
    }
    return ledger.jobs[job.id] == nil
  }

  /// Removes a ready job that no publisher can have made ready.
  func discard(_ id: ID128, _ job: Ledger.Job, _ base: SignedSiteImage?) async throws {
    let needed = base?.keys ?? [], times = times
    try checkpoint("free")
    try await ledgerFile.change { ledger, now in
      guard ledger.committed?.image == base?.digest, let found = ledger.jobs[id], found.isSame(as: job) else { return }
      ledger.discard(id, needed: needed, from: now + times.lease)
    }
  }

  /// The bytes of a root of an image: in the image, in a file of this publisher, or in a blob.
  func rootBytes(
    _ channel: SiteChannel, _ digest: Digest256, of image: SiteImage,
    own: ((SiteImage.Path) throws -> ObjectBody)? = nil
  ) async throws -> [UInt8] {
    let path = SiteImage.Path.site(.root(channel))
    if let file = image.files[path], file.digest == digest, let content = file.content { return content }
    return try await own.flatMap { try Self.bytes($0(path), of: digest) }
      .orElse { try await blob(digest, limit: SiteRoot.byteCountLimit) }
  }

  /// The bytes of a file of this publisher; `nil` if they changed.
  private static func bytes(_ body: ObjectBody, of digest: Digest256) throws -> [UInt8]? {
    guard body.digest == digest else { return nil }
    switch body {
    case .bytes(let bytes): return bytes
    case .file(let place, _, _):
      let bytes = try InputFile(place.path).bytes(upTo: SiteRoot.byteCountLimit)
      return Digest256(hashing: bytes) == digest ? bytes : nil
    }
  }

  /// - Returns: false if another publisher completed the job.
  private func writeRoot(
    _ channel: SiteChannel, _ intent: Ledger.Intent, _ bytes: [UInt8], _ job: ReadyJob
  ) async throws -> Bool {
    let name = name(of: channel), root = try decodeRoot(bytes, of: channel)
    var tag = intent.tag
    for _ in 0..<Self.putLimit {
      let outcome = try await storage.write(
        .bytes(bytes), to: .file(.root(channel)), tag.map(WriteCondition.matching) ?? .absent, latest: nil)
      if case .written = outcome { return true }
      let served = try await servedRoot(channel)
      if served?.digest == intent.root { return true }
      guard try await ledgerFile.read().ledger.jobs[job.id] != nil else { return false }
      if let served, let other = try? decodeRoot(served.bytes, of: channel),
        other.authority?.firstKey == root.authority?.firstKey, RootOrder(other) > RootOrder(root)
      {
        throw conflict(channel, job.image)
      }
      tag = served?.tag
    }
    throw DeliveryError(.siteChanged, "the root was replaced repeatedly", at: name)
  }
}
