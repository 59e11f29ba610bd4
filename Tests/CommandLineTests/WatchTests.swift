import PackStore
import Testing

/// A process that watches a store sees what other processes commit.
@Suite(.timeLimit(.minutes(40))) struct WatchTests {
  let playground = try! Playground()

  @Test func commitsOfOtherProcesses() async throws {
    try playground.write("one", to: "folder/a")
    try playground.packstore("add", "store", "folder", "--pack", "P")
    let store = try Store(at: FilePath(playground.path + "/store"), options: .readOnly),
      last = Store.Generation(rawValue: 4)
    let seen = AsyncStream<Store.Generation>.makeStream()
    let watcher = Task {
      for try await generation in store.generations(every: .milliseconds(1)) {
        seen.continuation.yield(generation)
        if generation == last { break }
      }
    }
    var generations = seen.stream.makeAsyncIterator()
    #expect(await generations.next() == Store.Generation(rawValue: 2))
    for number in [UInt64(3), 4] {
      try playground.write("version \(number)", to: "folder/a")
      #expect(try playground.packstore("add", "store", "folder", "--pack", "P").status == 0)
      #expect(await generations.next() == Store.Generation(rawValue: number))
    }
    try await watcher.value
  }
}
