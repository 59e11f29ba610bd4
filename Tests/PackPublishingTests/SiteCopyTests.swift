import Foundation
import PackAuthoring
import PackDelivery
import PackFormats
import PackStore
import Synchronization
import Testing

@testable import PackPublishing

/// Mirrors of sites.
@Suite struct SiteCopyTests {
  private let site: MovingSite
  private let bucket = SimulatedBucket(seed: 1, faultRate: 0)

  init() throws { site = try MovingSite() }

  private func copy(_ origin: SiteStatusReader.Place, to target: SiteStatusReader.Place) -> SiteCopy {
    var copy = SiteCopy(from: origin, to: target)
    copy.temporaryParent = FilePath(site.folder.path)
    return copy
  }

  private func bucketPlace(_ bucket: SimulatedBucket? = nil) -> SiteStatusReader.Place {
    let bucket = bucket ?? self.bucket
    return .bucket(bucket.makeSite(in: site.folder, ListingStorage(bucket)))
  }

  /// The mirror has the roots and the files of the roots, and its clients install the same versions.
  @Test func mirrorServesWhatTheSiteServes() async throws {
    let origin = try await site.make(), mirror = site.path("mirror")
    let result = try await copy(.folder(origin), to: .folder(mirror)).run()
    #expect(result.channels == [site.beta, .live] && result.copiedFileCount == result.fileCount)
    for channel in [SiteChannel.live, site.beta] {
      #expect(try site.root(mirror, channel).digest == site.root(origin, channel).digest)
    }
    let files = try site.files(mirror)
    let originals = try site.files(origin)
    #expect(files.count == result.fileCount && files.allSatisfy { originals[$0.key] == $0.value })
    #expect(files.keys.contains { $0.hasPrefix("deltas/") })
    #expect(try await site.serves(mirror))
    let store = try Store(at: site.path("device"))
    let pulled = try await store.pull(from: mirror.string)
    #expect(pulled.packs.map(\.to) == [3])
    let status = try await SiteStatusReader(.folder(mirror)).run()
    #expect(status.objects?.faults.isEmpty == true)
  }

  @Test func secondRunCopiesNothing() async throws {
    let origin = try await site.make(), mirror = site.path("mirror")
    try await copy(.folder(origin), to: .folder(mirror)).run()
    let again = try await copy(.folder(origin), to: .folder(mirror)).run()
    #expect(again.copiedFileCount == 0 && again.copiedByteCount == 0 && again.deletedFileCount == 0)
  }

  @Test func mirrorRefusesPublications() async throws {
    let origin = try await site.make(), mirror = site.path("mirror")
    try await copy(.folder(origin), to: .folder(mirror)).run()
    let error = await #expect(throws: PackStoreError.self) { try await site.publish("four", to: mirror) }
    #expect(error?.code == .refused && error?.reason.contains(origin.string) == true)
    #expect(throws: PackStoreError.self) { try Site(existingAt: mirror) }
    #expect(!FileManager.default.fileExists(atPath: "\(mirror)/CONTROL"))
  }

  /// A file that left the site stays for one more run, for clients that have the root before.
  @Test func filesThatLeftAreDeletedOneRunLater() async throws {
    let origin = try await site.make(), mirror = site.path("mirror")
    try await copy(.folder(origin), to: .folder(mirror)).run()
    let before = Set(try site.files(mirror).keys)
    try await site.publish("four", to: origin)
    let first = try await copy(.folder(origin), to: .folder(mirror)).run()
    #expect(first.copiedFileCount > 0 && first.deletedFileCount == 0)
    let kept = Set(try site.files(mirror).keys)
    #expect(before.isSubset(of: kept))
    let second = try await copy(.folder(origin), to: .folder(mirror)).run()
    let rest = try site.files(mirror)
    #expect(second.deletedFileCount > 0 && rest.count == second.fileCount)
    #expect(try await site.serves(mirror))
  }

