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
    to name: String, _ adjust: (inout ContinuedSite.Options) -> Void = { _ in }
  ) async throws -> ContinuedSite {
    var options = ContinuedSite.Options()
    adjust(&options)
    let site = ContinuedSite(
      FilePath("\(path)/\(name)"), from: ServedSource("\(path)/site"), options: options)
    let key = key
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
    #expect(try RootMarks(contentsOf: marks).sequence(of: signed.site, .live) == signed.sequence)
    // The server, or a cache before it, still has the root before: the publication was not copied there, or is hidden.
    let known = try RootMarks(contentsOf: marks)
    #expect(await code { _ = try await continued(to: "second") { $0.marks = known } } == .stale)
    #expect(!pathExists(FilePath("\(path)/second")))
    // The job gives the number itself.
    let served = try root().sequence
    #expect(await code { _ = try await continued(to: "third") { $0.after = served + 1 } } == .stale)
    let third = try await continued(to: "third") { ($0.after, $0.marks) = (served, known) }
    #expect(third.predecessors.map(\.sequence) == [served])
    #expect(try Predecessor(in: FilePath("\(path)/third")).isMarked)
    #expect(try !Predecessor(in: FilePath("\(path)/first")).isMarked)
  }

  /// A check cannot call it safe to copy roots if nothing proves that the served ones are the newest.
  @Test func checksWithoutMarkAreNotSafe() async throws {
    try await publish("one")
    _ = try await continued(to: "first")
    let source = ServedSource("\(path)/site")
    #expect(try await ServedCheck(FilePath("\(path)/first"), at: source).run() == .unmarked)
    let served = try root().sequence
    _ = try await continued(to: "second") { $0.after = served }
    #expect(try await ServedCheck(FilePath("\(path)/second"), at: source).run() == .unchanged)
  }

  @Test func textIsReadAsItWasWritten() throws {
    var marks = RootMarks()
    let site = SiteID(ID128(copying: [UInt8](repeating: 7, count: 16)))
    for (channel, sequence) in [("live", 9), ("beta", 3), ("live", 8)] as [(String, UInt64)] {
      marks.raise(
        SiteRoot(
          sequence: sequence, madeAt: 0, expiresAfter: nil, site: site, product: .standard,
          channel: try SiteChannel(channel), packs: []))
    }
    #expect(marks.text == "packstore marks 1\nroot \(site) beta 3\nroot \(site) live 9\n")
    #expect(try RootMarks(decoding: Array(marks.text.utf8), file: "m") == marks)
    let line = "root \(site) live 9\n"
    for text in [
      "", "packstore marks 2\n", "packstore marks 1\n\(line)\(line)", "packstore marks 1\nroot x live 9\n",
      "packstore marks 1\nroot \(site) live 0\n", "packstore marks 1\nroot \(site) live 09\n",
      "packstore marks 1\nroot \(site) LIVE 9\n", "packstore marks 1\n\(line)more\n",
      "packstore marks 1\n\(line.dropLast())",
    ] {
      #expect(throws: PackStoreError.self, "\(text)") { try RootMarks(decoding: Array(text.utf8), file: "m") }
    }
  }
}
