extension Store {
  /// The generations of a store, as an asynchronous sequence.
  ///
  /// Begins with the newest generation and continues with newer ones, never with older ones. Each element is the newest generation
  /// at the time of the request: a slow consumer skips intermediate generations, and nothing accumulates.
  ///
  /// Commits of this process through Swift are seen at once, through any ``Store``; commits of other processes at the next check.
  /// Between checks the task sleeps: no thread waits or spins.
  ///
  /// Ends when its task is cancelled, or when the store is released, because the sequence does not retain the store. An error also
  /// ends it: `corrupt`, `ioError`, `forked`. Any number of tasks may iterate at once, independently; an iterator belongs to one
  /// task.
  public struct Generations: AsyncSequence, Sendable {
    private weak let store: Store?
    private let interval: Duration

    init(store: Store, interval: Duration) {
      self.store = store
      self.interval = interval
    }

    /// Iterates over the generations.
    public struct AsyncIterator: AsyncIteratorProtocol {
      fileprivate weak let store: Store?
      fileprivate let interval: Duration
      private var last: Generation?
      private var isOver = false

      fileprivate init(store: Store?, interval: Duration) {
        self.store = store
        self.interval = interval
      }

      /// Returns the newest generation, once it is newer than the previous element; `nil` at the end, and after an error.
      public mutating func next() async throws -> Generation? {
        while !isOver && !Task.isCancelled {
          // Read before checking, so that a commit after the check ends the sleep.
          let rings = GenerationNotifier.shared.rings
          guard let newest = try look() else { break }
          if last.map({ $0 < newest }) ?? true {
            last = newest
            return newest
          }
          await GenerationNotifier.shared.wait(after: rings, atMost: interval)
        }
        isOver = true
        return nil
      }

      /// Returns the store's newest generation; `nil` if the store was released.
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
