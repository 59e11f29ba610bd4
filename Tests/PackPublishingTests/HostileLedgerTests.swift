import Foundation
import PackAuthoring
import PackDelivery
import PackFormats
import PackStore
import Synchronization
import Testing

@testable import PackPublishing

/// Someone with write access to the private prefix alone rewrites the ledger. The images and roots are signed: publishers must not serve
/// an older root, delete a file that a served root leads to, or be locked out for longer than a lease.
@Suite struct HostileLedgerTests {
  private let folder: TemporaryFolder
  private let key = SiteKey()
  private let bucket = SimulatedBucket(seed: 1, faultRate: 0)
  private let times = ProtocolTimes()

  init() throws { folder = try TemporaryFolder() }

  private static let options = Site.PublishOptions(level: 1, keptVersionCount: 1, deltaCount: 0, gracePeriod: .zero)

  private func site(_ storage: (any ObjectStorage)? = nil, keepsMarks: Bool = false) -> BucketSite {
    let bucket = bucket
    let clock = TransferClock(
      now: { .seconds(bucket.time) }, sleep: { bucket.advance($0.components.seconds + 1) }, watch: { _ in },
      random: { 0 })
    var site = BucketSite(
      storage ?? SimulatedStorage(bucket), workFolder: nil, temporaryParent: FilePath(folder.path), clock: clock)
    site.ignoresClock = true
    site.parallelCount = 1
    if keepsMarks { site.marks = ImageMarks(folder: FilePath(folder.path("marks"))) }
    return site
  }

  private func publish(_ content: String, with other: SiteKey? = nil, to host: BucketSite? = nil) async throws {
    let key = other ?? key
    let store = try Store(at: FilePath(folder.path("store")))
    let source = try folder.makeFolder(
      "source", ["file": noise(3_000, seed: UInt64(content) ?? 0), "text": Data(content.utf8)])
    try await store.install(folder: FilePath(source), as: "P")
    try await (host ?? site()).change(signedBy: key, makesSite: true) { site in
      try await site.publish(from: store, signedBy: key, options: Self.options)
    }
  }

