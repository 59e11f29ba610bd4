public import PackAuthoring
package import PackDelivery
public import PackFormats
public import PackStore
import Synchronization

/// A site in object storage, shared by any number of publishers: `Docs/ObjectStorage.md`.
///
///     let bucket = try BucketSite("s3://assets/packs")
///     try await bucket.change(signedBy: key) { site in
///       try await site.publish(from: store, signedBy: key)
///     }
///
/// Changes are made to a copy of the site in a folder, with the same calls. Changed files are then uploaded, roots last, in one
/// atomic step, which another publisher completes if this process dies.
public struct BucketSite: SiteHost {
  /// The location in error messages.
  public var location: String { storage.location }

  /// No: a change works in a copy without frames.
  public var hasContent: Bool { false }

  let storage: any ObjectStorage
  let workFolder: FilePath?
  let waitsForOthers: Bool

  /// The newest images seen by this machine; `nil` if none are recorded.
  var marks: ImageMarks?

  /// The records of the history whose private parts a change erases.
  var erasedNotes: Set<Digest256> = []

  /// Whether changes convert the site from the previous draft of the format.
  var isConverting = false
  var times = ProtocolTimes()
  var retry = RetryPolicy()
  var clock = TransferClock.system
  var temporaryParent: FilePath
  var checkpoint: @Sendable (String) throws -> Void = { _ in }

  /// The maximum error of this machine's clock in seconds: roots contain its time.
  private static let clockTolerance: Int64 = 900
  static let overtakenLimit = 100
  private static let parallelCount = 16

  /// The most bytes of a ledger after a claim.
  var claimByteCountLimit = Ledger.claimByteCountLimit

  /// The number of parallel uploads; 1: one request of any kind at a time.
  var parallelCount = Self.parallelCount

  var fetchCount: Int { parallelCount == 1 ? 1 : Self.connectionCount }

  package init(
    _ storage: any ObjectStorage, workFolder: FilePath?, waitsForOthers: Bool = true, temporaryParent: FilePath,
    times: ProtocolTimes = .init(), retry: RetryPolicy = .init(), clock: TransferClock = .system,
    checkpoint: @escaping @Sendable (String) throws -> Void = { _ in }
  ) {
    self.storage = storage
    self.workFolder = workFolder
    self.waitsForOthers = waitsForOthers
    self.temporaryParent = temporaryParent
    self.times = times
    self.retry = retry
    self.clock = clock
    self.checkpoint = checkpoint
  }

  #if Delivery
    /// - Parameter environment: variables with credentials, region, endpoint and proxies.
    /// - Throws: `invalidLocation`; `denied` without credentials.
    package init(_ location: S3Location, options: Options = .init(), environment: [String: String]) throws {
      self.init(
        try S3Storage.open(at: location, options, environment: environment), workFolder: options.workFolder,
        waitsForOthers: options.waitsForOthers,
        temporaryParent: FilePath(environment["TMPDIR"] ?? "/tmp"))
      isConverting = options.isConverting
      marks = ImageMarks.standard(environment)
    }

    /// Opens a site at `s3://bucket/prefix`, with the credentials in this process's environment.
    ///
    /// - Throws: `invalidLocation`; `denied` without credentials.
    public init(_ location: S3Location, options: Options = .init()) throws {
      try self.init(location, options: options, environment: processEnvironment())
    }
  #endif

  /// Closes all connections. The site cannot be used afterwards.
  public func close() async { await storage.close() }

  func job() -> BucketJob {
    BucketJob(
      storage: storage,
      ledgerFile: LedgerFile(storage: storage, retry: retry, clock: clock, readsPreviousDraft: isConverting),
      times: times, id: .random(), parallelCount: parallelCount, isConverting: isConverting,
      claimByteCountLimit: claimByteCountLimit, checkpoint: checkpoint)
  }

  private func openWorkFolder() throws -> WorkFolder {
    try WorkFolder(
      workFolder, temporaryParent: temporaryParent, parallelCount: fetchCount, waits: waitsForOthers)
  }

  // MARK: - Reading

  /// Whether a publisher has created a site there.
  ///
  /// - Throws: `unreachable`, `denied`, `corrupt`.
  public func exists() async throws -> Bool {
    let job = job(), ledger = try await job.ledgerFile.read().ledger
    firstLook.keep((job, ledger))
    return ledger.committed != nil
  }

