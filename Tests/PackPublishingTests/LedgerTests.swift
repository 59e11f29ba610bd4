import Foundation
import PackFormats
import PackStore
import Testing

@testable import PackPublishing

/// The ledger alone: its text, and its allowed changes.
@Suite struct LedgerTests {
  private static func digest(_ text: String) -> Digest256 { Digest256(hashing: Array(text.utf8)) }
  private static func id(_ byte: UInt8) -> ID128 { ID128(copying: [UInt8](repeating: byte, count: 16)) }
  private static let times = ProtocolTimes()

  private static func job(_ image: String, base: String?, _ files: [String], leaseEnd: Int64 = 5_000) -> Ledger.Job {
    let blob = digest(image)
    return Ledger.Job(
      leaseEnd: leaseEnd, base: base.map(digest), proposal: .init(image: blob, byteCount: 10),
      claims: Set(files.map { .blob(digest($0)) } + [.blob(blob)]))
  }

  private static func full() throws -> Ledger {
    var ledger = Ledger()
    ledger.revision = 7
    ledger.nonce = id(9)
    ledger.committed = .init(image: digest("image"), byteCount: 10, time: 1_000)
    ledger.finished = [id(1), id(2)]
    ledger.loose = [.blob(digest("loose")): 12, .file(.version(digest("v"))): 0]
    ledger.deletions = [.file(.delta(digest("d"))): .init(job: id(3), closes: 99)]
    try ledger.claim(id(4), job("next", base: "image", ["a", "b"]), now: 1_000)
    try ledger.claim(id(5), job("other", base: "image", ["b", "c"]), now: 1_000)
    let intent = Ledger.Intent(root: digest("root"), byteCount: 4, tag: ObjectTag("\"e-t*a_g\""))
    _ = try ledger.makeReady(id(4), [.live: intent, try SiteChannel("beta"): .init(root: digest("r"), byteCount: 5)])
    return ledger
  }

  @Test func textIsReadAsItWasWritten() throws {
    for ledger in [Ledger(), try Self.full()] {
      let bytes = try ledger.encode()
      #expect(try Ledger(decoding: bytes, file: "ledger") == ledger)
    }
  }

  /// Each byte changed, each line left out, repeated or exchanged, each length: an error, or another text that is written as it
  /// was read.
  @Test func damagedTextIsRefusedOrMeansWhatItSays() throws {
    let bytes = try Self.full().encode()
    var refused = 0, total = 0
    func check(_ bytes: [UInt8]) throws {
      total += 1
      do {
        let ledger = try Ledger(decoding: bytes, file: "ledger")
        let sorted = { (bytes: [UInt8]) in
          bytes.split(separator: 10).map { String(decoding: $0, as: UTF8.self) }.sorted()
        }
        #expect(sorted(try ledger.encode()).map { $0.lowercased() } == sorted(bytes).map { $0.lowercased() })
      } catch let error as PackStoreError {
        #expect([.corrupt, .otherDraft, .newerFormat].contains(error.code))
        refused += 1
      }
    }
    for index in bytes.indices {
      var changed = bytes
      changed[index] ^= 1 << UInt8(index % 7)
      try check(changed)
      if index < bytes.count { try check(Array(bytes[..<index])) }
    }
    let lines = bytes.split(separator: 10).map(Array.init)
    for index in lines.indices {
      var rest = lines
      rest.remove(at: index)
      try check(rest.flatMap { $0 + [10] })
      rest = lines
      rest.insert(lines[index], at: index)
      try check(rest.flatMap { $0 + [10] })
    }
    #expect(refused > total / 3)
  }

  @Test func onlyKeysOfTheProtocolAreKeys() {
    for text in [
      "", "ledger", "root", "roots/beta", "blobs/../ledger", "blobs/", "segments/../../x", "/blobs/00", "CONTROL",
    ] {
      #expect(ObjectKey(text) == nil, "\(text)")
    }
    let digest = Self.digest("x")
    #expect(ObjectKey("blobs/\(digest.hex)") == .blob(digest))
    #expect(ObjectKey("blobs/\(digest.hex.uppercased())") == nil)
    #expect(ObjectKey("versions/\(digest.hex)") == .file(.version(digest)))
  }

