import Foundation
import PackStore
import Testing

/// Noticing that a store moved on. Where a test waits for an element that only one way can bring, the other ways are
/// switched off: an hour between looks, or commits that this process' Swift does not make.
@Suite(.timeLimit(.minutes(40))) struct GenerationTests {
  private static let never = Duration.seconds(3600)

  private static func commit(_ store: Store, _ folder: borrowing TemporaryFolder, _ text: String) throws {
    try folder.makeFolder("source \(text)", ["f": text])
    try store.write { try $0.install(folder: FilePath(folder.path("source \(text)")), as: "P") }
  }

  @Test func oneStoreSeesWhatAnotherCommits() throws {
    let folder = TemporaryFolder()
    let writer = try folder.store(), reader = try Store(at: FilePath(folder.path("store")), options: .readOnly)
    #expect(try reader.newestGeneration() == Store.Generation(rawValue: 1))
    for round in 2...6 {
      try Self.commit(writer, folder, "\(round)")
      #expect(try reader.newestGeneration() == Store.Generation(rawValue: UInt64(round)))
      #expect(try reader.refresh() == Store.Generation(rawValue: UInt64(round)))
      #expect(try reader.makeSnapshot().generation == Store.Generation(rawValue: UInt64(round)))
      #expect(try reader.contents(of: "f") == Data("\(round)".utf8))
    }
  }

  @Test func beginsWithTheNewest() async throws {
    let folder = TemporaryFolder(), store = try folder.store()
    try Self.commit(store, folder, "a")
    for _ in 0..<2 {
      var iterator = store.generations(every: Self.never).makeAsyncIterator()
      #expect(try await iterator.next() == Store.Generation(rawValue: 2))
    }
  }

  /// A commit wakes those who wait, though they look but once an hour: of this store, and of others of the directory.
  @Test func commitsOfThisProcessAreSeenAtOnce() async throws {
    let folder = TemporaryFolder(), store = try folder.store(), other = try Store(at: FilePath(folder.path("store")))
    let started = AsyncStream<Void>.makeStream()
    let watchers = [store, store, other].map { store in
      Task {
        var seen: [Store.Generation] = []
        for try await generation in store.generations(every: Self.never) {
          seen.append(generation)
          if seen.count == 1 { started.continuation.yield() }
          if generation >= Store.Generation(rawValue: 4) { break }
        }
        return seen
      }
    }
    var waiting = started.stream.makeAsyncIterator()
    for _ in watchers { await waiting.next() }
    for text in ["a", "b", "c"] { try Self.commit(store, folder, text) }
    for watcher in watchers {
      let seen = try await watcher.value
      #expect(seen.first == Store.Generation(rawValue: 1) && seen.last == Store.Generation(rawValue: 4))
      #expect(zip(seen, seen.dropFirst()).allSatisfy { $0 < $1 })
    }
  }

  /// A slow consumer skips what came and went.
  @Test func onlyTheNewestIsBuffered() async throws {
    let folder = TemporaryFolder(), store = try folder.store()
    var iterator = store.generations(every: Self.never).makeAsyncIterator()
    #expect(try await iterator.next() == Store.Generation(rawValue: 1))
    for text in ["a", "b", "c"] { try Self.commit(store, folder, text) }
    #expect(try await iterator.next() == Store.Generation(rawValue: 4))
  }

  @Test func endsWhenTheTaskIsCancelled() async throws {
    let folder = TemporaryFolder(), store = try folder.store()
    let started = AsyncStream<Void>.makeStream()
    let watcher = Task {
      var seen = 0
      for try await _ in store.generations(every: Self.never) {
        seen += 1
        started.continuation.yield()
      }
      return seen
    }
    var waiting = started.stream.makeAsyncIterator()
    await waiting.next()
    watcher.cancel()
    #expect(try await watcher.value == 1)
  }

  @Test func endsWithTheStore() async throws {
    let folder = TemporaryFolder()
    var store: Store? = try folder.store()
    let generations = store!.generations(every: Self.never), started = AsyncStream<Void>.makeStream()
    let watcher = Task {
      var seen = 0
      for try await _ in generations {
        seen += 1
        started.continuation.yield()
      }
      return seen
    }
    var waiting = started.stream.makeAsyncIterator()
    await waiting.next()
    store = nil
    #expect(try await watcher.value == 1)
    var late = generations.makeAsyncIterator()
    #expect(try await late.next() == nil)
  }
}
