import Foundation
import PackAuthoring
import PackStore
import Testing

@testable import PackFormats
@testable import PackPublishing

/// A publication refuses to continue from a root that is older than its key has signed.
@Suite struct RootMarksTests {
  private let folder: TemporaryFolder
  private let key = SiteKey()

  init() throws { folder = try TemporaryFolder() }

  private var path: String { folder.path }

  private func publish(_ content: String) async throws {
    let source = try FilePath(folder.makeFolder("source", ["file": Data(content.utf8)]))
    let store = try Store(at: FilePath("\(path)/store"))
    try await store.install(folder: source, as: "P")
    try await Site(at: FilePath("\(path)/site")).publish(
      from: store, signedBy: key, options: Site.PublishOptions(deltaCount: 0))
  }

  private func root(_ place: String = "site") throws -> SiteRoot {
    let bytes = try InputFile("root", in: FilePath("\(path)/\(place)")).contents(limit: SiteRoot.byteCountLimit)
    return try SignedSiteRoot(decoding: bytes, file: "root").root
  }

  /// Continues from the site, and refreshes its roots.
  private func continued(
    to name: String, by signer: SiteKey? = nil, _ adjust: (inout RemoteSiteContinuation.Options) -> Void = { _ in }
  ) async throws -> RemoteSiteContinuation {
    var options = RemoteSiteContinuation.Options()
    adjust(&options)
    let site = RemoteSiteContinuation(
      FilePath("\(path)/\(name)"), from: RemoteSiteLocation("\(path)/site"), options: options)
    let key = signer ?? key
    do {
      _ = try await site.change(signedBy: key, makesSite: false, isDryRun: false, events: { _ in }, reading: nil) {
        try await $0.refresh(signedBy: key)
      }
      try site.finish()
    } catch {
      site.discard()
      throw error
    }
    return site
  }

  /// Copies the root of a publication to the site.
  private func serve(_ name: String) throws {
    try Data(contentsOf: URL(fileURLWithPath: "\(path)/\(name)/root")).write(
      to: URL(fileURLWithPath: "\(path)/site/root"))
  }

  private func code(_ body: () async throws -> Void) async -> PackStoreError.Code? {
    do { try await body() } catch { return (error as? PackStoreError)?.code }
    return nil
  }

  @Test func olderRootsAreRefused() async throws {
    try await publish("one")
    let marks = FilePath("\(path)/key.marks")
    let first = try await continued(to: "first") { $0.marks = try? RootMarks(contentsOf: marks) }
    try first.marks.raise(in: marks)
    let signed = try root("first")
    #expect(try RootMarks(contentsOf: marks).newest(of: signed.site, .live)?.sequence == signed.sequence)
    // The server, or a cache before it, still has the root before: the publication was not copied there, or is hidden.
    let known = try RootMarks(contentsOf: marks)
    #expect(await code { _ = try await continued(to: "second") { $0.marks = known } } == .stale)
    #expect(!pathExists(FilePath("\(path)/second")))
    // The job gives the number itself.
    let served = try root().sequence
    #expect(await code { _ = try await continued(to: "third") { $0.after = served + 1 } } == .stale)
    let third = try await continued(to: "third") { ($0.after, $0.marks) = (served, known) }
    #expect(third.predecessors.map(\.sequence) == [served])
    #expect(try RemoteSitePredecessor(in: FilePath("\(path)/third")).isMarked)
    #expect(try !RemoteSitePredecessor(in: FilePath("\(path)/first")).isMarked)
  }

  /// A check cannot call it safe to copy roots if nothing proves that the served ones are the newest.
  @Test func checksWithoutMarkAreNotSafe() async throws {
    try await publish("one")
    _ = try await continued(to: "first")
    let source = RemoteSiteLocation("\(path)/site")
    #expect(try await RemoteSiteCheck(FilePath("\(path)/first"), at: source).run() == .unmarked)
    let served = try root().sequence
    _ = try await continued(to: "second") { $0.after = served }
    #expect(try await RemoteSiteCheck(FilePath("\(path)/second"), at: source).run() == .unchanged)
  }

