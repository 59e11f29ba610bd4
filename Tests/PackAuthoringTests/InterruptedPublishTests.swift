import Foundation
import PackFormats
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
    try await store.install(folder: FilePath(folder.makeFolder("source", sampleFiles(change))), as: pack)
  }

  /// Publishes until a certain step. Returns the last step, or `nil` if the publication finished.
  private func publish(endingAt end: Fuse.Length = .endless, grace: Duration = .zero, now: Int64? = nil) throws
    -> String?
  {
    var options = Site.PublishOptions()
    options.level = 1
    options.deltaOptions.level = Store.DeltaOptions.fastLevel
    options.keptVersionCount = 2
    options.gracePeriod = grace
    var publication = Publication(
      site: try Site(at: FilePath(folder.path("site"))), source: .store(store), key: key, options: options,
      progress: nil)
    if let now { publication.now = now }
    return try Self.end(end, of: publication.folder) { folder in
      var publication = publication
      publication.folder = folder
      _ = try publication.run(nil)
    }
  }

  private static let day: Int64 = 86_400 * 1_000_000_000

  /// Ends an operation at a certain step. Returns that step, or `nil` if the operation finished.
  private static func end(
    _ end: Fuse.Length, of folder: SiteFolder, _ body: (SiteFolder) throws -> Void
  ) throws -> String? {
    let fuse = Fuse(end)
    var folder = folder
    folder.checkpoint = { step in
      if fuse.burns(at: step) { throw CancellationError() }
    }
    do {
      try body(folder)
    } catch {
      guard fuse.end == nil else { return fuse.end }
      throw error
    }
    return nil
  }

  /// Tries every step, each from the same beginning; `before` and `after` are the versions that may show.
  private func tryEveryStep(
    before: [String: [UInt64]], after: [String: [UInt64]], act: ((Fuse.Length) throws -> String?)? = nil
  ) throws -> [String] {
    let act = act ?? { try publish(endingAt: $0) }
    let files = FileManager.default
    let start = folder.path("start"), site = folder.path("site")
    try? files.removeItem(atPath: start)
    if files.fileExists(atPath: site) { try files.copyItem(atPath: site, toPath: start) }
    var ends: [String] = []
    while true {
      try? files.removeItem(atPath: site)
      if files.fileExists(atPath: start) { try files.copyItem(atPath: start, toPath: site) }
      guard let end = try act(.steps(ends.count)) else { break }
      ends.append(end)
      let shown = files.fileExists(atPath: site + "/root") ? try RemoteSiteCopy(folder, exactly: false).versions : [:]
      #expect([before, after].map(Self.offered).contains(shown), "after '\(end)'")
      try checkRecovery(after, "after '\(end)'", act)
    }
    try checkRecovery(after, "undisturbed", act)
    return ends
  }

  /// The offered ones of the kept versions: the current ones.
  private static func offered(_ versions: [String: [UInt64]]) -> [String: [UInt64]] {
    versions.mapValues { Array($0.prefix(1)) }
  }

  private func checkRecovery(
    _ after: [String: [UInt64]], _ when: Comment, _ act: ((Fuse.Length) throws -> String?)? = nil
  ) throws {
    #expect(try (act ?? { try publish(endingAt: $0) })(.endless) == nil)
    let served = try RemoteSiteCopy(folder)
    #expect(served.versions == after, when)
    #expect(
      try Store(at: FilePath(folder.path("site")), options: .readOnly).read { try $0.verify(deep: true).isSound }, when)
    #expect(!FileManager.default.fileExists(atPath: folder.path("site/root.new")), when)
  }

  @Test func theFirstTime() async throws {
    try await install(0)
    let ends = try tryEveryStep(before: [:], after: ["P": [1]])
    #expect(ends.contains("committed") && ends.contains("rename root"))
  }

  @Test func anUpdateThatDropsAVersion() async throws {
    // Only the second version needs a new segment; the first one's segment has the common content.
    for change in 0..<3 as Range<UInt64> {
      try await install(change)
      _ = try publish()
    }
    try await install(3)
    try await install(5, as: "Q")
    let ends = try tryEveryStep(before: ["P": [3, 2]], after: ["P": [4, 3], "Q": [1]])
    #expect(ends.contains { $0.hasPrefix("remove versions/") } && ends.contains("collect"))
  }

  /// With a grace period, no file of the previous root is deleted, wherever the publisher dies; and overdue files are
  /// deleted.
  @Test func retiredFiles() async throws {
    try await install(0)
    _ = try publish(grace: .seconds(86_400), now: Self.day)
    try await install(1)
    _ = try publish(grace: .seconds(86_400), now: Self.day)
    try await install(2)
    _ = try publish(grace: .seconds(86_400), now: 2 * Self.day)
    let old = try RemoteSiteCopy(folder)
    try await install(3)
    let ends = try tryEveryStep(before: ["P": [3, 2]], after: ["P": [4, 3]]) {
      let end = try publish(endingAt: $0, grace: .seconds(86_400), now: 5 * Self.day)
      let names = Set(folder.files("site").keys)
      #expect(names.isSuperset(of: old.files), "after '\(end ?? "all")'")
      return end
    }
    #expect(ends.contains("write retired"))
    let due = try tryEveryStep(before: ["P": [4, 3]], after: ["P": [4, 3]]) {
      try publish(endingAt: $0, grace: .seconds(86_400), now: 9 * Self.day)
    }
    #expect(due.contains { $0.hasPrefix("remove versions/") } && due.contains("collect"))
    let segments = folder.files("site").keys.filter { $0.hasPrefix("segments/") }
    #expect(try Set(segments).isSubset(of: RemoteSiteCopy(folder).files))
  }

  @Test func unpublishing() async throws {
    try await install(0)
    try await install(5, as: "Q")
    _ = try publish()
    let files = FileManager.default
    for grace: Duration in [.zero, .seconds(86_400)] {
      let ends = try tryEveryStep(before: ["P": [1], "Q": [1]], after: ["P": [1]]) { end in
        var options = Site.PublishOptions()
        options.gracePeriod = grace
        let site = try Site(existingAt: FilePath(folder.path("site")))
        return try Self.end(end, of: site.folder) { folder in
          guard try folder.readRoot()?.root.packs.contains(where: { $0.id == "Q" }) == true else {
            _ = try Publication(site: site, source: .store(store), key: key, options: options, progress: nil).run([
              .init("P")
            ])
            return
          }
          var change = Unpublication(site: site, key: key, options: options)
          change.folder = folder
          _ = try change.run(["Q"])
        }
      }
      #expect(ends.contains("commit") && ends.contains("committed") && ends.contains("rename root"))
      try files.removeItem(atPath: folder.path("site"))
      try files.moveItem(atPath: folder.path("start"), toPath: folder.path("site"))
    }
  }

  /// A segment, a frame table and a manifest are damaged: whenever the repair ends, no more than these is.
  @Test func repairing() async throws {
    try await install(0)
    try await install(5, as: "Q")
    _ = try publish()
    let before = folder.files("site")
    let served = try RemoteSiteCopy(folder)
    let site = folder.path("site")
    var damaged: Set<String> = []
    for prefix in ["segments/", "frames/", "versions/"] {
      let name = try #require(served.files.sorted().first { $0.hasPrefix(prefix) })
      var bytes = try #require(before[name])
      for index in 100..<140 where index < bytes.count { bytes[index] ^= 0xff }
      try bytes.write(to: URL(fileURLWithPath: "\(site)/\(name)"))
      damaged.insert(name)
    }
    let start = folder.path("start"), files = FileManager.default
    try files.copyItem(atPath: site, toPath: start)
    var ends: [String] = []
    while true {
      try files.removeItem(atPath: site)
      try files.copyItem(atPath: start, toPath: site)
      var repair = SiteRepair(of: FilePath(site), from: [FilePath(store.path.string)], options: .init(), progress: nil)
      let end = try Self.end(.steps(ends.count), of: repair.folder) { folder in
        repair.folder = folder
        _ = try repair.run(signedBy: key)
      }
      guard let end else { break }
      ends.append(end)
      let root = try #require(try SiteFolder(path: FilePath(site)).readRoot()?.root)
      let now = folder.files("site")
      for name in try root.files(in: SiteFolder(path: FilePath(site))).keys.map(\.description)
      where !damaged.contains(name) {
        #expect(now[name] != nil && (before[name] == nil || now[name] == before[name]), "\(name) after '\(end)'")
      }
      repair.folder = SiteFolder(path: FilePath(site))
      _ = try repair.run(signedBy: key)
      #expect(try RemoteSiteCopy(folder).versions == ["P": [1], "Q": [1]], "after '\(end)'")
    }
    #expect(ends.contains("repaired") && ends.contains("rename root"))
    #expect(try RemoteSiteCopy(folder).versions == ["P": [1], "Q": [1]])
    #expect(try SiteRepair(of: FilePath(site), from: [], options: .init(), progress: nil).plan().wasWhole)
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
      _ = try RemoteSiteCopy(folder, exactly: false)
    }
    // Version 2 was offered before, and version 7 never was.
    try checkRecovery(["P": [8, 2]], "in the end")
  }

  @Test func aSiteThatLostItsFiles() async throws {
    try await install(0)
    _ = try publish()
    for name in ["frames", "versions", "deltas"] { try folder.remove("site/\(name)") }
    // The mark in the store records that it is a site.
    try checkRecovery(["P": [1]], "made again")
  }

  @Test func filesThatNoRootNames() async throws {
    try await install(0)
    _ = try publish()
    let before = folder.files("site")
    for name in ["frames/x", "versions/.new", "deltas/" + String(repeating: "0", count: 64), "root.new"] {
      try Data("stray".utf8).write(to: URL(fileURLWithPath: folder.path("site/\(name)")))
    }
    #expect(try publish() == nil)
    #expect(folder.files("site") == before)
  }

  /// Other programs, such as one to copy the site, may keep their files in folders of their own.
  @Test func foldersThatNoRootNames() async throws {
    try await install(0)
    _ = try publish()
    let own = [
      "versions/.rsync-partial/part", "frames/x/part", "deltas/" + String(repeating: "0", count: 64) + "/part",
    ]
    for name in own + ["root.new/part", "retired.new/part"] {
      let file = URL(fileURLWithPath: folder.path("site/\(name)"))
      try FileManager.default.createDirectory(at: file.deletingLastPathComponent(), withIntermediateDirectories: true)
      try Data("theirs".utf8).write(to: file)
    }
    #expect(try publish() == nil, "nothing is new, and nothing fails")
    for draft in ["root.new", "retired.new"] { try folder.remove("site/\(draft)") }
    try await install(1)
    #expect(try publish() == nil)
    #expect(folder.files("site").keys.count { own.contains($0) } == own.count)
    #expect(try RemoteSiteCopy(folder, exactly: false).versions == ["P": [2]])
  }

  // MARK: - Several channels

  /// Each operation on a channel is ended before each change of a file: all files of every root exist and are complete.
  @Test func severalChannels() async throws {
    let beta = try SiteChannel("beta")
    try await install(0)
    _ = try publish()
    try await install(1)
    let site = FilePath(folder.path("site"))
    var options = Site.PublishOptions(level: 1, keptVersionCount: 1, deltaCount: 1, gracePeriod: .zero)
    options.deltaOptions.level = Store.DeltaOptions.fastLevel
    func edit(_ channel: SiteChannel, _ folder: SiteFolder) throws -> ChannelEdit {
      var edit = ChannelEdit(of: channel, of: try Site(at: site), signedBy: key, options: options)
      edit.folder = folder
      return edit
    }
    func release(to channel: SiteChannel?, _ folder: SiteFolder) throws {
      var options = options
      options.channel = channel
      var publication = Publication(
        site: try Site(at: site), source: .store(store), key: key, options: options, progress: nil)
      publication.folder = folder
      _ = try publication.run(nil)
    }
    let acts: [(name: String, act: (SiteFolder) throws -> Void)] = [
      ("publish to beta", { try release(to: beta, $0) }),
      ("phase", { _ = try edit(.live, $0).promote("P", 2, .asBefore, DeviceShare("5%")) }),
      ("demote", { _ = try edit(.live, $0).demote("P", 2) }),
      ("promote", { _ = try edit(.live, $0).promote("P", 2) }),
      ("take back", { try release(to: .live, $0) }),
      ("close", { _ = try edit(beta, $0).close() }),
      (
        "unpublish",
        { folder in
          var change = Unpublication(site: try Site(at: site), key: key, isOfAll: true, options: options)
          change.folder = folder
          _ = try change.run(["P"])
        }
      ),
    ]
    for (name, act) in acts {
      if name == "take back" { try await install(2) }
      let ends = try tryEveryStep(name, act)
      #expect(ends.contains { $0.hasPrefix("rename root") }, "\(name): \(ends)")
    }
  }

  /// Ends an act at each of its steps, from the same beginning; then it is done.
  private func tryEveryStep(_ name: String, _ act: (SiteFolder) throws -> Void) throws -> [String] {
    let files = FileManager.default
    let start = folder.path("start"), site = folder.path("site")
    try? files.removeItem(atPath: start)
    try files.copyItem(atPath: site, toPath: start)
    var ends: [String] = []
    while true {
      try files.removeItem(atPath: site)
      try files.copyItem(atPath: start, toPath: site)
      guard let end = try Self.end(.steps(ends.count), of: SiteFolder(path: FilePath(site)), act) else { break }
      ends.append(end)
      for channel in try SiteFolder(path: FilePath(site)).channels() {
        _ = try RemoteSiteCopy(folder, channel: channel, exactly: false)
      }
      // Once more, to its end.
      do { try act(SiteFolder(path: FilePath(site))) } catch let error as PackStoreError {
        #expect([.notFound, .invalidArgument].contains(error.code), "\(name) after '\(end)': it was done already")
      }
      for channel in try SiteFolder(path: FilePath(site)).channels() {
        _ = try RemoteSiteCopy(folder, channel: channel)
      }
    }
    for channel in try SiteFolder(path: FilePath(site)).channels() { _ = try RemoteSiteCopy(folder, channel: channel) }
    return ends
  }
}