  /// The ledger that ``exists()`` read, so that the following change need not read it again.
  private let firstLook = CachedLedgerRead()

  /// Calls `body` with a copy of the site that has its roots and the list of its versions.
  ///
  /// - Throws: `noSite`; the errors of `body`; `unreachable`, `denied`; `corrupt`, `untrusted`, `noSpace`, `ioError`.
  public func read<Result: Sendable>(
    _ body: @Sendable (Site) async throws -> Result
  ) async throws -> Result {
    try await read(.description, body)
  }

  /// Calls `body` with a copy of the site that has catalogs and attributes of its versions, and the tables of their content.
  ///
  /// - Throws: as ``read(_:)``.
  public func readVersions<Result: Sendable>(
    _ body: @Sendable (Site) async throws -> Result
  ) async throws -> Result {
    try await read(.publishing(), body)
  }

  private func read<Result: Sendable>(
    _ extent: WorkFolder.Extent, _ body: @Sendable (Site) async throws -> Result
  ) async throws -> Result {
    let folder = try openWorkFolder()
    defer { folder.end() }
    var lost = LostObject(location: location, clock: clock)
    for _ in 0..<Self.overtakenLimit {
      let base = try await job().begin(tidies: false, known: folder.image) { try requireNotBefore(mark(of: $0), $0) }
      guard let image = base.image else { throw noSite() }
      do {
        try requireSameKey(base)
        try requireNotBefore(try folder.mirror(), image)
        if try folder.mirror()?.image != image.digest {
          try await folder.take(
            image.image, committed: nanoseconds(base.committed), from: storage, extent)
        }
        return try await body(try folder.openSite(of: image.image))
      } catch let missing as MissingObject {
        // Another publisher continued, or the object is lost.
        try await lost.note(missing)
      }
    }
    throw DeliveryError(.siteChanged, "changed repeatedly while it was read", at: location)
  }

  /// Returns the files of the committed image.
  ///
  /// - Throws: `noSite`; `unreachable`, `denied`; `corrupt`, `untrusted`.
  func committedFiles() async throws -> [SiteImage.Path: SiteImage.File] {
    let base = try await job().begin(tidies: false, known: { _ in nil }) { try requireNotBefore(mark(of: $0), $0) }
    guard let image = base.image else { throw noSite() }
    try requireSameKey(base)
    return image.image.files
  }

  func noSite() -> DeliveryError {
    var error = DeliveryError(.noSite, "not a site with a ledger", at: location)
    error.specificRemedy = "publish to it first; check the prefix and the ledger's location"
    return error
  }

  // MARK: - Changing

  /// Changes the site: calls `body` with a copy, and uploads the changes. If another publisher was faster, calls `body` again with
  /// a copy of its result.
  ///
  /// - Parameters:
  ///   - key: the key that signed the site before.
  ///   - makesSite: whether to create a missing site.
  ///   - isDryRun: whether to upload nothing.
  ///   - events: receives events, on any thread.
  ///   - reading: the versions whose content `body` reads: the copy contains no other content except newly created files.
  ///   - body: must not keep the site.
  /// - Returns: the result of the last call of `body`.
  /// - Throws: `noSite`; `untrusted` if the key may not continue the site; `busy` if another publisher was faster and the options
  ///   exclude waiting; the errors of `body`; `unreachable`, `denied`, `badResponse`; `corrupt`, `noSpace`, `ioError`. The site is
  ///   then unchanged for devices, except after `unreachable`: they may also see the new state, and the next publication completes
  ///   it.
  @discardableResult
  public func change<Result: Sendable>(
    signedBy key: SiteKey, makesSite: Bool = false, isDryRun: Bool = false,
    events: @escaping @Sendable (SiteChangeEvent) -> Void = { _ in },
    reading: (@Sendable (Site) async throws -> [PackVersion])? = nil, _ body: @Sendable (Site) async throws -> Result
  ) async throws -> Result {
    try await BlockingExecutor.runAsync {
      let folder = try openWorkFolder()
      defer { folder.end() }
      var lost = LostObject(location: location, clock: clock)
      for _ in 0..<Self.overtakenLimit {
        do {
          return try await changeOnce(
            folder, firstLook.take(), key, makesSite: makesSite, isDryRun: isDryRun, events, reading, body)
        } catch let missing as MissingObject {
          try await lost.note(missing)
          events(.overtaken)
        } catch Ledger.Refusal.otherImage {
          guard waitsForOthers else { throw overtaken() }
          events(.overtaken)
        } catch Ledger.Refusal.freed {
          events(.overtaken)
        } catch Ledger.Refusal.beingDeleted(let key, let end) {
          try await wait(for: key, until: end)
        } catch Ledger.Refusal.tooManyJobs {
          throw PackStoreError(.busy, "\(Ledger.jobLimit) jobs are publishing to the site", about: .site(location))
        }
      }
      throw overtaken()
    }
  }

