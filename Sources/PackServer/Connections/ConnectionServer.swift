#if Serving || Hosting
  import NIOCore
  package import NIOPosix
  package import ServiceLifecycle
  import Synchronization

  /// Runs a server until the surrounding task is cancelled. Running transfers then have a grace time to complete. Concurrently, idle
  /// and stalled connections are closed once a second.
  package struct ConnectionServer: Sendable {
    private let table: ConnectionTable
    private let graceTime: Duration

    package init(_ table: ConnectionTable, graceTime: Duration) {
      (self.table, self.graceTime) = (table, graceTime)
    }

    /// - Parameters:
    ///   - threadCount: the number of threads for connections.
    ///   - makeService: makes the server on these threads. Nothing else may keep it.
    /// - Throws: the errors of the server; `IOError` if it cannot listen at its address.
    package func run(
      threadCount: Int, _ makeService: @escaping @Sendable (MultiThreadedEventLoopGroup) throws -> any Service
    ) async throws {
      let group = MultiThreadedEventLoopGroup(numberOfThreads: max(1, threadCount))
      let result = await serve(on: group, makeService)
      await table.waitUntilClosed()
      try await group.shutdownGracefully()
      try result.get()
    }

    /// A server uses its event loop when it is released, which must be before the loop ends. So this task has the only reference, and a
    /// `ServiceGroup`, which keeps its services for an unknown time, is not used. Its shutdown would also reset HTTP/2 streams whose last
    /// pieces still wait for their clients.
    private func serve(
      on group: MultiThreadedEventLoopGroup,
      _ makeService: @escaping @Sendable (MultiThreadedEventLoopGroup) throws -> any Service
    ) async -> Result<Void, any Error> {
      let server = Task { try await makeService(group).run() }
      let sweeper = Task { await sweep() }
      let ending = Mutex<Task<Void, Never>?>(nil)
      let result = await withTaskCancellationHandler {
        await server.result
      } onCancel: {
        ending.withLock { ending in
          table.beginEnd()
          ending = Task {
            await table.drain(within: graceTime)
            table.closeAll()
          }
        }
      }
      sweeper.cancel()
      await sweeper.value
      // Closes channels, which must happen on their threads.
      await ending.withLock { $0 }?.value
      return result
    }

    private func sweep() async {
      while !Task.isCancelled {
        try? await Task.sleep(for: .seconds(1))
        table.sweep()
      }
    }
  }
#endif