  /// Folder to bucket to folder.
  @Test func mirrorOfAMirrorIsEqual() async throws {
    let origin = try await site.make(), last = site.path("last")
    try await copy(.folder(origin), to: bucketPlace()).run()
    let named = Set(bucket.keys.map(\.path))
    #expect(named.contains("root") && bucket.keys.allSatisfy { $0.space == .shared })
    #expect(bucket.state.withLock { $0.faults } == [])
    try await copy(bucketPlace(), to: .folder(last)).run()
    #expect(try site.root(last).digest == site.root(origin).digest)
    #expect(try await site.serves(last))
    try await site.publish("four", to: origin)
    for _ in 0..<2 { try await copy(.folder(origin), to: bucketPlace()).run() }
    #expect(try site.root(bucket).digest == site.root(origin).digest)
    #expect(bucket.state.withLock { $0.faults } == [])
    #expect(bucket.keys.count { $0.path.hasPrefix("versions/") } == 2, "objects that left are deleted")
    // A publication does not replace a mirror.
    let store = try await site.store("five")
    let key = site.key
    let error = await #expect(throws: PackStoreError.self) {
      try await bucket.makeSite(in: site.folder).change(signedBy: key, makesSite: true) { published in
        try await published.publish(from: store, signedBy: key)
      }
    }
    #expect(error?.code == .exists)
  }

  /// The copy ends at each of its steps. The mirror then serves, and the next run completes it.
  @Test func interruptedCopyContinues() async throws {
    let origin = try await site.make(), mirror = site.path("mirror")
    try await copy(.folder(origin), to: .folder(mirror)).run()
    try await site.publish("four", to: origin)
    var stepCount = 0
    while true {
      let rest = Mutex(stepCount)
      var interrupted = copy(.folder(origin), to: .folder(mirror))
      interrupted.checkpoint = { _ in
        let isOver = rest.withLock { rest in
          rest -= 1
          return rest < 0
        }
        if isOver { throw JobWasKilled() }
      }
      do { try await interrupted.run() } catch is JobWasKilled {
        #expect(try await site.serves(mirror), "after \(stepCount) steps")
        stepCount += 1
        continue
      }
      break
    }
    #expect(stepCount > 4)
    #expect(try site.root(mirror).digest == site.root(origin).digest)
  }

  @Test func damagedFileIsNotCopied() async throws {
    let origin = try await site.make(), mirror = site.path("mirror")
    for kind in ["segments", "versions", "deltas"] {
      let names = try site.files(origin).keys.filter { $0.hasPrefix(kind + "/") }.sorted()
      var refusedCount = 0
      for name in names {
        let url = URL(fileURLWithPath: "\(origin)/\(name)"), whole = try Data(contentsOf: url)
        var bent = whole
        bent[kind == "segments" ? 70 : whole.count / 2] ^= 1
        try bent.write(to: url)
        do {
          try await copy(.folder(origin), to: .folder(mirror)).run()
        } catch {
          refusedCount += 1
          #expect(!FileManager.default.fileExists(atPath: "\(mirror)/root"), "\(name)")
        }
        try whole.write(to: url)
        try? FileManager.default.removeItem(atPath: mirror.string)
      }
      #expect(refusedCount > 0, "\(kind)")
    }
  }

  @Test func olderSiteDoesNotReplaceAMirror() async throws {
    let origin = try await site.make(), mirror = site.path("mirror"), old = site.path("old")
    try FileManager.default.copyItem(atPath: origin.string, toPath: old.string)
    try await site.publish("four", to: origin)
    try await copy(.folder(origin), to: .folder(mirror)).run()
    let error = await #expect(throws: PackStoreError.self) { try await copy(.folder(old), to: .folder(mirror)).run() }
    #expect(error?.code == .stale)
    #expect(try site.root(mirror).digest == site.root(origin).digest)
  }

  @Test func otherPlacesAreNotOverwritten() async throws {
    let origin = try await site.make(), other = try MovingSite(), stranger = try await other.make()
    let folder = FilePath(try site.folder.makeFolder("full", ["file": Data([1])]))
    for place in [stranger, folder] {
      let error = await #expect(throws: PackStoreError.self) {
        try await copy(.folder(origin), to: .folder(place)).run()
      }
      #expect(error?.code == .exists)
    }
    let mirror = site.path("mirror")
    try await copy(.folder(origin), to: .folder(mirror)).run()
    let error = await #expect(throws: PackStoreError.self) {
      try await copy(.folder(stranger), to: .folder(mirror)).run()
    }
    #expect(error?.code == .untrusted)
    var trusting = copy(.folder(origin), to: .folder(mirror))
    trusting.trustedKey = other.key.publicKey
    await #expect(throws: PackStoreError.self) { try await trusting.run() }
  }

  /// A copy without frames has the numbers of versions that left.
  @Test func copyWithoutFramesKeepsNumbers() async throws {
    let origin = try await site.make(), small = site.path("small")
    try await Site(at: origin).unpublish(["P"], signedBy: site.key, fromAllChannels: true)
    let planned = try await Site.strip(origin, to: small, isDryRun: true)
    #expect(!FileManager.default.fileExists(atPath: small.string))
    #expect(try await Site.strip(origin, to: small) == planned)
    let other = try Store(at: site.path("other"))
    try await other.install(folder: FilePath(site.folder.makeFolder("source", ["other": Data([1])])), as: "P")
    let error = await #expect(throws: PackStoreError.self) {
      try await Site(at: small).publish(from: other, signedBy: site.key)
    }
    #expect(error?.code == .exists)
  }

  /// A copy without frames has the records of changes and their private parts; a mirror has only the records.
  @Test func copiesKeepTheHistory() async throws {
    let origin = try await site.make(), small = site.path("small"), mirror = site.path("mirror")
    try await Site(existingAt: origin).noting(ChangeNote(user: "robin")).refresh(signedBy: site.key)
    func names(_ folder: String, in place: FilePath) throws -> Set<String> {
      Set(try namesInFolder(place.appending(folder)))
    }
    let records = try names("history", in: origin), notes = try names("notes", in: origin)
    #expect(records.count > 2 && notes.count == 2, "of both channels")
    let planned = try await Site.strip(origin, to: small, isDryRun: true)
    #expect(try await Site.strip(origin, to: small) == planned)
    #expect(try names("history", in: small) == records)
    #expect(try names("notes", in: small) == notes)
    try await Site(existingAt: small).refresh(signedBy: site.key)
    #expect(try names("history", in: small).count == records.count + 2)
    try await copy(.folder(origin), to: .folder(mirror)).run()
    #expect(try names("history", in: mirror) == records)
    #expect(try names("notes", in: mirror).isEmpty)
  }

  /// A list replaces one request for each object.
  @Test func verificationListsABucket() async throws {
    let store = try await site.store("one")
    try await bucket.makeSite(in: site.folder).change(signedBy: site.key, makesSite: true) {
      [key = site.key] published in
      try await published.publish(from: store, signedBy: key)
    }
    func verify() async throws -> (SiteVerification.Result, requests: Int) {
      let before = bucket.state.withLock(\.requestCount)
      let result = try await SiteVerification(bucketPlace()).run()
      return (result, bucket.state.withLock(\.requestCount) - before)
    }
    let sound = try await verify()
    #expect(sound.0.isSound && sound.requests < sound.0.fileCount)
    let key = try #require(bucket.keys.first { $0.path.hasPrefix("segments/") })
    bucket.state.withLock { $0.objects[key] = nil }
    let lost = try await verify()
    #expect(lost.0.faults.map(\.path) == [key.path])
  }

  /// A publication reports missing objects, and uploads them again if it has their content.
  @Test func publicationRestoresLostObjects() async throws {
    let work = site.path("work")
    func publish(_ content: String) async throws -> [String] {
      let events = Mutex<[String]>([]), store = try await site.store(content)
      var place = bucket.makeSite(in: site.folder, ListingStorage(bucket))
      place = BucketSite(
        place.storage, workFolder: work, temporaryParent: FilePath(site.folder.path), clock: place.clock)
      place.ignoresClock = true
      try await place.change(signedBy: site.key, makesSite: true) { event in
        switch event {
        case .restored(let count): events.withLock { $0.append("restored \(count)") }
        case .missing(let paths): events.withLock { $0.append(contentsOf: paths) }
        default: break
        }
      } _: { [key = site.key] published in
        try await published.publish(from: store, signedBy: key, options: .init(level: 1, deltaCount: 0))
      }
      return events.withLock { $0 }
    }
    #expect(try await publish("one") == [])
    let lost = bucket.keys.filter { $0.path.hasPrefix("segments/") || $0.path.hasPrefix("versions/") }
    bucket.state.withLock { state in for key in lost { state.objects[key] = nil } }
    #expect(try await publish("two") == ["restored \(lost.count)"])
    #expect(lost.isSubset(of: bucket.keys))
    // Another machine has only the tables of data.
    try FileManager.default.removeItem(atPath: work.string)
    let sizes = bucket.state.withLock {
      $0.objects.filter { $0.key.path.hasPrefix("segments/") }.mapValues(\.bytes.count)
    }
    let data = try #require(sizes.max { $0.value < $1.value }?.key)
    bucket.state.withLock { $0.objects[data] = nil }
    #expect(try await publish("three") == [data.path])
  }
}