  private func overtaken() -> PackStoreError {
    PackStoreError(.busy, "another process is publishing to the site", about: .site(location), detail: .otherWriter)
  }

  /// An abandoned file is needed again while requests to delete it may still arrive.
  private func wait(for key: ObjectKey, until end: Ledger.Time) async throws {
    let now = try await storage.now()
    guard waitsForOthers else {
      throw PackStoreError(
        .busy, "'\(key)' is being deleted, and can be stored again in \(max(end - now, 0)) seconds",
        about: .site(location))
    }
    try await clock.sleep(.seconds(min(max(end - now, 1), 60)))
  }

  private func changeOnce<Result: Sendable>(
    _ folder: WorkFolder, _ look: CachedLedgerRead.Value?, _ key: SiteKey, makesSite: Bool, isDryRun: Bool,
    _ events: @escaping @Sendable (SiteChangeEvent) -> Void,
    _ reading: (@Sendable (Site) async throws -> [PackVersion])?,
    _ body: @Sendable (Site) async throws -> Result
  ) async throws -> Result {
    var job = look?.job ?? job()
    job.discarded = { events(.discardedJob) }
    job.revokedBelow = key.delegation?.revokedBelow ?? 0
    let base = try await job.begin(tidies: !isDryRun, with: look?.ledger, known: folder.image) {
      try $0.requireFollowed(by: key, at: location)
      try requireNotBefore(mark(of: $0), $0)
    }
    base.image.map { marks?.remember($0, storage.identity) }
    try await requireRightClock()
    guard base.image != nil || makesSite else { throw noSite() }
    if base.image == nil {
      try await requireNoStranger(job)
      if !isDryRun { try await requireSafeStorage() }
    }
    try await prepare(folder, base, events)
    let before = base.image
    if before != nil, let reading {
      try await fetchContent(of: try await reading(try folder.openSite(of: before?.image)), folder, base, events)
    }
    if !isDryRun || before == nil { try folder.forget() }
    let (result, image) = try await withContent(of: folder, base, events) {
      let site = try folder.openSite(of: before?.convertible)
      let result = try await body(site)
      // The roots of channels that another key converts are not read as roots of the current draft.
      let product = isConverting ? before?.authority.delegation.product : try site.product
      guard !isDryRun, let product else {
        return (result, nil as (SiteImage, Store.Product)?)
      }
      let image = try folder.image(
        of: site, after: before, isConverting: isConverting, withoutNotesOf: erasedNotes)
      return (result, (image, product))
    }
    guard let (image, product) = image else {  // a dry run, or nothing was published yet
      if isDryRun, before == nil { removeTree(folder.site) }
      return result
    }
    // A list takes a request for each thousand objects, so only publications request it.
    if let before, makesSite { try await restoreLostObjects(of: before.image, folder, events) }
    if let before, image.hasSameFiles(as: before.image) {
      try folder.remember(before)
      try await tidy(job, before, events)
      return result
    }
    let next = try SignedSiteImage(image, of: product, signedBy: key)
    let uploadedByteCount = try await job.commit(next, after: base) { path in
      guard let file = image.files[path] else { preconditionFailure("the image has the file") }
      return .file(folder.place(of: path), byteCount: file.byteCount, digest: file.digest)
    } progress: { done, total in
      events(.upload(byteCount: done, totalByteCount: total))
    }
    events(.uploaded(byteCount: uploadedByteCount))
    marks?.remember(next, storage.identity)
    try folder.remember(next)
    try await tidy(job, next, events)
    return result
  }

