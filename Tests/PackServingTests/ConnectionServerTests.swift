#if Serving
  import NIOCore
  import NIOPosix
  import PackServer
  import ServiceLifecycle
  import Synchronization
  import Testing

  /// A server uses an event loop when it is released. Once, that could happen after the loop had ended, and SwiftNIO printed an error.
  @Suite struct ConnectionServerTests {
    /// Whether the loop of a released server still ran a task.
    private final class Release: Sendable {
      private let done = Atomic(false)

      var isDone: Bool { done.load(ordering: .relaxed) }

      func end() { done.store(true, ordering: .relaxed) }
    }

    private final class Server: Service {
      private let loop: any EventLoop
      private let release: Release
      private let body: @Sendable () async throws -> Void

      init(_ loop: any EventLoop, _ release: Release, _ body: @escaping @Sendable () async throws -> Void) {
        (self.loop, self.release, self.body) = (loop, release, body)
      }

      deinit {
        loop.execute { [release] in release.end() }
      }

      func run() async throws { try await body() }
    }

    private struct Failure: Error {}

    private func run(_ release: Release, _ body: @escaping @Sendable () async throws -> Void) async throws {
      let server = ConnectionServer(ConnectionTable(.init()), graceTime: .zero)
      try await server.run(threadCount: 1) { group in Server(group.next(), release, body) }
    }

    @Test(arguments: [false, true]) func serverIsReleasedBeforeItsThreadsEnd(fails: Bool) async throws {
      for _ in 0..<50 {
        let release = Release()
        do {
          try await run(release) { if fails { throw Failure() } }
          #expect(!fails)
        } catch is Failure { #expect(fails) }
        #expect(release.isDone)
      }
    }

    @Test func cancellationClosesTheListener() async throws {
      let release = Release(), table = ConnectionTable(.init())
      let (ready, isReady) = AsyncStream<Void>.makeStream()
      let task = Task {
        try await ConnectionServer(table, graceTime: .zero).run(threadCount: 1) { group in
          Server(group.next(), release) {
            let channel = try await ServerBootstrap(group: group).bind(host: "127.0.0.1", port: 0).get()
            table.listen(at: channel)
            isReady.finish()
            try await channel.closeFuture.get()
          }
        }
      }
      for await _ in ready {}
      task.cancel()
      try await task.value
      #expect(table.isEnding)
      #expect(release.isDone)
    }
  }
#endif
