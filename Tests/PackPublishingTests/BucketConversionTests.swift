import Foundation
import PackAuthoring
import PackDelivery
import PackStore
import Synchronization
import Testing

@testable import PackFormats
@testable import PackPublishing

/// A bucket with a site of the previous draft is converted; its publishers and its devices go on.
@Suite struct BucketConversionTests {
  private let folder: TemporaryFolder
  private let key = SiteKey()
  private let bucket = SimulatedBucket(seed: 1, faultRate: 0)
  private static let beta = (try? SiteChannel("beta")) ?? .live
  private static let options = Site.PublishOptions(level: 1, keptVersionCount: 2, deltaCount: 0, gracePeriod: .zero)

  init() throws { folder = try TemporaryFolder() }

  private func site(
    isConverting: Bool = false, in bucket: SimulatedBucket? = nil, work: String? = nil, killedAfter count: Int = .max
  ) -> BucketSite {
    let bucket = bucket ?? self.bucket
    let clock = TransferClock(
      now: { .seconds(bucket.time) }, sleep: { bucket.advance($0.components.seconds + 1) }, watch: { _ in },
      random: { 0 })
    var site = BucketSite(
      SimulatedStorage(bucket, killedAfter: count), workFolder: work.map { FilePath(folder.path($0)) },
      temporaryParent: FilePath(folder.path), clock: clock)
    site.ignoresClock = true
    site.isConverting = isConverting
    site.parallelCount = 1
    return site
  }

