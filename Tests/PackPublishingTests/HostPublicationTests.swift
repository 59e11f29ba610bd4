import Foundation
import PackAuthoring
import PackDelivery
import PackFormats
import PackStore
import Synchronization
import Testing

@testable import PackPublishing

/// When deltas are built depends on the place of the site.
@Suite struct HostPublicationTests {
  private let folder: TemporaryFolder
  private let key = SiteKey()

  init() throws { folder = try TemporaryFolder() }

  private struct Failure: Error {}

  /// A folder whose content counts as elsewhere.
  private final class RemoteFolder: SiteHost {
    let base: FolderHost
    let hasContent = false
    let failingChange: Int
    private let changeCount = Atomic(0)

    init(_ path: FilePath, failingChange: Int = .max) {
      (base, self.failingChange) = (FolderHost(path), failingChange)
    }

    var changes: Int { changeCount.load(ordering: .relaxed) }
    var location: String { base.location }
    func exists() async throws -> Bool { try await base.exists() }
    func read<Result: Sendable>(_ body: @Sendable (Site) async throws -> Result) async throws -> Result {
      try await base.read(body)
    }
    func change<Result: Sendable>(
      signedBy key: SiteKey, makesSite: Bool, isDryRun: Bool, events: @escaping @Sendable (SiteChangeEvent) -> Void,
      reading: (@Sendable (Site) async throws -> [PackVersion])?,
      _ body: @Sendable (Site) async throws -> Result
    ) async throws -> Result {
      guard changeCount.add(1, ordering: .relaxed).newValue < failingChange else { throw Failure() }
      if let reading { _ = try await reading(try Site(existingAt: base.path)) }
      return try await base.change(signedBy: key, makesSite: makesSite, isDryRun: isDryRun, body)
    }
    func close() async {}
  }

  private func publish(
    _ count: Int?, to host: any SiteHost, channel: SiteChannel? = .live, isDryRun: Bool = false
  ) async throws -> HostPublication.Result {
    let store = try await folder.makeStore(UUID().uuidString), key = key
    var options = Site.PublishOptions(level: 1, keptVersionCount: 3)
    for number in 1...2 as ClosedRange<UInt64> {
      try await HostPublication(to: FolderHost(FilePath(host.location)), signedBy: key, options: options, deltaCount: 0)
        .run([.init("A", version: number)], from: .store(store))
    }
    options.channel = channel
    return try await HostPublication(to: host, signedBy: key, options: options, deltaCount: count)
      .run([.init("A", version: 3)], from: .store(store), isDryRun: isDryRun)
  }

  private func path(_ name: String = "site") -> FilePath { FilePath(folder.path(name)) }

  @Test(arguments: [(nil, 1), (0, 0), (2, 2)] as [(Int?, Int)]) func folderBuildsDeltas(_ count: Int?, _ made: Int)
    async throws
  {
    let result = try await publish(count, to: FolderHost(path()))
    #expect(result.publication.deltas.count == made && result.deltaFailure == nil)
  }

  @Test(arguments: [(nil, 0, 1), (0, 0, 1), (2, 2, 2)] as [(Int?, Int, Int)])
  func otherPlacesBuildRequestedDeltasOnly(_ count: Int?, _ made: Int, _ changes: Int) async throws {
    let host = RemoteFolder(path())
    let result = try await publish(count, to: host)
    #expect(result.publication.deltas.count == made && host.changes == changes)
  }

  @Test func failureOfDeltasKeepsThePublication() async throws {
    let host = RemoteFolder(path(), failingChange: 2)
    let result = try await publish(1, to: host)
    #expect(result.deltaFailure is Failure && result.publication.deltas.isEmpty)
    #expect(try await host.read { try $0.store.makeSnapshot().versions(of: "A").map(\.number).max() } == 3)
  }

  @Test func noChannelAndDryRunsNeedNoDeltas() async throws {
    let dry = RemoteFolder(path("dry"))
    let result = try await publish(1, to: dry, isDryRun: true)
    #expect(result.publication.packs.map(\.version.number) == [3] && dry.changes == 1)
    let silent = try await publish(1, to: RemoteFolder(path("silent")), channel: nil)
    #expect(silent.deltaFailure == nil && silent.publication.deltas.isEmpty)
  }
}
