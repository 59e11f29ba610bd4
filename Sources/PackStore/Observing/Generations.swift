extension Store {
  /// The generations of a store as they come.
  ///
  /// Begins with the newest one and goes on with newer ones. It never goes back, and shows what is newest when the next
  /// element is asked for: a slow consumer skips what came and went meanwhile, and nothing piles up.
  ///
  /// What this process commits through Swift is seen at once, by whichever ``Store`` it does so; what others commit, at
  /// the next look. Between looks a task sleeps: no thread waits or spins.
  ///
  /// Ends when its task is cancelled, and when the store is gone, which this does not keep. An error ends it too:
  /// `corrupt`, `ioError`, `forked`. Any number of tasks may go through it at once, each at its own pace; an iterator
  /// belongs to one.
  public struct Generations: AsyncSequence, Sendable {
    private weak let store: Store?
    private let interval: Duration

    init(store: Store, interval: Duration) {
      self.store = store
      self.interval = interval
    }

    /// Goes through the generations.
    public struct AsyncIterator: AsyncIteratorProtocol {
      fileprivate weak let store: Store?
      fileprivate let interval: Duration
      private var last: Generation?
      private var isOver = false

      fileprivate init(store: Store?, interval: Duration) {
        self.store = store
        self.interval = interval
      }

      /// The newest generation, once it is newer than the one before; nil at the end, and after an error.
      public mutating func next() async throws -> Generation? {
        while !isOver && !Task.isCancelled {
          // Before looking: what is committed after the look is not slept through.
          let rings = GenerationBell.shared.rings
          guard let newest = try look() else { break }
          if last.map({ $0 < newest }) ?? true {
            last = newest
            return newest
          }
          await GenerationBell.shared.wait(after: rings, atMost: interval)
        }
        isOver = true
        return nil
      }

      /// The store's newest generation; nil when the store is gone.
      private mutating func look() throws -> Generation? {
        do {
          return try store?.newestGeneration()
        } catch {
          isOver = true
          throw error
        }
      }
    }

    public func makeAsyncIterator() -> AsyncIterator { AsyncIterator(store: store, interval: interval) }
  }
}