  /// Runs the work. If it turns out to read content, repeats it with a copy that has the content.
  ///
  /// A version may need a segment that no manifest describes any more, because another kept version contains a chunk of it: its
  /// frame table is computed from its content.
  private func withContent<Result: Sendable>(
    of folder: WorkFolder, _ base: BucketJob.Base, _ events: @Sendable (SiteChangeEvent) -> Void,
    _ body: () async throws -> Result
  ) async throws -> Result {
    var content: Set<SegmentID> = []
    while true {
      do {
        return try await body()
      } catch let error as PackStoreError where error.code == .purged {
        guard let image = base.image?.image,
          case .segment(let missing)? = error.subject?.path.flatMap({ SitePath($0) }),
          content.insert(missing).inserted
        else { throw error }
        content.formUnion(image.tabledSegments.filter { image.files[.site(.frames($0))] == nil })
        let byteCount = try await folder.take(
          image, committed: nanoseconds(base.committed), from: storage, .publishing(content: content))
        events(.fetchedContent(byteCount: byteCount))
      }
    }
  }

  private func fetchContent(
    of versions: [PackVersion], _ folder: WorkFolder, _ base: BucketJob.Base,
    _ events: @Sendable (SiteChangeEvent) -> Void
  ) async throws {
    guard let image = base.image, !versions.isEmpty else { return }
    let segments = try folder.openSite(of: image.image).dataSegments(of: versions)
    let byteCount = try await folder.take(
      image.image, committed: nanoseconds(base.committed), from: storage, .publishing(content: segments))
    events(.fetchedContent(byteCount: byteCount))
    try folder.remember(image)
  }

  private func prepare(
    _ folder: WorkFolder, _ base: BucketJob.Base, _ events: @Sendable (SiteChangeEvent) -> Void
  ) async throws {
    let mirror = try folder.mirror()
    if let image = base.image {
      try requireNotBefore(mirror, image)
      if mirror?.image == image.digest, !isConverting { return }
    } else if let mirror {
      throw noLedger(mirror)
    }
    let byteCount = try await folder.take(
      base.image?.convertible, committed: nanoseconds(base.committed), from: storage,
      isConverting ? .everything : .publishing())
    events(.fetched(byteCount: byteCount))
    if let image = base.image, !isConverting { try folder.remember(image) }
  }

  /// Deletes unneeded objects. The site is already published: on an error, the next publication deletes the rest.
  private func tidy(
    _ job: BucketJob, _ image: SignedSiteImage, _ events: @Sendable (SiteChangeEvent) -> Void
  ) async throws {
    do {
      let count = try await job.deleteLoose(after: image)
      if count > 0 { events(.deleted(count: count)) }
    } catch let error as DeliveryError where error.code == .unreachable || error.code == .siteChanged {
    } catch let error as PackStoreError where error.code == .invalidArgument {}  // no room in the ledger
  }

  func mark(of image: SignedSiteImage) throws -> (mark: ImageMark, file: FilePath)? {
    let key = image.authority.firstKey
    guard let marks, let mark = try marks.mark(storage.identity, key) else { return nil }
    return (mark, marks.path(storage.identity, key))
  }

  /// Anyone with write access to the private prefix may restore an older ledger: this check detects that this machine has seen a
  /// later image.
  func requireNotBefore(_ seen: (mark: ImageMark, file: FilePath)?, _ image: SignedSiteImage) throws {
    guard let seen, let fault = seen.mark.fault(of: image) else { return }
    var error = PackStoreError(.stale, fault, file: location)
    error.specificRemedy =
      "find out who restored an older ledger, and restore its newest version; to continue from the older one, delete"
      + " '\(seen.file)'"
    throw error
  }

  /// Detects that the copy of the site in a folder is of a later image.
  private func requireNotBefore(_ mirror: WorkFolder.Mirror?, _ image: SignedSiteImage) throws {
    guard let mirror else { return }
    guard mirror.site == image.image.site else {
      var error = PackStoreError(.invalidArgument, "the work folder is a copy of another site", about: .site(location))
      error.specificRemedy = "use another work folder for this site"
      throw error
    }
    guard let fault = mirror.fault(of: image) else { return }
    var error = PackStoreError(.stale, fault, about: .site(location))
    error.specificRemedy =
      "find out who restored an older ledger; to continue from it, use another work folder"
    throw error
  }