  private func image(_ ledger: Ledger) async throws -> SignedSiteImage {
    let digest = try #require(ledger.committed?.image)
    return try SignedSiteImage(decoding: try #require(bucket.object(.blob(digest))).bytes, file: "image")
  }

  private func write(_ ledger: Ledger) throws { put(try ledger.encode(), at: .ledger) }

  private func put(_ bytes: [UInt8], at key: ObjectKey) {
    bucket.state.withLock { _ = $0.write(bytes, key, .always) }
  }

  private func served(_ channel: SiteChannel = .live) throws -> SiteRoot {
    try SignedSiteRoot(decoding: try #require(bucket.object(.file(.root(channel)))).bytes, file: "root").root
  }

  /// All objects but the ledger.
  private var contents: [ObjectKey: Digest256] {
    bucket.state.withLock { $0.objects.filter { $0.key != .ledger }.mapValues(\.digest) }
  }

  private func expectWhole(_ comment: Comment = "") async throws {
    let image = try await image(try bucket.ledger)
    #expect(bucket.keys.isSuperset(of: image.keys), comment)
    let faults = bucket.state.withLock { state in
      state.checkRoots()
      return state.faults
    }
    #expect(faults.isEmpty, comment)
  }

  /// A site of three publications, all of whose images and roots an attacker has kept.
  private func history() async throws -> [(ledger: Ledger, objects: [ObjectKey: SimulatedBucket.Object])] {
    var states: [(Ledger, [ObjectKey: SimulatedBucket.Object])] = []
    for content in ["1", "2", "3"] {
      try await publish(content)
      states.append((try bucket.ledger, bucket.state.withLock { $0.objects }))
      bucket.advance(10_000)
    }
    return states
  }

  /// Puts back all blobs of earlier states, which an attacker has kept.
  private func restoreBlobs(_ states: [(ledger: Ledger, objects: [ObjectKey: SimulatedBucket.Object])]) {
    for state in states {
      for (key, object) in state.objects where key.space == .hidden && key != .ledger { put(object.bytes, at: key) }
    }
  }

  private func id(_ byte: UInt8) -> ID128 { ID128(copying: [UInt8](repeating: byte, count: 16)) }

  /// A job that makes an image the committed one, as a publisher would write it.
  private func readyJob(_ image: SignedSiteImage, base: SignedSiteImage?) -> Ledger.Job {
    let intents = image.image.roots.map { channel, root in
      (
        channel,
        Ledger.Intent(root: root.digest, byteCount: root.byteCount, tag: bucket.object(.file(.root(channel)))?.tag)
      )
    }
    return Ledger.Job(
      leaseEnd: bucket.time + 100, base: base?.digest,
      proposal: .init(image: image.digest, byteCount: UInt64(image.bytes.count)),
      claims: image.keys.subtracting(base?.keys ?? []).union([image.key]),
      intents: Dictionary(uniqueKeysWithValues: intents))
  }

  // MARK: - Older roots

  /// Once the publisher wrote the older root of such a job, and then deleted the newer files.
  @Test func readyJobOfAnOlderImageIsDiscarded() async throws {
    let states = try await history()
    restoreBlobs(states)
    let newest = try await image(states[2].ledger), before = try served()
    for index in [0, 1] {
      restoreBlobs(states)
      var ledger = try bucket.ledger
      let base = try await image(ledger)
      ledger.jobs[id(7)] = readyJob(try await image(states[index].ledger), base: base)
      try write(ledger)
      let events = Mutex<[String]>([])
      try await site().change(
        signedBy: key,
        events: { event in
          if case .discardedJob = event { events.withLock { $0.append("discarded") } }
        }
      ) { _ in }
      #expect(events.withLock { $0 } == ["discarded"])
      #expect(try served() == before && bucket.ledger.jobs.isEmpty)
      #expect(bucket.keys.isSuperset(of: newest.keys))
    }
    try await publish("4")
    #expect(try served().sequence > before.sequence)
    try await expectWhole()
  }

  /// The same without the job: image and ledger are as they were two publications before.
  @Test(arguments: [0, 1]) func olderLedgerStopsThePublisher(index: Int) async throws {
    let states = try await history()
    restoreBlobs(states)
    var ledger = states[index].ledger
    let newest = try await image(states[2].ledger)
    for file in newest.keys { ledger.loose[file] = 0 }
    try write(ledger)
    let before = bucket.state.withLock { $0.objects.mapValues(\.digest) }
    for isDryRun in [false, true] {
      let error = await #expect(throws: PackStoreError.self) {
        try await site().change(signedBy: key, isDryRun: isDryRun) { _ in }
      }
      #expect(error?.code == .conflict && error?.specificRemedy?.contains("restore the newest version") == true)
    }
    await #expect(throws: PackStoreError.self) { try await publish("4") }
    await #expect(throws: PackStoreError.self) { try await site().read { _ in } }
    #expect(bucket.state.withLock { $0.objects.mapValues(\.digest) } == before, "nothing changed")
  }

  /// No root differs between two images: only a mark shows that the ledger is older.
  @Test func olderLedgerIsFoundByTheMark() async throws {
    try await publish("1", to: site(keepsMarks: true))
    let older = try bucket.ledger, state = (ledger: older, objects: bucket.state.withLock { $0.objects })
    bucket.advance(10_000)
    try await publish("2", to: site(keepsMarks: true))
    restoreBlobs([state])
    put(try older.encode(), at: .ledger)
    put(try #require(state.objects[.file(.root(.live))]).bytes, at: .file(.root(.live)))
    let before = contents
    let error = await #expect(throws: PackStoreError.self) {
      try await site(keepsMarks: true).change(signedBy: key) { _ in }
    }
    #expect(
      error?.code == .stale && error?.reason.contains("image 2 was seen before") == true, "\(error?.reason ?? "")")
    #expect(error?.specificRemedy?.contains("marks/") == true)
    await #expect(throws: PackStoreError.self) { try await site(keepsMarks: true).read { _ in } }
    #expect(contents == before)
  }

