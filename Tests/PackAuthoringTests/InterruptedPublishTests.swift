import Foundation
import PackStore
import Synchronization
import Testing

@testable import PackAuthoring

/// Ends something at a certain step.
private final class Fuse: Sendable {
  enum Length { case steps(Int), upTo(String), endless }

  private let length: Length
  private let state = Mutex<(steps: Int, end: String?)>((0, nil))

  init(_ length: Length) { self.length = length }

  /// The step at which it ended.
  var end: String? { state.withLock { $0.end } }

  func burns(at step: String) -> Bool {
    state.withLock { state in
      defer { state.steps += 1 }
      let isEnd =
        switch length {
        case .steps(let count): state.steps == count
        case .upTo(let name): step == name
        case .endless: false
        }
      guard isEnd else { return false }
      state.end = step
      return true
    }
  }
}

/// A publisher that dies at any step leaves a site that is whole: as it was, or as it is to be.
@Suite struct InterruptedPublishTests {
  let folder: TemporaryFolder
  let store: Store
  let key = SiteKey()

  init() throws {
    folder = try TemporaryFolder()
    store = try folder.store()
  }

  private func install(_ change: UInt64, as pack: PackID = "P") async throws {
    try await store.install(folder: folder.makeFolder("source", sampleFiles(change)), as: pack)
  }

  /// Publishes until a certain step; says at which it ended, or nil when it came to its own end.
  private func publish(endingAt end: Fuse.Length = .endless) throws -> String? {
    var options = PublishOptions()
    options.level = 1
    options.deltaOptions.level = DeltaOptions.fastLevel
    options.keptVersionCount = 2
    var publication = Publication(
      site: try Site(at: folder.path("site")), source: store, key: key, options: options, progress: nil)
    let fuse = Fuse(end)
    publication.folder.checkpoint = { step throws(PackStoreError) in
      if fuse.burns(at: step) { throw PackStoreError(.cancelled, "the publisher died") }
    }
    do throws(PackStoreError) {
      _ = try publication.run(nil)
    } catch {
      guard fuse.end == nil else { return fuse.end }
      throw error
    }
    return nil
  }

  /// Tries every step, each from the same beginning; `before` and `after` are the versions that may show.
  private func tryEveryStep(before: [String: [UInt64]]?, after: [String: [UInt64]]) throws -> [String] {
    let files = FileManager.default
    let start = folder.path("start"), site = folder.path("site")
    if files.fileExists(atPath: site) { try files.copyItem(atPath: site, toPath: start) }
    var ends: [String] = []
    while true {
      try? files.removeItem(atPath: site)
      if files.fileExists(atPath: start) { try files.copyItem(atPath: start, toPath: site) }
      guard let end = try publish(endingAt: .steps(ends.count)) else { break }
      ends.append(end)
      let shown = files.fileExists(atPath: site + "/root") ? try ServedSite(folder, exactly: false).versions : nil
      #expect(shown == before || shown == after, "after '\(end)'")
      try checkRecovery(after, "after '\(end)'")
    }
    try checkRecovery(after, "undisturbed")
    return ends
  }

  private func checkRecovery(_ after: [String: [UInt64]], _ when: Comment) throws {
    #expect(try publish() == nil)
    let served = try ServedSite(folder)
    #expect(served.versions == after, when)
    #expect(try Store(at: folder.path("site"), options: .readOnly).read { try $0.verify(deep: true).isSound }, when)
    #expect(!FileManager.default.fileExists(atPath: folder.path("site/root.new")), when)
  }

  @Test func theFirstTime() async throws {
    try await install(0)
    let ends = try tryEveryStep(before: nil, after: ["P": [1]])
    #expect(ends.contains("committed") && ends.contains("rename root"))
  }

  @Test func anUpdateThatDropsAVersion() async throws {
    for change in 0..<2 as Range<UInt64> {
      try await install(change)
      _ = try publish()
    }
    try await install(2)
    try await install(5, as: "Q")
    let ends = try tryEveryStep(before: ["P": [2, 1]], after: ["P": [3, 2], "Q": [1]])
    #expect(ends.contains { $0.hasPrefix("remove versions/") } && ends.contains("collect"))
  }

  /// Two deaths in a row: a commit whose root was never written, and then another.
  @Test func againAndAgain() async throws {
    for change in 0..<2 as Range<UInt64> {
      try await install(change)
      _ = try publish()
    }
    for change in 2..<8 as Range<UInt64> {
      try await install(change)
      #expect(try publish(endingAt: .upTo("committed")) == "committed")
      _ = try ServedSite(folder, exactly: false)
    }
    try checkRecovery(["P": [8, 7]], "in the end")
  }

  @Test func aSiteThatLostItsFiles() async throws {
    try await install(0)
    _ = try publish()
    for name in ["frames", "versions", "deltas"] { try folder.remove("site/\(name)") }
    // Without its folders it is a store like any other.
    #expect(await failure { _ = try publish() } == .notAStore)
    try folder.makeFolder("site/versions", [:])
    try checkRecovery(["P": [1]], "made anew")
  }

  @Test func filesThatNobodyNames() async throws {
    try await install(0)
    _ = try publish()
    let before = folder.files("site")
    for name in ["frames/x", "versions/.new", "deltas/" + String(repeating: "0", count: 64), "root.new"] {
      try Data("stray".utf8).write(to: URL(fileURLWithPath: folder.path("site/\(name)")))
    }
    #expect(try publish() == nil)
    #expect(folder.files("site") == before)
  }
}
