import PackStore
import Testing

@testable import PackFormats

/// Records of the history of channels as bytes, and their chain.
@Suite struct ChangeRecordTests {
  private let key = SiteKey()

  private static let record = ChangeRecord(
    channel: try! SiteChannel("beta-2"), number: 3, madeAt: 1_700_000_000_000_000_000, sequence: 1_700_000_000_001,
    releaseKey: SitePublicKey([UInt8](repeating: 7, count: 32))!, predecessor: SiteFormatSamples.digest(1),
    before: SiteFormatSamples.digest(2), after: SiteFormatSamples.digest(3), privatePart: SiteFormatSamples.digest(4))

  // MARK: - One record

  /// A golden vector: another implementation must produce the same bytes.
  @Test func recordHasTheDocumentedBytes() throws {
    let bytes = Self.record.bytes
    #expect(bytes.count == 264 && Array(bytes.prefix(8)) == Array("PKSHIST0".utf8))
    #expect(bytes[16..<24].elementsEqual([3, 0, 0, 0, 0, 0, 0, 0]))
    #expect(bytes[24..<32].elementsEqual([0x00, 0x00, 0x2a, 0x36, 0xfe, 0x9c, 0x97, 0x17]))
    #expect(bytes[40..<72].allSatisfy { $0 == 7 })
    #expect(bytes[72..<104].elementsEqual(SiteFormatSamples.digest(1).bytes))
    #expect(bytes[168..<200].elementsEqual(SiteFormatSamples.digest(4).bytes))
    #expect(bytes[200..<207].elementsEqual(Array("beta-2".utf8) + [0]) && bytes[206...].allSatisfy { $0 == 0 })
    #expect(try ChangeRecord(decoding: bytes, file: "record") == Self.record)
    var first = Self.record
    (first.number, first.predecessor, first.before, first.privatePart) = (1, nil, nil, nil)
    #expect(try ChangeRecord(decoding: first.bytes, file: "record") == first)
  }

  @Test func invalidRecordsAreRefused() throws {
    let valid = Self.record.bytes
    var wrong = (0..<valid.count).map { Array(valid.prefix($0)) } + [valid + [0]]
    for offset in [0, 8, 12, 200, 206, 263] {
      var bytes = valid
      bytes[offset] ^= 0xff
      wrong.append(bytes)
    }
    for range in [16..<24, 32..<40, 40..<72, 72..<104, 136..<168, 200..<264] {
      var bytes = valid
      bytes.replaceSubrange(range, with: [UInt8](repeating: 0, count: range.count))
      wrong.append(bytes)
    }
    wrong.append(valid.putting(UInt64(1), at: 16))
    for bytes in wrong {
      #expect(throws: PackStoreError.self, "\(bytes)") { try ChangeRecord(decoding: bytes, file: "record") }
    }
  }

  // MARK: - The chain

  private struct Step {
    let bytes: [UInt8]
    let record: ChangeRecord
  }

  /// Roots of one channel, each linked to the one before it.
  private func history(_ count: Int, madeLater offset: Int64 = 0) throws -> [Step] {
    var steps: [Step] = []
    var previous: (root: SiteRoot, bytes: [UInt8])?
    for number in 1...count {
      var root = SiteFormatSamples.root
      root.sequence += UInt64(number)
      root.madeAt += Int64(number) + offset
      let record = try root.addToHistory(after: previous, signedBy: key, privatePart: nil)
      let bytes = try root.encode(signedBy: key)
      steps.append(Step(bytes: bytes, record: record))
      previous = (root, bytes)
    }
    return steps
  }

  private func chain(_ step: Step) throws -> ChangeChain {
    try ChangeChain(of: try SignedSiteRoot(decoding: step.bytes, file: "root"), step.bytes)
  }

  @Test func chainLeadsToTheFirstRecord() throws {
    let steps = try history(5)
    for (index, step) in steps.enumerated() {
      var chain = try chain(step)
      #expect(chain.nextNumber == UInt64(index + 1))
      for expected in steps[...index].reversed() {
        #expect(chain.next == expected.record.digest)
        #expect(try chain.add(expected.record.bytes) == expected.record)
      }
      #expect(chain.next == nil && chain.nextNumber == 0)
      #expect(throws: PackStoreError.self) { try chain.add(steps[0].record.bytes) }
    }
  }

