import Foundation
import PackAuthoring
import PackDelivery
import PackStore
import Synchronization

@testable import ManagedPacks

/// A folder that is gone after the test.
final class TestFolder: Sendable {
  let path: FilePath

  convenience init() {
    self.init(at: FilePath(NSTemporaryDirectory()).appending("managed-\(UInt64.random(in: 0 ... .max))"))
  }

  init(at path: FilePath) {
    self.path = path
    try? FileManager.default.createDirectory(atPath: path.string, withIntermediateDirectories: true)
  }

  deinit { try? FileManager.default.removeItem(atPath: path.string) }

  func write(_ text: String, to file: String) throws {
    let url = URL(fileURLWithPath: "\(path)/\(file)")
    try FileManager.default.createDirectory(at: url.deletingLastPathComponent(), withIntermediateDirectories: true)
    try Data(text.utf8).write(to: url)
  }
}

/// A gate that a test opens.
final class Gate: Sendable {
  private struct State {
    var isOpen = false
    var waiting: [Int: CheckedContinuation<Void, any Error>] = [:]
    var next = 0
  }
  private let state = Mutex(State())

  init(isOpen: Bool = false) { state.withLock { $0.isOpen = isOpen } }

  func open() {
    let waiting = state.withLock { state in
      state.isOpen = true
      defer { state.waiting = [:] }
      return state.waiting.values
    }
    for continuation in waiting { continuation.resume() }
  }

  func pass() async throws {
    let id = state.withLock { state in
      state.next += 1
      return state.next
    }
    try await withTaskCancellationHandler {
      try await withCheckedThrowingContinuation { (continuation: CheckedContinuation<Void, any Error>) in
        let result: Result<Void, any Error>? = state.withLock { state in
          if Task.isCancelled { return .failure(CancellationError()) }
          if state.isOpen { return .success(()) }
          state.waiting[id] = continuation
          return nil
        }
        if let result { continuation.resume(with: result) }
      }
    } onCancel: {
      state.withLock { $0.waiting.removeValue(forKey: id) }?.resume(throwing: CancellationError())
    }
  }
}

/// Counts events, and lets a test wait for them.
final class Log: Sendable {
  private let state = Mutex((lines: [String](), waiters: [(Int, CheckedContinuation<Void, Never>)]()))

  var lines: [String] { state.withLock { $0.lines } }

  func append(_ line: String) {
    state.withLock { state in
      state.lines.append(line)
      let count = state.lines.count
      for (needed, waiter) in state.waiters where needed <= count { waiter.resume() }
      state.waiters.removeAll { $0.0 <= count }
    }
  }

  func wait(for count: Int) async {
    await withCheckedContinuation { continuation in
      state.withLock { state in
        if state.lines.count >= count { return continuation.resume() }
        state.waiters.append((count, continuation))
      }
    }
  }
}

/// A site whose answers the test sets.
final class StubSite: PackSite {
  struct State {
    var listing: SiteListing
    var listingError: (any Error)?
    /// The errors of the next pulls of a pack.
    var failures: [PackID: [any Error]] = [:]
    var gates: [PackID: Gate] = [:]
    var fractions: [(Int, Int)] = [(0, 100), (40, 100), (100, 100)]
    var outcome = Store.PullResult.Pack.Outcome.updated
    var installs = true
  }
  let location = "stub"
  let state: Mutex<State>
  let log = Log()
  let store: Store
  let folder: TestFolder

  init(_ store: Store, _ folder: TestFolder, _ packs: [SiteListing.Entry] = []) {
    self.store = store
    self.folder = folder
    var listing = SiteListing(origin: .local, root: RootNumber(serial: 1, sequence: 1))
    listing.packs = packs
    state = Mutex(State(listing: listing))
  }

  func listing() async throws -> SiteListing {
    try state.withLock { state in
      if let error = state.listingError { throw error }
      return state.listing
    }
  }