  /// A copy of the image is there between two publications, and counts only where it is of that image.
  @Test func anImageIsWithin() throws {
    let image = Array(String(repeating: "file 7 \(Self.digest("a").hex) index/a\n", count: 400).utf8)
    let digest = Digest256(hashing: image), copy = try #require(ImageCopy(of: image))
    #expect(copy.deflated.count * 10 < image.count)
    var ledger = try Self.full()
    ledger.jobs[Self.id(4)]?.proposal = .init(image: digest, byteCount: UInt64(image.count))
    ledger.jobs[Self.id(4)]?.claims.insert(.blob(digest))
    ledger.finish(Self.id(4), dropped: [], copy: copy, now: 2_000, times: Self.times)
    var read = try Ledger(decoding: try ledger.encode(), file: "ledger")
    let committed = try #require(read.committed)
    #expect(read == ledger && committed.copy?.bytes(of: digest, byteCount: committed.byteCount) == image)
    #expect(copy.bytes(of: Self.digest("other"), byteCount: committed.byteCount) == nil)
    for byteCount in [0, committed.byteCount - 1, committed.byteCount + 1, .max] {
      #expect(copy.bytes(of: digest, byteCount: byteCount) == nil)
    }
    for index in copy.deflated.indices {
      var damaged = copy.deflated
      damaged[index] ^= 4
      let bytes = ImageCopy(deflated: damaged)?.bytes(of: digest, byteCount: committed.byteCount)
      #expect(bytes == nil || bytes == image)
    }
    try read.claim(Self.id(7), Self.job("x", base: nil, []).after(digest), now: 1_000)
    #expect(read.committed?.copy == nil && read.committed?.image == digest)
    let chance = (0..<ImageCopy.byteCountLimit + 1).map { _ in UInt8.random(in: 0 ... .max) }
    #expect(ImageCopy(of: chance) == nil && ImageCopy(of: []) == nil && ImageCopy(deflated: chance) == nil)
    let long = String(decoding: try ledger.encode(), as: UTF8.self)
      .replacing(
        "within \(Data(copy.deflated).base64EncodedString())", with: "within \(Data(chance).base64EncodedString())")
    #expect(throws: PackStoreError.self) { try Ledger(decoding: Array(long.utf8), file: "ledger") }
  }

  @Test func aJobNeedsTheCommittedImage() throws {
    var ledger = try Self.full()
    var other = ledger
    #expect(throws: Ledger.Refusal.otherImage, "another job is ready") {
      try other.claim(Self.id(6), Self.job("x", base: "image", []), now: 1_000)
    }
    ledger.finish(
      Self.id(4), dropped: [.blob(Self.digest("gone")), .blob(Self.digest("c"))], copy: nil, now: 2_000,
      times: Self.times)
    #expect(ledger.committed?.image == Self.digest("next"))
    #expect(ledger.finished.last == Self.id(4))
    // What another job claims is not loose; the rest is, when no PUT of it can arrive any more.
    #expect(ledger.loose[.blob(Self.digest("c"))] == nil)
    #expect(ledger.loose[.blob(Self.digest("gone"))] == 2_000 + Self.times.requestLife)
    other = ledger
    #expect(throws: Ledger.Refusal.otherImage) { _ = try other.makeReady(Self.id(5), [:]) }
    let isOurs = try ledger.makeReady(Self.id(4), [:])
    #expect(!isOurs, "it was completed")
    #expect(throws: Ledger.Refusal.freed) { _ = try other.makeReady(Self.id(7), [:]) }
  }

  @Test func whatIsBeingDeletedIsNotClaimedBeforeItIsOver() throws {
    var ledger = Ledger()
    let key = ObjectKey.blob(Self.digest("a"))
    ledger.loose[key] = 100
    func begins(_ job: UInt8, _ now: Int64) -> Bool {
      ledger.beginDeletions(by: Self.id(job), now: now, times: Self.times)
    }
    let isEarly = begins(1, 100), isDue = begins(1, 101)
    #expect(!isEarly && isDue)
    let closes = 101 + Self.times.deletion
    #expect(ledger.loose.isEmpty)
    var other = ledger
    #expect(throws: Ledger.Refusal.beingDeleted(key, until: closes)) {
      try other.claim(Self.id(2), Self.job("next", base: nil, ["a"]), now: closes)
    }
    // Another job may go on with it then, and its own confirmation takes nothing from that.
    let isTaken = begins(3, closes), isLeft = begins(3, closes + 1)
    #expect(!isTaken && isLeft)
    ledger.endDeletions(by: Self.id(1), [key])
    #expect(ledger.deletions[key]?.job == Self.id(3))
    try ledger.claim(
      Self.id(2), Self.job("next", base: nil, ["a"], leaseEnd: 1 << 30), now: closes + 2 + Self.times.deletion)
    #expect(ledger.deletions.isEmpty)
  }

  @Test func aDeadJobIsFreed() throws {
    var ledger = try Self.full()
    #expect(ledger.lapsedJobs(now: 5_000).isEmpty)
    #expect(ledger.lapsedJobs(now: 5_001) == [Self.id(5)], "one that is ready is completed, never freed")
    ledger.free(Self.id(4), needed: [], from: 0)
    #expect(ledger.jobs[Self.id(4)] != nil)
    ledger.free(Self.id(5), needed: [.blob(Self.digest("other"))], from: 0)
    #expect(ledger.jobs[Self.id(5)] == nil)
    #expect(ledger.loose[.blob(Self.digest("c"))] == 0)
    #expect(ledger.loose[.blob(Self.digest("b"))] == nil, "another job claims it")
    #expect(ledger.loose[.blob(Self.digest("other"))] == nil, "the image needs it")
  }
}

extension Ledger.Job {
  fileprivate func after(_ base: Digest256) -> Self {
    var job = self
    job.base = base
    return job
  }
}
