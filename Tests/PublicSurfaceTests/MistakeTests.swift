import Foundation
import PackAuthoring
import PackDelivery
import PackFormats
import PackStore
import Testing

/// The mistakes of a new user: each ends in an error that names the fault and the existing names.
@Suite struct MistakeTests {
  private func makeStore(_ playground: Playground) async throws -> Store {
    let store = try Store(at: playground.path("store"))
    for version in 1...3 as ClosedRange<UInt64> {
      try await store.install(folder: playground.folder("source", ["a": noise(100, version)]), as: "Base")
    }
    return store
  }

  @Test func wrongNames() async throws {
    let playground = try Playground()
    let store = try await makeStore(playground)
    #expect(
      await sentence(of: .invalidArgument) { _ = try PackID(validating: "no/name") }
        == "'no/name': invalid name of a pack; use 1 to 128 letters, digits, '-', '_' and '.', beginning with a letter, a digit or '_'"
    )
    #expect(
      await sentence(of: .notFound) { _ = try store.contents(of: "a", pack: "Bass") }
        == "pack 'Bass': not in the store; did you mean 'Base'?")
    #expect(await sentence(of: .notFound) { _ = try await store.read("none") }?.contains("'none'") == true)
    #expect(
      await sentence(of: .notFound) { try await store.pin("Base", version: 99) }
        == "version 'Base@99': not kept (kept: 2, 3)")
    #expect(
      await sentence(of: .notFound) { try await store.rollBack("Base", toVersion: 99) }
        == "version 'Base@99': not kept (kept: 2, 3)")
    #expect(await sentence(of: .invalidArgument) { _ = try await store.read("a", range: 50..<101) } != nil)
  }

  @Test func wrongPlaces() async throws {
    let playground = try Playground()
    #expect(
      await sentence(of: .notAStore) { _ = try Store(at: playground.path("none"), options: .existing) }?
        .contains("none") == true)
    try playground.folder("folder", ["file": Data("no store".utf8)])
    #expect(await sentence(of: .notAStore) { _ = try Store(at: playground.path("folder")) } != nil)
    #expect(await sentence(of: .notAStore) { _ = try Store(at: playground.path("folder/file")) } != nil)
    #expect(
      await sentence(of: .invalidArgument) { _ = try Store(at: URL(string: "https://example.com/store")!) }?
        .contains("https://example.com/store") == true)
    #expect(await sentence(of: .notAStore) { _ = try Site(existingAt: playground.path("folder")) } != nil)
  }

  @Test func wrongSite() async throws {
    let playground = try Playground()
    let store = try await makeStore(playground)
    do {
      try await store.pull(from: playground.path("nowhere").string)
      Issue.record("there is no site")
    } catch let error as DeliveryError where error.code == .noSite {
      #expect(error.localizedDescription.contains("nowhere"))
    }
  }

  /// Errors of the library speak of its API; the options of the program belong to the program.
  @Test func advice() async throws {
    let playground = try Playground()
    let store = try await makeStore(playground)
    try await store.rollBack("Base")
    let source = try playground.folder("source", ["a": noise(100, 9)])
    let held = await sentence(of: .held) { try await store.install(folder: source, as: "Base") }
    #expect(held?.contains("unpin") == true && held?.contains("packstore ") == false && held?.contains("--") == false)
  }

  @Test func cancelledPull() async throws {
    let playground = try Playground()
    let author = try await makeStore(playground), device = try Store(at: playground.path("device"))
    let site = try Site(at: playground.path("site"))
    try await site.publish(from: author, signedBy: SiteKey())
    let pull = ProgressTask<Store.PullProgress, Store.PullResult> { report in
      withUnsafeCurrentTask { $0?.cancel() }
      return try await device.pull(from: site.path.string, progress: report)
    }
    await #expect(throws: CancellationError.self) { try await pull.value }
    #expect(try device.packs().isEmpty)
    let read = Task {
      withUnsafeCurrentTask { $0?.cancel() }
      return try await author.read("a")
    }
    await #expect(throws: CancellationError.self) { try await read.value }
  }

  /// One snapshot, many tasks, and a concurrent writer.
  @Test func sharedSnapshot() async throws {
    let playground = try Playground()
    let store = try await makeStore(playground)
    let snapshot = try store.makeSnapshot()
    try await withThrowingTaskGroup(of: Data.self) { group in
      for _ in 0..<8 { group.addTask { try await snapshot.read("a") } }
      try await store.install(folder: playground.folder("source", ["a": noise(100, 7)]), as: "Base")
      for try await bytes in group { #expect(bytes == noise(100, 3)) }
    }
    #expect(try await store.read("a") == noise(100, 7))
  }

  /// A change is staged again where another writer came first.
  @Test func conflicts() async throws {
    let playground = try Playground()
    let store = try await makeStore(playground)
    try await withThrowingTaskGroup(of: Void.self) { group in
      for priority in 1...4 as ClosedRange<Int32> {
        group.addTask { try await store.setPriority(priority, of: "Base") }
      }
      try await group.waitForAll()
    }
    #expect(try (1...4).contains(#require(store.packs().first).priority))
  }
}