  /// The digest does not cover the SHA-256 of the record, which covers the digest. It covers everything else.
  @Test func contentDigestCoversTheRootExceptItsHead() throws {
    let bytes = try history(2)[1].bytes, root = try SignedSiteRoot(decoding: bytes, file: "root").root
    let digest = try root.contentDigest(of: bytes)
    var zeroed = Array(bytes.dropLast(SiteKey.signatureByteCount))
    let head = try #require(try root.historyHead()?.record.bytes)
    let found = (0...zeroed.count - 32).first { zeroed[$0..<$0 + 32].elementsEqual(head) }, place = try #require(found)
    zeroed.replaceSubrange(place..<place + 32, with: [UInt8](repeating: 0, count: 32))
    #expect(digest == Digest256(hashing: zeroed))
    var changed = root
    changed.setHistoryHead(HistoryHead(number: 2, record: SiteFormatSamples.digest(9)))
    #expect(try changed.contentDigest(of: changed.encode(signedBy: key)) == digest)
    for next in [HistoryHead(number: 3, record: .zero), nil] {
      changed.setHistoryHead(next)
      #expect(try changed.contentDigest(of: changed.encode(signedBy: key)) != digest)
    }
    #expect(throws: PackStoreError.self) { try changed.contentDigest(of: bytes) }
    let plain = try SiteFormatSamples.root.encode(signedBy: nil)
    #expect(
      try SiteFormatSamples.root.contentDigest(of: plain)
        == Digest256(hashing: Array(plain.dropLast(SiteKey.signatureByteCount))))
  }

  @Test func alteredAndForeignRecordsAreRefused() throws {
    let steps = try history(3), others = try history(3, madeLater: 9)
    var chain = try chain(steps[2])
    for bytes in [others[2].record.bytes, steps[1].record.bytes, Array(steps[2].record.bytes.dropLast()), []] {
      #expect(throws: PackStoreError.self) { try chain.add(bytes) }
    }
    var altered = steps[2].record
    altered.madeAt += 1
    #expect(throws: PackStoreError.self) { try chain.add(altered.bytes) }
    _ = try chain.add(steps[2].record.bytes)
    #expect(throws: PackStoreError.self) { try chain.add(others[1].record.bytes) }
    _ = try chain.add(steps[1].record.bytes)
  }

  /// The publisher signs a link to a record that does not fit: readers notice it.
  @Test(arguments: 0..<6) func recordsThatDoNotFitTheRootAreRefused(fault: Int) throws {
    let steps = try history(2)
    var root = try SignedSiteRoot(decoding: steps[1].bytes, file: "root").root, record = steps[1].record
    switch fault {
    case 0: record.channel = try SiteChannel("other")
    case 1: record.sequence += 1
    case 2: record.madeAt += 1
    case 3: record.releaseKey = SiteKey().publicKey
    case 4: record.after = record.before ?? .zero
    default: record.number += 1
    }
    root.setHistoryHead(HistoryHead(number: 2, record: record.digest))
    let bytes = try root.encode(signedBy: key)
    var chain = try ChangeChain(of: try SignedSiteRoot(decoding: bytes, file: "root"), bytes)
    #expect(throws: PackStoreError.self) { try chain.add(record.bytes) }
  }

  /// A root of an earlier version has no history: the first record has its digest, and later roots continue.
  @Test func historyBeginsAfterARootWithoutOne() throws {
    let old = SiteFormatSamples.root, bytes = try old.encode(signedBy: key)
    #expect(try ChangeChain(of: SignedSiteRoot(decoding: bytes, file: "root"), bytes).next == nil)
    var next = old
    next.sequence += 1
    let record = try next.addToHistory(after: (old, bytes), signedBy: key, privatePart: nil)
    #expect(record.number == 1 && record.predecessor == nil)
    #expect(try record.before == old.contentDigest(of: bytes))
    // Other extensions stay, and a link that cannot be read begins a chain.
    for link in [[UInt8](repeating: 0, count: 40), [1], []] {
      var damaged = old
      damaged.otherExtensions = [.init(type: 0x10, bytes: [1]), .init(type: 0x11, bytes: link)]
      let bytes = try damaged.encode(signedBy: key)
      let signed = try SignedSiteRoot(decoding: bytes, file: "root")
      #expect(throws: PackStoreError.self) { try signed.root.historyHead() }
      var next = damaged
      #expect(try next.addToHistory(after: (damaged, bytes), signedBy: key, privatePart: nil).number == 1)
      #expect(next.otherExtensions.map(\.type) == [0x10, 0x11])
    }
  }

  // MARK: - Private parts

  @Test func notesAreReadAsTheyWereWritten() throws {
    for note in [
      ChangeNote(), ChangeNote(user: "robin", jobURL: "https://ci/1", commit: "3fa9c", note: "ein Wächter"),
      ChangeNote(commit: "1"), ChangeNote(note: String(repeating: "ä", count: 10_000)),
    ] {
      let sealed = SealedChangeNote(note)
      #expect(try SealedChangeNote(decoding: sealed.bytes, file: "note") == sealed && sealed.bytes.count <= 20_512)
      #expect(SealedChangeNote(note).digest != sealed.digest, "random bytes hide equal notes")
      for bytes in [[], Array(sealed.bytes.dropLast()), sealed.bytes + [10], sealed.bytes + Array("other x\n".utf8)] {
        #expect(throws: PackStoreError.self) { try SealedChangeNote(decoding: bytes, file: "note") }
      }
    }
  }

  @Test func notesHaveOneLineAndNoTokens() {
    let token = "eyJhbGciOiJSUzI1NiJ9.eyJzdWIiOiJyZXBvIn0.c2lnbmF0dXJl"
    let note = ChangeNote(user: "a\nb\u{1b}c", jobURL: "Bearer \(token)", commit: " \n ", note: "x=\(token) y")
    #expect(note.user == "a b c" && note.jobURL == "Bearer (token)" && note.commit == nil && note.note == "(token) y")
    #expect(ChangeNote(commit: "").isEmpty && !note.isEmpty)
  }
}
