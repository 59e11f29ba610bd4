import Foundation
import PackAuthoring
import PackDelivery
import PackStore
import Testing

@testable import ManagedPacks

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#endif

/// Groups of one user that store common data once.
@Suite struct SharedBaseTests {
  /// Two groups with one site, and the user's base.
  private final class Setup: Sendable {
    let folder = TestFolder()
    let publisher: SiteTests.Publisher
    let environment: [String: String]
    let base: SharedBase

    init() throws {
      umask(0o022)  // the agent and the base refuse files that others can change
      publisher = SiteTests.Publisher(folder: folder, name: "a")
      environment = ["XDG_DATA_HOME": folder.path.appending("data").string]
      base = try SharedBase(environment: environment)
    }

    func publish(_ packs: [PackID: [String: String]]) async throws {
      try await publisher.publish(packs.mapValues { Optional($0) })
    }

    func group(_ name: String) throws -> GroupFolder { try GroupFolder(folder.path.appending(name)) }

    func configuration(_ name: String) throws -> ManagedConfiguration {
      try folder.write(
        #"{"BAAppGroupID": "\#(name)", "BAManifestURL": "\#(publisher.site)", "CFBundleIdentifier": "app","#
          + #""PackStoreGroupFolder": "\#(folder.path)/\#(name)"}"#, to: "\(name).json")
      return try ManagedConfiguration(contentsOf: folder.path.appending("\(name).json"))
    }

    private var managerOptions: AssetPackManager.Options {
      var options = AssetPackManager.Options()
      options.environment = environment
      options.onFirstContact = { _, _ in }
      return options
    }

    /// Runs the group's agent until it has installed the packs.
    @discardableResult
    func runAgent(_ name: String, _ packs: PackID...) async throws -> [String] {
      let group = try group(name), log = Log()
      try JournalFile(in: group).register(configuration(name))
      try JournalFile(in: group).update { journal in
        for pack in packs { journal.requests[pack] = .init(urgency: .prefetch) }
      }
      var options = GroupAgent.Options()
      options.manager = managerOptions
      options.tell = { log.append("\($0.kind.rawValue) \($0.text)") }
      let summary = try await GroupAgent(of: group, options: options).runOnce()
      #expect(summary.failures == [:])
      return log.lines.filter { $0.hasPrefix("problem") }
    }

    /// An app that runs without an agent.
    func manager(_ name: String) throws -> AssetPackManager {
      try AssetPackManager(configuration: configuration(name), options: managerOptions)
    }

    /// The inodes of the data segments of a group's store, by name.
    func segments(_ name: String) throws -> [String: UInt64] {
      let path = try group(name).store
      let snapshot = try Store(at: path, options: .readOnly).makeSnapshot()
      let ids = try snapshot.packs.flatMap { try snapshot.segments(of: $0.version) }.filter { $0.kind == .data }.map(
        \.id)
      return try Dictionary(ids.map { ($0.description, try InputFile("segments/\($0)", in: path).inode) }) { first, _ in
        first
      }
    }

    var baseSegments: [String] { get throws { try namesInFolder(base.segments).sorted() } }

    func expectSound(_ name: String, _ files: [String: String], sourceLocation: SourceLocation = #_sourceLocation)
      throws
    {
      let store = try Store(at: group(name).store, options: .readOnly), snapshot = try store.makeSnapshot()
      #expect(try snapshot.verify(deep: true).faults.isEmpty, sourceLocation: sourceLocation)
      for (path, text) in files {
        #expect(try snapshot.contents(of: path) == Data(text.utf8), "\(path)", sourceLocation: sourceLocation)
      }
    }

    func share(_ names: String...) throws { for name in names { try base.add(group(name)) } }
  }

  /// Text that does not compress to nothing.
  private static func text(_ seed: UInt64, _ count: Int = 300_000) -> String {
    var state = seed
    return String(
      (0..<count).map { _ in
        state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
        return Character(Unicode.Scalar(UInt8(0x21 + (state >> 33) % 0x5e)))
      })
  }

  private let files = ["a.txt": Self.text(1), "b.txt": Self.text(2)]

  // MARK: - Use

  @Test(arguments: [false, true]) func secondGroupHasTheFilesOfTheFirst(byAnApp: Bool) async throws {
    let setup = try Setup()
    try await setup.publish(["P": files])
    try setup.share("one", "two")
    try await setup.runAgent("one", "P")
    if byAnApp {
      let manager = try setup.manager("two")
      try await manager.ensureLocalAvailability(of: manager.assetPack(withID: "P"))
    } else {
      #expect(try await setup.runAgent("two", "P") == [])
    }
    let segments = try setup.segments("one")
    #expect(try !segments.isEmpty && setup.segments("two") == segments)
    #expect(try setup.baseSegments == segments.keys.sorted())
    for group in ["one", "two"] { try setup.expectSound(group, files) }
  }

  @Test func packOfAnotherGroupIsNotFetched() async throws {
    let setup = try Setup()
    try await setup.publish(["P": files])
    try setup.share("one", "two")
    try await setup.runAgent("one", "P")
    let store = try Store(at: setup.group("two").store)
    var options = Store.PullOptions()
    options.findShared = try SharedBase.lookup(for: setup.group("two"), environment: setup.environment)
    let pulled = try await store.pull(from: setup.publisher.site.string, options: options).packs[0]
    #expect(pulled.outcome == .updated && pulled.frameByteCount == 0 && pulled.deltaByteCount == 0)
    try setup.expectSound("two", files)
  }

  /// A group that has an earlier version gets the new segments of the later one; a group without the pack starts from the version that
  /// another group has.
  @Test func updatesShareToo() async throws {
    let setup = try Setup()
    try await setup.publish(["P": files])
    try setup.share("one", "two", "three")
    for group in ["one", "two"] { try await setup.runAgent(group, "P") }
    let newer = files.merging(["c.txt": Self.text(3)]) { $1 }
    try await setup.publish(["P": newer])
    let third = try Store(at: setup.group("three").store)
    var options = Store.PullOptions()
    options.findShared = try SharedBase.lookup(for: setup.group("three"), environment: setup.environment)
    let pulled = try await third.pull(from: setup.publisher.site.string, options: options).packs[0]
    #expect((1..<400_000).contains(pulled.frameByteCount), "the new file alone")
    for group in ["one", "two"] { try await setup.runAgent(group, "P") }
    #expect(try setup.segments("one") == setup.segments("two"))
    for group in ["one", "two", "three"] { try setup.expectSound(group, newer) }
  }

  @Test func nothingIsSharedUnlessTheUserNamesGroups() async throws {
    let setup = try Setup()
    try await setup.publish(["P": files])
    for group in ["one", "two"] { try await setup.runAgent(group, "P") }
    #expect(!pathExists(setup.base.path))
    try setup.share("one")
    for group in ["one", "two"] { try await setup.runAgent(group, "P") }
    #expect(try setup.base.groups().map(\.folder) == [SharedBase.location(of: setup.group("one"))])
    #expect(try Set(setup.segments("one").values).isDisjoint(with: setup.segments("two").values))
  }

  /// Both groups installed the pack before the user named them.
  @Test func equalFilesBecomeOne() async throws {
    let setup = try Setup()
    try await setup.publish(["P": files])
    for group in ["one", "two"] { try await setup.runAgent(group, "P") }
    #expect(try Set(setup.segments("one").values).isDisjoint(with: setup.segments("two").values))
    try setup.share("one", "two")
    for group in ["one", "two"] { #expect(try await setup.runAgent(group, "P") == []) }
    #expect(try setup.segments("one") == setup.segments("two"))
    for group in ["one", "two"] { try setup.expectSound(group, files) }
  }

  // MARK: - The end of a part

  @Test func contentLeavesWithTheLastGroupThatNeedsIt() async throws {
    let setup = try Setup()
    try await setup.publish(["P": files, "Q": ["q.txt": Self.text(9)]])
    try setup.share("one", "two")
    try await setup.runAgent("one", "P", "Q")
    try await setup.runAgent("two", "P")
    let all = try setup.baseSegments
    #expect(try setup.base.drop(setup.group("one")))
    #expect(try setup.baseSegments == setup.segments("two").keys.sorted())
    #expect(try setup.baseSegments.count < all.count)
    #expect(try setup.base.drop(setup.group("two")))
    #expect(try setup.baseSegments == [])
    #expect(try !setup.base.drop(setup.group("two")))
    for group in ["one", "two"] { try setup.expectSound(group, files) }
  }

  @Test func removedPackLeavesTheBase() async throws {
    let setup = try Setup()
    try await setup.publish(["P": files])
    try setup.share("one")
    try await setup.runAgent("one", "P")
    try await setup.manager("one").remove(assetPackWithID: "P")
    try await setup.runAgent("one")
    #expect(try setup.baseSegments == [] && setup.base.groups().map(\.versions) == [[]])
  }

  @Test func groupWhoseFolderIsGoneIsDropped() async throws {
    let setup = try Setup()
    try await setup.publish(["P": files, "Q": ["q.txt": Self.text(9)]])
    try setup.share("one", "two")
    try await setup.runAgent("one", "P")
    try await setup.runAgent("two", "Q")
    removeTree(try setup.group("one").path)
    try await setup.runAgent("two", "Q", "P")
    #expect(try setup.base.groups().count == 1)
    #expect(try setup.baseSegments == setup.segments("two").keys.sorted())
    try setup.expectSound("two", files)
  }

  // MARK: - Harm to the base

  @Test func deletedBaseLosesNothing() async throws {
    let setup = try Setup()
    try await setup.publish(["P": files])
    try setup.share("one", "two")
    for group in ["one", "two"] { try await setup.runAgent(group, "P") }
    removeTree(setup.base.path)
    let newer = ["a.txt": Self.text(7)]
    for group in ["one", "two"] { try setup.expectSound(group, files) }
    try await setup.publish(["P": newer])
    for group in ["one", "two"] {
      #expect(try await setup.runAgent(group, "P") == [])
      try setup.expectSound(group, newer)
    }
    #expect(!pathExists(setup.base.path), "the user names the groups again")
  }

  @Test func deletedSegmentsAreSharedAgain() async throws {
    let setup = try Setup()
    try await setup.publish(["P": files])
    try setup.share("one", "two")
    for group in ["one", "two"] { try await setup.runAgent(group, "P") }
    removeTree(setup.base.segments)
    for group in ["one", "two"] { #expect(try await setup.runAgent(group) == []) }
    #expect(
      try setup.baseSegments == setup.segments("one").keys.sorted() && setup.segments("one") == setup.segments("two"))
    for group in ["one", "two"] { try setup.expectSound(group, files) }
  }

  /// An old copy of the base, with files of its own, replaces the base.
  @Test func olderStateOfTheBaseHeals() async throws {
    let setup = try Setup(), backup = "\(setup.folder.path)/backup"
    try await setup.publish(["P": files])
    try setup.share("one", "two")
    for group in ["one", "two"] { try await setup.runAgent(group, "P") }
    try FileManager.default.copyItem(atPath: setup.base.path.string, toPath: backup)
    let newer = files.merging(["b.txt": Self.text(7)]) { $1 }
    try await setup.publish(["P": newer])
    for group in ["one", "two"] { try await setup.runAgent(group, "P") }
    removeTree(setup.base.path)
    try FileManager.default.moveItem(atPath: backup, toPath: setup.base.path.string)
    try setup.share("three")
    try await setup.runAgent("three", "P")
    for group in ["one", "two"] { try await setup.runAgent(group, "P") }
    for group in ["one", "two", "three"] { try setup.expectSound(group, newer) }
    #expect(try setup.segments("one") == setup.segments("two"))
  }

  enum Harm: CaseIterable { case bit, table, cut, empty, link, folder, otherSegment, missing }

  /// A file of the base that is not the segment of its name is never used, and the agent of a group with the segment replaces it.
  @Test(arguments: Harm.allCases) func damagedFileIsNeverUsed(harm: Harm) async throws {
    let setup = try Setup()
    try await setup.publish(["P": files, "Q": ["q.txt": Self.text(9)]])
    try setup.share("one", "two")
    try await setup.runAgent("one", "P", "Q")
    let names = try setup.baseSegments
    for (name, other) in zip(names, names.dropFirst() + names.prefix(1)) { try hurt(harm, name, other, in: setup) }
    #expect(try await setup.runAgent("two", "P") == [])
    try setup.expectSound("two", files)
    try setup.expectSound("one", files)
    #expect(try await setup.runAgent("one") == [])
    let store = try Store(at: setup.group("one").store)
    for name in try setup.baseSegments where harm != .folder {
      let id = SegmentID(try #require(ID128(hex: name)))
      #expect(try store.isValidSegment(id, at: "segments/\(name)"))
      #expect(try setup.segments("one")[name] == InputFile(name, in: setup.base.segments).inode)
    }
    for group in ["one", "two"] { try setup.expectSound(group, files) }
  }

  /// Replaces a file of the base; the group's own file stays.
  private func hurt(_ harm: Harm, _ name: String, _ other: String, in setup: Setup) throws {
    let path = setup.base.segments.appending(name), url = URL(fileURLWithPath: path.string)
    var bytes = try Data(contentsOf: url)
    try FileManager.default.removeItem(at: url)
    switch harm {
    case .bit: bytes[bytes.count / 3] ^= 4
    case .table: bytes[bytes.count - 100] ^= 4
    case .cut: bytes = bytes.prefix(bytes.count / 2)
    case .empty: bytes = Data()
    case .link: return try FileManager.default.createSymbolicLink(atPath: path.string, withDestinationPath: other)
    case .folder: return try FileManager.default.createDirectory(at: url, withIntermediateDirectories: false)
    case .otherSegment:
      bytes = try Data(contentsOf: URL(fileURLWithPath: "\(setup.group("one").store)/segments/\(other)"))
    case .missing: return
    }
    try bytes.write(to: url)
  }

  /// Damage to a file that two groups have: each group fetches the data again.
  @Test func damageToACommonFileHeals() async throws {
    let setup = try Setup()
    try await setup.publish(["P": files])
    try setup.share("one", "two")
    for group in ["one", "two"] { try await setup.runAgent(group, "P") }
    for name in try setup.segments("one").keys {
      let handle = try #require(FileHandle(forWritingAtPath: setup.base.segments.appending(name).string))
      try handle.truncate(atOffset: 0)
      try handle.close()
    }
    for group in ["one", "two"] {
      let manager = try setup.manager(group)
      try await manager.ensureLocalAvailability(of: manager.assetPack(withID: "P"))
      try setup.expectSound(group, files)
      #expect(try await setup.runAgent(group) == [])
    }
    #expect(try setup.segments("one") == setup.segments("two"))
  }

  /// A record that cannot be read may name any segment: nothing leaves the base.
  @Test func damagedRecordKeepsContent() async throws {
    let setup = try Setup()
    try await setup.publish(["P": files])
    try setup.share("one", "two")
    for group in ["one", "two"] { try await setup.runAgent(group, "P") }
    let segments = try setup.baseSegments, records = setup.base.path.appending("groups")
    for name in try namesInFolder(records) {
      try Data("{".utf8).write(to: URL(fileURLWithPath: records.appending(name).string))
    }
    try setup.base.sweep()
    #expect(try setup.baseSegments == segments && setup.base.groups() == [] && setup.base.ignoredRecordCount == 2)
    for group in ["one", "two"] { #expect(try await setup.runAgent(group) == []) }
    #expect(try setup.base.groups().count == 2 && setup.baseSegments == segments)
  }

  /// The state that an agent leaves if it is killed: links without a record, drafts, and a replaced record.
  @Test func killedAgentLeavesContent() async throws {
    let setup = try Setup()
    try await setup.publish(["P": files])
    try setup.share("one", "two")
    try await setup.runAgent("one", "P")
    let segments = try setup.baseSegments
    let stray = setup.base.segments.appending(String(repeating: "0", count: 32))
    for place in [
      stray, setup.base.path.appending("segment.draft"), try setup.group("one").store.appending("shared.draft"),
    ] {
      try linkFile(FilePlace(setup.base.segments.appending(segments[0])), to: FilePlace(place))
    }
    try setup.base.write(SharedGroup(folder: SharedBase.location(of: setup.group("one"))))
    try await setup.runAgent("two", "P")
    try await setup.runAgent("one")
    #expect(try setup.baseSegments == Set(setup.segments("one").keys).union(setup.segments("two").keys).sorted())
    for group in ["one", "two"] { try setup.expectSound(group, files) }
    #expect(!pathExists(stray))
  }

  /// Another group's agent was stopped while it changed the base.
  @Test func stoppedAgentDoesNotStopAnotherGroup() async throws {
    let setup = try Setup()
    try await setup.publish(["P": files])
    try setup.share("one")
    var lock: FileLock? = try setup.base.takeLock()
    #expect(try await setup.runAgent("one", "P") == [])
    try setup.expectSound("one", files)
    #expect(try lock != nil && setup.baseSegments == [])
    lock = nil
    #expect(try await setup.runAgent("one") == [])
    #expect(try setup.baseSegments == setup.segments("one").keys.sorted())
  }

  // MARK: - Refusals

  @Test func baseThatOthersCanChangeIsRefused() async throws {
    let setup = try Setup()
    try await setup.publish(["P": files])
    try setup.share("one")
    try await setup.runAgent("one", "P")
    chmod(setup.base.path.string, 0o777)
    #expect(throws: ManagedPacksError.self) { try setup.share("two") }
    #expect(try setup.base.groups() == [])
    try await setup.runAgent("two", "P")
    #expect(try Set(setup.segments("one").values).isDisjoint(with: setup.segments("two").values))
  }
}