  func pull(
    _ pack: PackID, pause: Store.PullPause, progress: @escaping @Sendable (Store.PullProgress) -> Void
  ) async throws -> PulledPack {
    log.append(pack.name)
    let (fractions, gate) = state.withLock { ($0.fractions, $0.gates[pack]) }
    for (number, (done, total)) in fractions.enumerated() {
      try await pause.pass()
      var now = Store.PullProgress(phase: .fetch)
      now.byteCount = done
      now.totalByteCount = total
      progress(now)
      if number == 0 { try await gate?.pass() }
    }
    try await pause.pass()
    try Task.checkCancellation()
    let failure = state.withLock { state in
      state.failures[pack]?.isEmpty == false ? state.failures[pack]?.removeFirst() : nil
    }
    if let failure { throw failure }
    let (listing, outcome, installs) = state.withLock { ($0.listing, $0.outcome, $0.installs) }
    if installs, let offer = listing.packs.first(where: { $0.id == pack })?.offer {
      let source = folder.path.appending("source-\(pack)-\(offer.version)")
      try FileManager.default.createDirectory(atPath: source.string, withIntermediateDirectories: true)
      try Data("\(pack)@\(offer.version)".utf8).write(to: URL(fileURLWithPath: "\(source)/\(pack).txt"))
      var options = Store.InstallOptions()
      options.version = offer.version
      options.attributes = offer.attributes
      try await store.install(folder: source, as: pack, options: options)
    }
    return PulledPack(outcome, origin: listing.origin, root: listing.root)
  }
}

func entry(
  _ id: String, _ version: UInt64 = 1, policy: DownloadPolicy = .onDemand, language: String? = nil, size: Int = 100
) throws -> SiteListing.Entry {
  let attributes = try Attributes(downloadPolicy: policy, language: language.map { try LanguageTag($0) })
  return SiteListing.Entry(
    id: try PackID(validating: id),
    offer: SiteListing.Offer(version: version, attributes: attributes, downloadByteCount: size))
}

func pack(
  _ id: String, _ version: UInt64 = 1, policy: DownloadPolicy = .onDemand, language: String? = nil
) throws -> AssetPack {
  AssetPack(
    id: try PackID(validating: id), version: version, downloadByteCount: 100,
    attributes: try Attributes(downloadPolicy: policy, language: language.map { try LanguageTag($0) }), origin: .local)
}

/// A manager over a stub.
final class ManagedSetup: Sendable {
  let folder = TestFolder()
  let store: Store
  let site: StubSite

  init(_ entries: [SiteListing.Entry] = []) throws {
    store = try Store(at: folder.path.appending("store"))
    site = StubSite(store, folder, entries)
  }

  func manager(
    appVersion: String? = nil, environment: [String: String] = [:],
    _ change: (inout AssetPackManager.Options) -> Void = { _ in }
  ) throws -> AssetPackManager {
    var options = AssetPackManager.Options()
    options.store = store
    options.sites = [site]
    options.environment = environment
    options.clock = TransferClock(
      now: { .zero }, sleep: { _ in try Task.checkCancellation() }, watch: { _ in }, random: { 0 })
    change(&options)
    let configuration = try ManagedConfiguration(
      appGroupID: "group.test", sites: [.init("stub")], appID: "app", appVersion: appVersion.map { try AppVersion($0) },
      groupFolder: folder.path.appending("group"))
    return try AssetPackManager(configuration: configuration, options: options)
  }
}

/// The names of updates until a download ends.
func kinds(_ updates: AssetPackManager.DownloadStatusUpdates) async -> [String] {
  var kinds: [String] = []
  for await update in updates { kinds.append(update.kind) }
  return kinds
}

extension AssetPackManager.DownloadStatusUpdate {
  var kind: String {
    switch self {
    case .began: "began"
    case .paused: "paused"
    case .downloading: "downloading"
    case .finished: "finished"
    case .failed: "failed"
    }
  }
}