  /// A thief signed a very high number, and the owner revoked. Each later job needed `--after`, and a job for another channel an
  /// edited file.
  @Test(arguments: [SiteChannel.live, try? SiteChannel("beta")]) func revokedNumbersDoNotCount(channel: SiteChannel?)
    async throws
  {
    let channel = try #require(channel), marks = FilePath("\(path)/key.marks")
    func sign(_ serial: UInt64, revokesEarlier: Bool = false, _ sequence: UInt64? = nil) async throws -> SiteKey {
      let signer = try SiteKey().delegated(
        by: key, serial: serial, revokedBelow: revokesEarlier ? serial : 0, madeAt: 0, endsAt: nil, product: .standard,
        channels: [])
      try await Site(at: FilePath("\(path)/site")).refresh(signedBy: signer)
      guard let sequence else { return signer }
      var next = try root()
      next.sequence = sequence
      try Data(next.encode(signedBy: signer)).write(to: URL(fileURLWithPath: "\(path)/site/root"))
      return signer
    }
    /// The job of a channel, which reads the root of `live` as well.
    func work(_ name: String, _ signer: SiteKey) async throws {
      let known = try RootMarks(contentsOf: marks)
      let site = try await continued(to: name, by: signer) { ($0.channels, $0.marks) = ([channel], known) }
      try site.marks.raise(in: marks)
    }
    try await publish("one")
    try await work("thief", sign(7, .max - 9))
    let owner = try await sign(8, revokesEarlier: true)
    #expect(try root().sequence < 1 << 60)
    try await work("first", owner)
    try serve("first")
    try await work("second", owner)
    try serve("second")
    // Numbers count again from there, and the thief's root is older.
    let known = try RootMarks(contentsOf: marks)
    let newest = try #require(known.newest(of: root().site, .live))
    #expect(newest.revokedBelow == 8 && newest.sequence < 1 << 60)
    try serve("thief")
    #expect(await code { try await work("third", owner) } == .stale)
  }

  @Test func textIsReadAsItWasWritten() throws {
    var marks = RootMarks()
    let site = SiteID(ID128(copying: [UInt8](repeating: 7, count: 16)))
    let roots: [(String, UInt64, UInt64)] = [
      ("live", 9, 0), ("beta", 3, 2), ("live", 8, 0), ("beta", 4, 0), ("beta", 2, 2),
    ]
    for (channel, sequence, revoked) in roots {
      marks.raise(RootOrder(revokedBelow: revoked, sequence: sequence), of: site, try SiteChannel(channel))
    }
    #expect(marks.text == "packstore marks 1\nroot \(site) beta 3 2\nroot \(site) live 9\n")
    #expect(try RootMarks(decoding: Array(marks.text.utf8), file: "m") == marks)
    let line = "root \(site) live 9\n"
    for text in [
      "", "packstore marks 2\n", "packstore marks 1\n\(line)\(line)", "packstore marks 1\nroot x live 9\n",
      "packstore marks 1\nroot \(site) live 0\n", "packstore marks 1\nroot \(site) live 09\n",
      "packstore marks 1\nroot \(site) LIVE 9\n", "packstore marks 1\n\(line)more\n",
      "packstore marks 1\n\(line.dropLast())", "packstore marks 1\nroot \(site) live 9 0\n",
      "packstore marks 1\nroot \(site) live 9 01\n", "packstore marks 1\nroot \(site) live 9 1 1\n",
      "packstore marks 1\nroot \(site) live\n", "packstore marks 1\nroot \(site) live 9 \n",
    ] {
      #expect(throws: PackStoreError.self, "\(text)") { try RootMarks(decoding: Array(text.utf8), file: "m") }
    }
  }
}