  /// A reader has no key to compare with the image's key, but the served root has one.
  func requireSameKey(_ base: BucketJob.Base) throws {
    guard let image = base.image, let root = base.served[.live],
      let key = (try? SignedSiteRoot(decoding: root.bytes, file: location))?.authority?.firstKey,
      key != image.authority.firstKey
    else { return }
    var error = PackStoreError(
      .untrusted, "the ledger names an image that is signed by another key than the served root", file: location)
    error.specificRemedy = "restore the newest version of the ledger; find out who wrote this one"
    throw error
  }

  /// The folder may be the last copy of a site, so no new site replaces it.
  private func noLedger(_ mirror: WorkFolder.Mirror) -> PackStoreError {
    var error = PackStoreError(
      .stale, "the ledger is missing, but the work folder contains image \(mirror.number)", about: .site(location))
    error.specificRemedy =
      "check the prefix and the ledger's location; to create a new site there, use another work folder"
    return error
  }

  func requireRightClock() async throws {
    let lead = try await storage.now() - ServerClock.system()
    guard abs(lead) > Self.clockTolerance, !ignoresClock else { return }
    var error = PackStoreError(
      .invalidArgument,
      "this machine's clock is \(abs(lead)) seconds \(lead > 0 ? "behind" : "ahead of") the storage's clock",
      about: .site(location))
    error.specificRemedy = "correct the clock, because clients check the dates of roots"
    throw error
  }

  /// Tests change the clocks of their storages.
  var ignoresClock = false

  /// A storage that ignores conditions loses publications as soon as two publishers work at the same time; the first publication
  /// checks it.
  func requireSafeStorage() async throws {
    guard storage.needsCheck else { return }
    let result = try await BucketCheck(storage).examine()
    guard let finding = result.findings.first(where: { $0.isNeeded && $0.fault != nil }), let fault = finding.fault
    else { return }
    var error = PackStoreError(
      .refused, "the storage does not support publishing (\(finding.subject): \(fault))", about: .site(location))
    error.specificRemedy = finding.consequence
    throw error
  }

  /// A site copied to the bucket has no ledger, and its roots would be replaced by those of a new site. The root of a faster
  /// publisher has a ledger.
  func requireNoStranger(_ job: BucketJob) async throws {
    guard try await !job.servedRoots([.live]).isEmpty else { return }
    guard try await !job.ledgerHasSite() else { throw Ledger.Refusal.otherImage }
    var error = PackStoreError(
      .exists, "a copied site without a ledger exists there", about: .site(location))
    error.specificRemedy = "publish below another prefix, or continue to copy the folder of the site"
    throw error
  }

  func nanoseconds(_ seconds: Ledger.Time) -> Int64 {
    let (product, overflows) = seconds.multipliedReportingOverflow(by: 1_000_000_000)
    return overflows ? .max : product
  }
}

/// A ledger that was read, for the job that continues from it. Used once: after a conflict, the ledger is read again.
private final class CachedLedgerRead: Sendable {
  typealias Value = (job: BucketJob, ledger: Ledger)
  private let value = Mutex<Value?>(nil)

  func keep(_ value: Value) { self.value.withLock { $0 = value } }

  func take() -> Value? {
    value.withLock { value in
      defer { value = nil }
      return value
    }
  }
}

/// Distinguishes an object that another publisher deleted from a lost one, which is missing repeatedly.
struct LostObject {
  let location: String
  let clock: TransferClock
  private var key: ObjectKey?
  private var count = 0
  private static let countLimit = 4

  init(location: String, clock: TransferClock) {
    self.location = location
    self.clock = clock
  }

  /// - Throws: `corrupt` if it is lost.
  mutating func note(_ missing: MissingObject) async throws {
    count = missing.key == key ? count + 1 : 1
    key = missing.key
    guard count < Self.countLimit else {
      var error = PackStoreError(
        .corrupt, "an object that the site needs is missing in the storage", file: "\(location): \(missing.key)")
      error.specificRemedy =
        "put it back from a backup or an older version of the object, or publish to another prefix; check that no rule of the"
        + " bucket deletes objects"
      throw error
    }
    try await clock.sleep(.seconds(1))
  }
}
