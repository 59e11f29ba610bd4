import PackFormats
import PackStore

extension Site {
  /// Builds deltas between given versions, and lists them in the roots with offers of their targets. Present deltas stay.
  ///
  /// - Parameters:
  ///   - pairs: kept versions, each with the version that devices have.
  ///   - key: a key that may sign the roots; other roots do not change.
  ///   - options: the level of compression; others are ignored.
  /// - Returns: the number of new deltas.
  /// - Throws: `untrusted`; `busy`; `CancellationError`; `noSpace`, `ioError`, `outOfMemory`, `corrupt`.
  package func makeDeltas(
    _ pairs: [(from: PackVersion, to: PackVersion)], signedBy key: SiteKey, options: PublishOptions
  ) async throws -> Int {
    try await BlockingExecutor.run {
      var change = try self.folder.withLock(waits: true) {
        var change = try SiteChange(
          of: self.store, named: self.store.id, channel: nil, in: self.folder, signedBy: key, options: options,
          now: nanosecondsSince1970(), progress: nil)
        try change.settle()
        return change
      }
      let work = DeltaWork(
        self.store, folder: self.folder, deltaCount: 1, level: options.deltaOptions.level, progress: nil)
      return try work.run(in: &change) { _, _ in pairs.map { (version: $0.to, sources: [$0.from]) } }.made.count
    }
  }
}
