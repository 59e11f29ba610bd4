import PackFormats
import PackStore

extension Ledger {
  /// The maximum size of a ledger in bytes: a change of 200,000 files. Readers parse no more, because anyone with write access to
  /// the private prefix can write a ledger.
  package static let byteCountLimit = 16 << 20

  /// The most bytes of a ledger after a claim: the rest is for the deletions that follow.
  package static let claimByteCountLimit = byteCountLimit - (1 << 20)
  private static let title = "packstore ledger \(SiteFormat.current & 0xffff) \(SiteFormat.current >> 16)"

  /// - Throws: `invalidArgument` if it is too large.
  package func encode() throws -> [UInt8] {
    var lines = [Self.title, "revision \(revision)", "nonce \(nonce.hex)"]
    lines.append(
      committed.map { "image \($0.image.hex) \($0.byteCount) \($0.time)" } ?? "image - - 0")
    if let copy = committed?.copy { lines.append("within \(Data(copy.deflated).base64EncodedString())") }
    lines += finished.map { "done \($0.hex)" }
    lines += loose.sorted { $0.key < $1.key }.map { "loose \($0.value) \($0.key)" }
    lines += deletions.sorted { $0.key < $1.key }.map { "deleting \($0.value.closes) \($0.value.job.hex) \($0.key)" }
    for (id, job) in jobs.sorted(by: { $0.key.hex < $1.key.hex }) {
      let phase = job.isReady ? "ready" : "claimed"
      lines.append(
        "job \(id.hex) \(job.leaseEnd) \(phase) \(job.base?.hex ?? "-") \(job.proposal.image.hex) \(job.proposal.byteCount)"
      )
      lines += job.claims.sorted().map { "claim \($0)" }
      lines += (job.intents ?? [:]).sorted { $0.key < $1.key }.map {
        "intent \($0.key) \($0.value.byteCount) \($0.value.root.hex) \($0.value.tag?.text ?? "-")"
      }
    }
    let bytes = Array(lines.map { $0 + "\n" }.joined().utf8)
    guard bytes.count <= Self.byteCountLimit else { throw Self.tooLong() }
    return bytes
  }

  private static func tooLong() -> PackStoreError {
    var error = PackStoreError(.invalidArgument, "too many files for a ledger", detail: .limit)
    error.specificRemedy =
      "publish fewer packs at a time; if the ledger lists objects that no publisher stored, restore an earlier version of it"
    return error
  }

  /// The maximum size of a line, without its key.
  static let lineByteCount = 24, deletionByteCount = 64

  /// The maximum size of all lines without a key.
  static let fixedByteCount = (64 << 10) + 2 * ImageCopy.byteCountLimit

  /// Checks that the ledger can still be written when its jobs are finished: a ready job cannot be withdrawn.
  ///
  /// - Parameters:
  ///   - dropped: objects that become loose.
  ///   - limit: bytes of the ledger.
  /// - Throws: `invalidArgument`.
  func requireRoom(for dropped: Set<ObjectKey> = [], limit: Int) throws {
    var byteCount = Self.fixedByteCount
    func add(_ keys: some Sequence<ObjectKey>, _ lineByteCount: Int = Self.lineByteCount) {
      for key in keys { byteCount = byteCount.addingClamped(key.path.utf8.count + lineByteCount) }
    }
    add(loose.keys)
    add(deletions.keys, Self.deletionByteCount)
    add(dropped)
    for job in jobs.values { add(job.claims) }
    guard byteCount <= limit else { throw Self.tooLong() }
  }