  private func publish(_ content: String, to channel: SiteChannel = .live) async throws {
    let store = try Store(at: FilePath(folder.path("store")))
    var install = Store.InstallOptions()
    install.label = try VersionLabel("1.\(content)")
    install.attributes = try Attributes(json: Array(#"{"platforms":["iOS"]}"#.utf8))
    try await store.install(
      folder: FilePath(folder.makeFolder("source", ["file": Data(content.utf8), "noise": noise(9000, seed: 1)])),
      as: "P",
      options: install)
    var options = Self.options
    options.channel = channel
    try await site().change(signedBy: key, makesSite: true) { [key, options] site in
      try await site.publish(from: store, signedBy: key, options: options)
    }
  }

  @discardableResult
  private func convert(_ site: BucketSite, by signer: SiteKey? = nil) async throws -> Site.RefreshResult {
    try await site.change(signedBy: signer ?? key) { [key] site in
      try await site.convert(signedBy: signer ?? key, options: Self.options)
    }
  }

  private func root(_ channel: SiteChannel, in bucket: SimulatedBucket? = nil) throws -> SiteRoot {
    let object = try #require((bucket ?? self.bucket).object(.file(.root(channel))))
    return try SignedSiteRoot(decoding: object.bytes, file: "root").root
  }

  /// Gives the ledger, its image and all files of the site the format of the previous draft.
  private func makePrevious(
    _ signers: [SiteChannel: (authority: [UInt8], seed: [UInt8])] = [:], isUnfinished: Bool = false
  ) throws {
    let own = (authority: try PreviousDraft.authority(of: key), seed: try PreviousDraft.seed(of: key))
    var ledger = try bucket.ledger
    let committed = try #require(ledger.committed)
    let copy = committed.copy?.bytes(of: committed.image, byteCount: committed.byteCount)
    let bytes = try #require(copy ?? bucket.object(.blob(committed.image))?.bytes)
    let image = try SignedSiteImage(decoding: bytes, file: "image").image
    var lines = ["packstore image 0 9", "site \(image.site)", "number \(image.number)", "before -"]
    func put(_ bytes: [UInt8], _ key: ObjectKey) { bucket.state.withLock { _ = $0.write(bytes, key, .always) } }
    for (path, file) in image.files.sorted(by: { "\($0.key)" < "\($1.key)" }) {
      let stored = try #require(file.content ?? SiteImage.key(path, file).flatMap { bucket.object($0)?.bytes })
      let next: [UInt8] =
        switch path {
        case .site(.root(let channel)):
          try PreviousDraft.root(
            root(channel), (signers[channel] ?? own).authority, seed: (signers[channel] ?? own).seed)
        case .numbers, .offered: PreviousDraft.text(stored)
        case .site(.frames), .site(.version), .site(.sheet): PreviousDraft.file(stored)
        default: stored
        }
      let retired = if case .since(let time)? = file.retired { "retired \(time)" } else { "file" }
      lines.append(
        file.content == nil
          ? "\(retired) \(next.count) \(Digest256(hashing: next).hex) \(path)"
          : "within \(Data(next).base64EncodedString()) \(path)")
      if file.content == nil, let key = SiteImage.key(path, file) {
        put(next, path.isPublic ? key : .blob(Digest256(hashing: next)))
      }
      if case .site(.root) = path { put(next, .file(try #require(SitePath("\(path)")))) }
    }
    lines.append("authority \(Data(own.authority).base64EncodedString())")
    let message = Array(lines.map { $0 + "\n" }.joined().utf8)
    let signature = try Ed25519.PrivateKey(seed: own.seed).signature(of: Array("packstore image\0".utf8) + message)
    let old = message + Array("signature \(Data(signature).base64EncodedString())\n".utf8)
    put(old, .blob(Digest256(hashing: old)))
    ledger.committed = .init(
      image: Digest256(hashing: old), byteCount: UInt64(old.count), time: committed.time, copy: nil)
    if isUnfinished {
      ledger.jobs[.random()] = .init(
        leaseEnd: 0, base: Digest256(hashing: old), proposal: .init(image: .zero, byteCount: 1), claims: [.blob(.zero)],
        intents: [:])
    }
    put(PreviousDraft.text(try ledger.encode()), .ledger)
    bucket.state.withLock { $0.faults = [] }
  }

  /// A bucket with the same objects.
  private func copyOfBucket() -> SimulatedBucket {
    let copy = SimulatedBucket(seed: 1, faultRate: 0)
    let objects = bucket.state.withLock { $0.objects }, tag = bucket.state.withLock { $0.lastTag }
    copy.state.withLock { ($0.objects, $0.lastTag, $0.time) = (objects, tag, bucket.time) }
    return copy
  }

  /// Checks that the roots have the same offers as before, and that a device can fetch every file.
  private func requireConverted(_ before: [SiteRoot], in bucket: SimulatedBucket? = nil) async throws {
    let bucket = bucket ?? self.bucket
    for old in before {
      let new = try root(old.channel, in: bucket)
      #expect(new.sequence > old.sequence && new.product == old.product && new.site == old.site)
      #expect(new.packs.map { $0.offers.map(\.catalog) } == old.packs.map { $0.offers.map(\.catalog) })
      #expect(new.packs.map { $0.offers.map(\.number) } == old.packs.map { $0.offers.map(\.number) })
      for pack in new.packs {
        for offer in pack.offers {
          #expect(offer.epoch > old.sequence && offer.epoch <= new.sequence)
          #expect(try #require(new.highest["P"]).epoch == offer.epoch)
          let bytes = try #require(bucket.object(.file(.version(offer.manifest)))?.bytes)
          for segment in try offer.openManifest(bytes, of: pack.id).segments {
            let table = try #require(bucket.object(.file(.frames(segment.id))))
            #expect(table.digest == segment.table && bucket.object(.file(.segment(segment.id))) != nil)
          }
        }
      }
    }
    #expect(bucket.state.withLock { $0.faults } == [])
    let committed = try #require(bucket.ledger.committed)
    let known = try SignedSiteImage(
      decoding: #require(bucket.object(.blob(committed.image))).bytes, file: "image")
    #expect(known.image.roots.count == before.count)
  }

  // MARK: - Tests

  @Test func aConvertedBucketKeepsItsOffers() async throws {
    for number in 1...3 { try await publish("\(number)") }
    try await publish("4", to: Self.beta)
    let before = try [root(.live), root(Self.beta)]
    try makePrevious()
    let error = await #expect(throws: PackStoreError.self) {
      try await site().change(signedBy: key) { [key] in try await $0.refresh(signedBy: key) }
    }
    #expect(error?.code == .otherDraft && error?.specificRemedy?.contains("--convert") == true)
    let result = try await convert(site(isConverting: true))
    #expect(result.channels.map(\.channel) == [Self.beta, .live])
    try await requireConverted(before)
    let labels = try await site().readVersions { site in
      let snapshot = try site.store.makeSnapshot()
      return try snapshot.versions(of: "P").map { try snapshot.attributes(of: $0).label?.description }
    }
    #expect(Set(labels).isSuperset(of: ["1.3", "1.4"]))
    try await publish("5")
    #expect(try root(.live).packs[0].offers.map(\.number) == [5])
    // A converted site is only signed again; nothing that a device needs is deleted.
    let last = try [root(.live), root(Self.beta)]
    bucket.advance(100_000)
    #expect(try await convert(site(isConverting: true)).channels.count == 2)
    #expect(try root(.live).packs == last[0].packs && root(.live).highest == last[0].highest)
    #expect(bucket.state.withLock { $0.faults } == [])
  }

  /// The numbers of withdrawn versions stay used.
  @Test func numbersOfWithdrawnVersionsRemain() async throws {
    try await publish("1")
    try await site().change(signedBy: key) { [key] site in
      try await site.unpublish(["P"], signedBy: key, fromAllChannels: true, options: Self.options)
    }
    try makePrevious()
    try await convert(site(isConverting: true))
    let other = try Store(at: FilePath(folder.path("other")))
    try await other.install(folder: FilePath(folder.makeFolder("source", ["file": Data("other".utf8)])), as: "P")
    let error = await #expect(throws: PackStoreError.self) {
      try await site().change(signedBy: key) { [key] in
        try await $0.publish(from: other, signedBy: key, options: Self.options)
      }
    }
    #expect(error?.code == .exists)
  }

  /// A conversion is killed after each second request; the next one continues.
  @Test func aKilledConversionContinues() async throws {
    for number in 1...2 { try await publish("\(number)") }
    try await publish("3", to: Self.beta)
    let before = try [root(.live), root(Self.beta)]
    try makePrevious()
    for count in stride(from: 0, through: .max, by: 2) {
      let copy = copyOfBucket()
      let work = count.isMultiple(of: 4) ? "work\(count)" : nil
      var isDone = true
      do {
        try await convert(site(isConverting: true, in: copy, work: work, killedAfter: count))
      } catch is JobWasKilled { isDone = false }
      // Also long after the lease of the killed job.
      if count.isMultiple(of: 6) { copy.advance(100_000) }
      try await convert(site(isConverting: true, in: copy, work: work))
      try await requireConverted(before, in: copy)
      guard !isDone else {
        #expect(count > 20)
        return
      }
    }
  }

  /// A publisher of the previous draft made its job ready: its roots may be written already.
  @Test func anIncompletePublicationIsRefused() async throws {
    try await publish("1")
    try makePrevious(isUnfinished: true)
    let objects = bucket.state.withLock { $0.objects.mapValues(\.digest) }
    let error = await #expect(throws: PackStoreError.self) { try await convert(site(isConverting: true)) }
    #expect(error?.code == .busy && error?.specificRemedy?.contains("earlier version") == true)
    #expect(bucket.state.withLock { $0.objects.mapValues(\.digest) } == objects)
  }

  @Test func anotherKeyConvertsNothing() async throws {
    try await publish("1")
    try makePrevious()
    let objects = bucket.state.withLock { $0.objects.mapValues(\.digest) }
    await #expect(throws: PackStoreError.self) { try await convert(site(isConverting: true), by: SiteKey()) }
    #expect(bucket.state.withLock { $0.objects.mapValues(\.digest) } == objects)
  }

  /// An attacker restores the ledger of the previous draft after the conversion.
  @Test func aRestoredLedgerIsRefused() async throws {
    try await publish("1")
    try makePrevious()
    let old = try #require(bucket.object(.ledger)?.bytes)
    try await convert(site(isConverting: true))
    try await publish("2")
    let roots = bucket.object(.file(.root(.live)))?.digest
    bucket.state.withLock { _ = $0.write(old, .ledger, .always) }
    let error = await #expect(throws: PackStoreError.self) { try await convert(site(isConverting: true)) }
    #expect(error?.code == .conflict && bucket.object(.file(.root(.live)))?.digest == roots)
  }

  /// A channel has a release key of its own: each key converts the channels that it may sign.
  @Test func eachKeyConvertsItsChannels() async throws {
    try await publish("1")
    try await publish("2", to: Self.beta)
    let before = try [root(.live), root(Self.beta)], own = SiteKey()
    let delegation = try PreviousDraft.delegation(by: key, to: own, serial: 5, channels: ["beta"])
    try makePrevious([Self.beta: ([0, 0, 0, 0] + delegation, PreviousDraft.seed(of: own))])
    let release = try own.delegated(
      by: key, serial: 9, madeAt: 0, endsAt: nil, product: .standard, channels: [Self.beta])
    let first = try await convert(site(isConverting: true))
    #expect(first.channels.map(\.channel) == [.live] && first.otherChannels == [Self.beta])
    let next = try await convert(site(isConverting: true), by: release)
    #expect(next.channels.map(\.channel) == [Self.beta] && next.otherChannels == [.live])
    try await requireConverted(before)
  }
}