  /// Two publishers prepared an image of one number, and the ledger names the image that was not committed.
  @Test func imageThatWasNeverCommittedIsRefused() async throws {
    try await publish("1")
    let first = try await image(try bucket.ledger)
    bucket.advance(10_000)
    try await publish("2", to: site(keepsMarks: true))
    let second = try await image(try bucket.ledger)
    var lost = second.image
    lost.files[.numbers] = .init(content: Array("another".utf8))
    let other = try SignedSiteImage(lost, of: first.authority.delegation.product, signedBy: key)
    put(other.bytes, at: other.key)
    var ledger = try bucket.ledger
    ledger.committed = .init(image: other.digest, byteCount: UInt64(other.bytes.count), time: bucket.time)
    try write(ledger)
    let error = await #expect(throws: PackStoreError.self) {
      try await site(keepsMarks: true).change(signedBy: key) { _ in }
    }
    #expect(error?.code == .stale)
  }

  // MARK: - Jobs that no publisher wrote

  /// A job of another key, one whose image does not exist or is too short, and one with another root or other claims.
  @Test(arguments: ["key", "missing", "length", "huge", "root", "claims", "base", "channel"])
  func readyJobThatNoPublisherWroteIsDiscarded(kind: String) async throws {
    try await publish("1")
    bucket.advance(10_000)
    let base = try await image(try bucket.ledger)
    var image = base.image
    image.number += 1
    image.before = base.digest
    let next = try SignedSiteImage(
      image, of: base.authority.delegation.product, signedBy: kind == "key" ? SiteKey() : key)
    if kind != "missing" { put(next.bytes, at: next.key) }
    var job = readyJob(next, base: base)
    job.intents = [:]
    switch kind {
    case "length": job.proposal.byteCount -= 1
    case "huge": job.proposal.byteCount = .max
    case "root": job.intents?[.live] = .init(root: Digest256(hashing: [1]), byteCount: 1)
    case "channel": job.intents?[try SiteChannel("beta")] = .init(root: Digest256(hashing: [1]), byteCount: 1)
    case "claims": job.claims.insert(.file(.delta(Digest256(hashing: [1]))))
    case "base": job.base = Digest256(hashing: [1])
    default: break
    }
    var ledger = try bucket.ledger
    ledger.jobs[id(7)] = job
    try write(ledger)
    let before = try served()
    try await site().change(signedBy: key) { _ in }
    #expect(try bucket.ledger.jobs.isEmpty && served() == before)
    #expect(try bucket.ledger.committed?.image == base.digest)
    try await publish("2")
    try await expectWhole("\(kind)")
  }

  /// A job that was freed, and whose files were deleted, is in the ledger again, as ready.
  @Test func readyJobWithoutItsFilesIsDiscarded() async throws {
    try await publish("1")
    bucket.advance(10_000)
    let base = try bucket.ledger, roots = contents.filter { $0.key.space == .shared && $0.key.path == "root" }
    let root = try #require(bucket.object(.file(.root(.live)))).bytes
    try await publish("2")
    let next = try await image(try bucket.ledger)
    var ledger = base
    ledger.jobs[id(7)] = readyJob(next, base: try await image(base))
    put(root, at: .file(.root(.live)))
    let lost = try #require(next.keys.first { $0.space == .shared && ledger.jobs[id(7)]?.claims.contains($0) == true })
    bucket.state.withLock { $0.objects[lost] = nil }
    try write(ledger)
    try await site().change(signedBy: key) { _ in }
    #expect(contents.filter { roots[$0.key] != nil } == roots)
    #expect(try bucket.ledger.jobs.isEmpty && bucket.ledger.committed?.image == base.committed?.image)
  }

  // MARK: - Deletions

  /// Once all of them were deleted.
  @Test func filesOfTheImageAreNeverDeleted() async throws {
    try await publish("1")
    bucket.advance(10_000)
    let image = try await image(try bucket.ledger), stray = ObjectKey.blob(Digest256(hashing: [9]))
    put([9], at: stray)
    var ledger = try bucket.ledger
    for (index, key) in image.keys.sorted().enumerated() {
      if index % 2 == 0 { ledger.loose[key] = 0 } else { ledger.deletions[key] = .init(job: id(3), closes: 0) }
    }
    ledger.loose[stray] = 0
    try write(ledger)
    try await site().change(signedBy: key) { _ in }
    #expect(bucket.keys.isSuperset(of: image.keys) && !bucket.keys.contains(stray))
    #expect(try bucket.ledger.loose.isEmpty && bucket.ledger.deletions.isEmpty)
    try await expectWhole()
  }

  /// A job that never existed claimed the files of the image, and its lease is over.
  @Test func claimsOfADeadJobAreNotDeletedIfTheImageNeedsThem() async throws {
    try await publish("1")
    bucket.advance(10_000)
    let image = try await image(try bucket.ledger)
    var ledger = try bucket.ledger
    ledger.jobs[id(7)] = Ledger.Job(
      leaseEnd: 0, base: image.digest, proposal: .init(image: image.digest, byteCount: 1), claims: image.keys)
    try write(ledger)
    for _ in 0..<2 {
      try await site().change(signedBy: key) { _ in }
      bucket.advance(10_000)
    }
    try await expectWhole()
  }

  /// A root that differs from the root of the image may lead to files that the image lacks.
  @Test func nothingIsDeletedWhileAnotherRootIsServed() async throws {
    let states = try await history()
    let root = try #require(states[1].objects[.file(.root(.live))])
    put(root.bytes, at: .file(.root(.live)))
    let stray = ObjectKey.blob(Digest256(hashing: [9]))
    put([9], at: stray)
    var ledger = try bucket.ledger
    ledger.loose[stray] = 0
    try write(ledger)
    try await site().change(signedBy: key) { _ in }
    #expect(bucket.keys.contains(stray))
    try await publish("4")
    #expect(!bucket.keys.contains(stray), "the served root is in the image again")
  }

  // MARK: - Times

  /// Once such jobs kept publishers out for 34,000 years.
  @Test(arguments: [Int64(1) << 40, 0, 1_700_100_000]) func leasesFarAheadDoNotStopPublishers(lease: Int64) async throws
  {
    try await publish("1")
    let image = try await image(try bucket.ledger)
    var ledger = try bucket.ledger
    for index in 0..<UInt8(Ledger.jobLimit) {
      let blob = Digest256(hashing: [index])
      ledger.jobs[id(index)] = Ledger.Job(
        leaseEnd: lease, base: image.digest, proposal: .init(image: blob, byteCount: 1), claims: [.blob(blob)])
    }
    try write(ledger)
    try await publish("2")
    #expect(try bucket.ledger.jobs.isEmpty)
    try await expectWhole()
  }

  @Test func otherTimesAreCapped() async throws {
    try await publish("1")
    let far = Int64(1) << 40
    var ledger = try bucket.ledger
    let first = ObjectKey.blob(Digest256(hashing: [1])), second = ObjectKey.blob(Digest256(hashing: [2]))
    ledger.loose[first] = far
    ledger.deletions[second] = .init(job: id(1), closes: far)
    ledger.committed?.time = far
    try write(ledger)
    try await site().change(signedBy: key) { _ in }
    ledger = try bucket.ledger
    #expect(try #require(ledger.loose[first]) <= bucket.time + times.lease)
    #expect(try #require(ledger.deletions[second]).closes <= bucket.time + times.deletion)
    #expect(try #require(ledger.committed).time <= bucket.time)
    bucket.advance(10_000)
    try await site().change(signedBy: key) { _ in }
    #expect(try bucket.ledger.loose.isEmpty && bucket.ledger.deletions.isEmpty)
  }

  @Test func negativeTimesAreRefused() async throws {
    try await publish("1")
    let text = String(decoding: try #require(bucket.object(.ledger)).bytes, as: UTF8.self)
    put(Array((text + "loose -1 blobs/\(Digest256(hashing: [1]).hex)\n").utf8), at: .ledger)
    let error = await #expect(throws: PackStoreError.self) { try await site().change(signedBy: key) { _ in } }
    #expect(error?.code == .corrupt)
  }

  // MARK: - Sizes, and a ledger that is lost

  /// Once a ledger of 59 MiB took 940 MB of memory.
  @Test func longLedgerIsRefusedUnread() async throws {
    try await publish("1")
    put([UInt8](repeating: 10, count: Ledger.byteCountLimit + 1), at: .ledger)
    let error = await #expect(throws: PackStoreError.self) { try await publish("2") }
    #expect(error?.code == .corrupt && error?.subject?.name == "simulation: ledger")
    #expect(
      error?.reason.contains("16") == true && error?.specificRemedy?.hasPrefix("restore an earlier version") == true)
  }

  /// A job deletes some of a long list, and leaves the rest to the next one.
  @Test func deletionsAreBounded() throws {
    var ledger = Ledger()
    for index in 0..<UInt32(25_000) {
      let bytes = withUnsafeBytes(of: index) { Array($0) }
      ledger.loose[.blob(Digest256(hashing: bytes))] = 0
    }
    let begins = ledger.beginDeletions(by: id(1), now: 10, times: times)
    #expect(begins && ledger.deletions(by: id(1)).count == Ledger.deletionLimit && ledger.loose.count == 15_000)
  }

  /// A job that could not be finished for want of room is not ready.
  @Test func claimsLeaveRoomToFinish() throws {
    var ledger = Ledger()
    let keys = (0..<UInt32(300_000)).map { index in
      ObjectKey.blob(Digest256(hashing: withUnsafeBytes(of: index) { Array($0) }))
    }
    let blob = Digest256(hashing: [1])
    let job = Ledger.Job(
      leaseEnd: 5_000, base: nil, proposal: .init(image: blob, byteCount: 1), claims: Set(keys + [.blob(blob)]))
    let error = #expect(throws: PackStoreError.self) {
      var next = ledger
      try next.claim(id(1), job, now: 0)
    }
    #expect(error?.code == .invalidArgument && error?.specificRemedy != nil)
    try ledger.claim(
      id(1), Ledger.Job(leaseEnd: 5_000, base: nil, proposal: job.proposal, claims: [.blob(blob)]), now: 0)
    #expect(throws: PackStoreError.self) { _ = try ledger.makeReady(id(1), [:], dropped: Set(keys)) }
  }

  /// Adds loose objects that no publisher stored to the ledger.
  ///
  /// - Returns: a site whose ledger has no room for a claim with them.
  private func fillLedger(_ count: UInt32 = 200, from time: Ledger.Time) throws -> BucketSite {
    var ledger = try bucket.ledger, byteCount = Ledger.fixedByteCount
    for index in 0..<count {
      let key = ObjectKey.blob(Digest256(hashing: withUnsafeBytes(of: index) { Array($0) }))
      ledger.loose[key] = time
      byteCount += key.path.utf8.count + Ledger.lineByteCount
    }
    try write(ledger)
    var site = site()
    site.claimByteCountLimit = byteCount
    return site
  }

  /// Once each publication with changes failed, and only a publication without changes freed the ledger.
  @Test func fullLedgerIsFreedByTheNextPublication() async throws {
    try await publish("1")
    bucket.advance(10_000)
    let site = try fillLedger(from: 0)
    try await publish("2", to: site)
    #expect(try bucket.ledger.loose.count < 20)
    try await expectWhole()
  }

  /// Objects that may not be deleted yet make no room: the error states the time.
  @Test func fullLedgerStatesWhenItIsFreed() async throws {
    try await publish("1")
    let site = try fillLedger(from: bucket.time + 600)
    let error = await #expect(throws: PackStoreError.self) { try await publish("2", to: site) }
    #expect(error?.code == .invalidArgument && error?.specificRemedy?.hasPrefix("publish again in ") == true)
    bucket.advance(10_000)
    try await publish("2", to: site)
    try await expectWhole()
  }

  @Test(arguments: ["empty", "truncated", "no image", "missing", "ready"])
  func lostLedgerMakesNoNewSite(kind: String) async throws {
    try await publish("1")
    bucket.advance(10_000)
    try await publish("2")
    let image = try await image(try bucket.ledger), bytes = try #require(bucket.object(.ledger)).bytes
    switch kind {
    case "empty": put([], at: .ledger)
    case "truncated": put(Array(bytes.prefix(bytes.count / 2)), at: .ledger)
    case "missing": bucket.state.withLock { $0.objects[.ledger] = nil }
    default:
      var ledger = Ledger()
      for key in image.keys { ledger.loose[key] = 0 }
      if kind == "ready" {
        ledger.loose = [:]
        ledger.jobs[id(7)] = readyJob(image, base: nil)
      }
      try write(ledger)
    }
    let before = bucket.state.withLock { $0.objects.mapValues(\.digest) }
    let error = await #expect(throws: PackStoreError.self) { try await publish("3") }
    #expect(error.map { [.corrupt, .exists].contains($0.code) } == true, "\(kind): \(String(describing: error))")
    #expect(bucket.state.withLock { $0.objects.mapValues(\.digest) } == before, "nothing changed")
  }

  /// A job that was changed after its claim is not ready: another publisher may have deleted its files.
  @Test func changedJobIsNotReady() throws {
    var ledger = Ledger()
    let blob = Digest256(hashing: [1])
    let job = Ledger.Job(
      leaseEnd: 5_000, base: nil, proposal: .init(image: blob, byteCount: 1),
      claims: [.blob(blob), .file(.delta(blob))])
    try ledger.claim(id(1), job, now: 0)
    var changed = ledger
    changed.jobs[id(1)]?.claims = [.blob(blob)]
    #expect(throws: Ledger.Refusal.freed) { _ = try changed.makeReady(id(1), [:], claimed: job) }
    let isReady = try ledger.makeReady(id(1), [:], claimed: job),
      isStill = try ledger.makeReady(id(1), [:], claimed: job)
    #expect(isReady && isStill)
  }

  /// Readers have no key: they refuse an image of another key than the key of the served root.
  @Test func readersCompareKeysWithTheServedRoot() async throws {
    try await publish("1")
    let image = try await image(try bucket.ledger)
    let other = try SignedSiteImage(image.image, of: image.authority.delegation.product, signedBy: SiteKey())
    put(other.bytes, at: other.key)
    var ledger = try bucket.ledger
    ledger.committed = .init(image: other.digest, byteCount: UInt64(other.bytes.count), time: bucket.time)
    try write(ledger)
    for isRead in [true, false] {
      let error = await #expect(throws: PackStoreError.self) {
        if isRead { try await site().read { _ in } } else { try await site().change(signedBy: key) { _ in } }
      }
      #expect(error?.code == .untrusted)
    }
  }

  /// A ledger that states early times does not end the grace period of retired files.
  @Test func committedTimeIsNotBeforeTheRoot() async throws {
    try await publish("1")
    var ledger = try bucket.ledger
    ledger.committed?.time = 0
    try write(ledger)
    let base = try await BucketJob(
      storage: SimulatedStorage(bucket),
      ledgerFile: LedgerFile(storage: SimulatedStorage(bucket), retry: .init(), clock: .system), times: times,
      id: .random(), parallelCount: 1
    ).begin(tidies: false) { _ in }
    #expect(base.committed == min(try served().madeAt / 1_000_000_000, bucket.time))
  }
}