  /// Decodes external bytes.
  ///
  /// - Parameter readsPreviousDraft: whether a ledger of the previous draft is decoded, for a conversion. Its lines are the same.
  /// - Throws: `corrupt`, `otherDraft`, `newerFormat`.
  package init(decoding bytes: [UInt8], file: String, readsPreviousDraft: Bool = false) throws {
    var lines = TextLines(bytes, file: file)
    guard bytes.count <= Self.byteCountLimit else { throw lines.damage() }
    let isOfPreviousDraft = try lines.title("packstore ledger", readsPreviousDraft: readsPreviousDraft)
    guard let revision = TextLines.number(try lines.value("revision")), revision < 1 << 62,
      let nonce = ID128(hex: try lines.value("nonce"))
    else { throw lines.damage() }
    self.revision = revision
    self.nonce = nonce
    committed = try Self.committed(&lines)
    while let words = lines.next(["done"]) {
      guard words.count == 2, let id = ID128(hex: words[1]), finished.count < Self.finishedLimit else {
        throw lines.damage()
      }
      finished.append(id)
    }
    while let words = lines.next(["loose"]) {
      guard words.count == 3, let time = Self.time(words[1]), let key = ObjectKey(words[2]), loose[key] == nil else {
        throw lines.damage()
      }
      loose[key] = time
    }
    while let words = lines.next(["deleting"]) {
      guard words.count == 4, let closes = Self.time(words[1]), let job = ID128(hex: words[2]),
        let key = ObjectKey(words[3]), deletions[key] == nil, loose[key] == nil
      else { throw lines.damage() }
      deletions[key] = Deletion(job: job, closes: closes)
    }
    while let words = lines.next(["job"]) {
      guard words.count == 7, let id = ID128(hex: words[1]), jobs[id] == nil, jobs.count < Self.jobLimit else {
        throw lines.damage()
      }
      jobs[id] = try Self.job(words, &lines)
    }
    try lines.end()
    try check(lines)
    guard !isOfPreviousDraft || readyJob == nil else { throw Self.unfinished(file) }
  }

  /// The roots of a job of the previous draft are written by the program that made them.
  private static func unfinished(_ file: String) -> PackStoreError {
    var error = PackStoreError(
      .busy, "a publication by an earlier version of this program is incomplete", file: file, detail: .otherWriter)
    error.specificRemedy = "complete it with any command of the earlier version that changes the site, then convert"
    return error
  }

  /// Checks the invariants about disjoint sets.
  private func check(_ lines: TextLines) throws {
    let claimed = jobs.values.reduce(into: Set<ObjectKey>()) { $0.formUnion($1.claims) }
    guard claimed.isDisjoint(with: loose.keys), claimed.isDisjoint(with: deletions.keys),
      jobs.values.count(where: \.isReady) <= 1
    else { throw lines.damage() }
  }

  private static func time(_ text: String) -> Time? {
    guard let time = Int64(text), (0...1 << 40).contains(time), "\(time)" == text else { return nil }
    return time
  }

  private static func committed(_ lines: inout TextLines) throws -> Committed? {
    let words = try lines.values("image", count: 3)
    if words == ["-", "-", "0"] { return nil }
    guard let image = Digest256(hex: words[0]), let byteCount = TextLines.number(words[1]), let time = time(words[2])
    else {
      throw lines.damage()
    }
    return Committed(image: image, byteCount: byteCount, time: time, copy: try copy(&lines))
  }

  private static func copy(_ lines: inout TextLines) throws -> ImageCopy? {
    guard let words = lines.next(["within"]) else { return nil }
    guard words.count == 2, let data = Data(base64Encoded: words[1]), data.base64EncodedString() == words[1],
      let copy = ImageCopy(deflated: Array(data))
    else { throw lines.damage() }
    return copy
  }

  private static func job(_ words: [String], _ lines: inout TextLines) throws -> Job {
    guard let end = time(words[2]), ["ready", "claimed"].contains(words[3]),
      let image = Digest256(hex: words[5]), let byteCount = TextLines.number(words[6]),
      words[4] == "-" || Digest256(hex: words[4]) != nil
    else { throw lines.damage() }
    var job = Job(
      leaseEnd: end, base: Digest256(hex: words[4]), proposal: Proposal(image: image, byteCount: byteCount), claims: [],
      intents: words[3] == "ready" ? [:] : nil)
    while let words = lines.next(["claim"]) {
      guard words.count == 2, let key = ObjectKey(words[1]), job.claims.insert(key).inserted else {
        throw lines.damage()
      }
    }
    while let words = lines.next(["intent"]) {
      guard job.isReady, words.count == 5, let channel = try? SiteChannel(words[1]), job.intents?[channel] == nil,
        let byteCount = TextLines.number(words[2]), let root = Digest256(hex: words[3]),
        words[4] == "-" || ObjectTag(words[4]) != nil
      else { throw lines.damage() }
      job.intents?[channel] = Intent(
        root: root, byteCount: byteCount, tag: words[4] == "-" ? nil : ObjectTag(words[4]))
    }
    guard job.claims.contains(.blob(image)) else { throw lines.damage() }
    return job
  }
}
