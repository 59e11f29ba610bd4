import Foundation
import PackDelivery
import PackStore
import Synchronization
import Testing

@testable import ManagedPacks

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#endif

#if os(Linux)
  /// C15: a lock of a stopped agent does not delay an app for long, and a working agent keeps its locks.
  @Suite struct AgentWatchTests {
    /// A silent agent, and the locks that it has until it ends.
    final class StoppedAgent: @unchecked Sendable {
      enum Lock: CaseIterable { case journal, writer, device, list, engine }

      let number: pid_t
      private let process: Process
      private let input = Pipe()
      private let released = DispatchSemaphore(value: 0)

      init(holding lock: Lock, in setup: AgentTests.Setup) throws {
        let process = Process()
        // Has the agent's lock, and waits until this process ends, however long a test takes.
        process.executableURL = URL(fileURLWithPath: "/usr/bin/python3")
        let program = """
          import fcntl, os, sys
          file = open(sys.argv[1], 'w')
          fcntl.lockf(file, fcntl.LOCK_EX)
          os.write(1, b'ready\\n')
          sys.stdin.read()
          """
        process.arguments = ["-c", program, setup.group.path.appending("agent.lock").string]
        process.standardInput = input
        let output = Pipe()
        process.standardOutput = output
        let held = try Self.take(lock, setup), released = released
        process.terminationHandler = { _ in
          held()
          released.signal()
        }
        try process.run()
        self.process = process
        number = process.processIdentifier
        // One line, or nothing if it cannot run.
        #expect(output.fileHandleForReading.availableData == Data("ready\n".utf8))
      }

      /// Returns a function that releases the lock.
      private static func take(_ lock: Lock, _ setup: AgentTests.Setup) throws -> @Sendable () -> Void {
        let path =
          switch lock {
          case .journal: setup.group.path.appending("journal.lock").string
          case .writer: setup.store.path.appending("LOCK").string
          case .device: setup.store.path.appending("device.lock").string
          case .list: try DownloadFolder(ofApp: "app", in: setup.group).path.appending("list.lock").string
          case .engine: try DownloadFolder(ofApp: "app", in: setup.group).path.appending("engine.lock").string
          }
        let file = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
        try #require(file >= 0)
        switch lock {
        case .journal, .device, .list, .engine:
          let status = flock(file, LOCK_EX | LOCK_NB)
          try #require(status == 0)
        case .writer:
          var range = flock(l_type: Int16(F_WRLCK), l_whence: Int16(SEEK_SET), l_start: 0, l_len: 1, l_pid: 0)
          let setLock: CInt = 37  // F_OFD_SETLK
          let status = fcntl(file, setLock, &range)
          try #require(status == 0)
        }
        return { close(file) }
      }

      var isRunning: Bool { process.isRunning }

      /// Returns when it was killed.
      func waitUntilKilled() {
        released.wait()
        #expect(process.terminationReason == .uncaughtSignal && process.terminationStatus == SIGKILL)
      }

      /// The only signal that it cannot block: it inherits the blocked signals of the thread that started it.
      func end() {
        kill(number, SIGKILL)
        released.wait()
      }
    }

    private func manager(
      _ setup: AgentTests.Setup, patience: Duration = .milliseconds(50)
    ) throws -> AssetPackManager {
      var options = AssetPackManager.Options()
      options.store = setup.store
      options.sites = [setup.site]
      options.environment = [:]
      options.agentPatience = patience
      return try AssetPackManager(configuration: setup.list("app"), options: options)
    }

    @Test(arguments: [StoppedAgent.Lock.journal, .writer])
    func aStoppedAgentIsKilled(lock: StoppedAgent.Lock) async throws {
      let setup = try AgentTests.Setup([try entry("A")])
      _ = try await setup.site.pull("A", pause: .init()) { _ in }
      let agent = try StoppedAgent(holding: lock, in: setup)
      let listener = try LocalSocket.listen(at: AgentElection.place(in: setup.group))
      try await manager(setup).remove(assetPackWithID: "A")
      #expect(try setup.store.packs().isEmpty)
      agent.waitUntilKilled()
      withExtendedLifetime(listener) {}
    }

    /// The files next to a store have locks of their own.
    @Test func filesBesideTheStore() async throws {
      let setup = try AgentTests.Setup([try entry("A")])
      let agent = try StoppedAgent(holding: .device, in: setup)
      let listener = try LocalSocket.listen(at: AgentElection.place(in: setup.group))
      let path = setup.store.path
      try await manager(setup).core.changing { _ = try DeviceFile(inStore: path).readOrMake() }
      agent.waitUntilKilled()
      withExtendedLifetime(listener) {}
    }

    /// The locks of an app's own downloads.
    @Test(arguments: [StoppedAgent.Lock.list, .engine])
    func stoppedAgentDoesNotBlockDownloads(lock: StoppedAgent.Lock) async throws {
      let setup = try AgentTests.Setup(), delegate = TestDelegate()
      let agent = try StoppedAgent(holding: lock, in: setup)
      let listener = try LocalSocket.listen(at: AgentElection.place(in: setup.group))
      var configuration = try ManagedConfiguration(
        appGroupID: "g", sites: [.init("https://example.com/manifest")], appID: "app", groupFolder: setup.group.path)
      configuration.hasManagedAssetPacks = false
      var options = BADownloadManager.Options()
      options.transport = StubTransport(["https://example.com/A": .init(10)])
      options.environment = [:]
      options.isExtension = false
      options.agentPatience = .milliseconds(50)
      let manager = try BADownloadManager(configuration: configuration, options: options)
      manager.delegate = delegate
      try manager.startForegroundDownload(UnmanagedSetup.download("A"))
      await delegate.log.wait(for: 2)
      agent.waitUntilKilled()
      withExtendedLifetime(listener) {}
    }

    /// The agent is killed as well if so many connections wait that the system accepts no more.
    @Test func aStoppedAgentWithAFullQueue() async throws {
      let setup = try AgentTests.Setup([try entry("A")])
      let agent = try StoppedAgent(holding: .journal, in: setup)
      #expect(AgentElection.elected(in: setup.group) == agent.number)
      let place = AgentElection.place(in: setup.group)
      let listener = try LocalSocket.listen(at: place, backlog: 0)
      var waiting: [LocalSocket] = []
      #expect(throws: LocalSocket.IsFull.self) {
        while let socket = try LocalSocket.connect(to: place) { waiting.append(socket) }
      }
      let manager = try manager(setup)
      #expect(try await manager.detectEvents() == [.install])
      agent.waitUntilKilled()
      withExtendedLifetime((listener, waiting)) {}
    }

    /// Any app of the group can write the number of another process into the lock file, or listen in place of the agent.
    @Test func onlyTheProcessWithTheLockIsKilled() throws {
      let setup = try AgentTests.Setup([try entry("A")])
      let agent = try StoppedAgent(holding: .journal, in: setup)
      let other = try StoppedAgent(holding: .writer, in: AgentTests.Setup([try entry("A")]))
      let listener = try LocalSocket.listen(at: AgentElection.place(in: setup.group))
      for text in ["\(other.number)", "", "1", "0", "-5", "x", "99999999999999999999"] {
        try setup.folder.write(text, to: "group/agent.lock")
        #expect(AgentElection.elected(in: setup.group) == agent.number)
      }
      try setup.folder.write("\(other.number)", to: "group/agent.lock")
      let client = AgentClient(in: setup.group)
      #expect(client.isSilent(within: .zero))
      client.killAgent()
      agent.waitUntilKilled()
      // The lock is free now; the text in the file has no effect.
      #expect(AgentElection.elected(in: setup.group) == nil)
      client.killAgent()
      #expect(other.isRunning)
      other.end()
      withExtendedLifetime(listener) {}
    }

    /// An agent that answers is not disturbed, however long it has the lock that the app waits for.
    @Test func anAgentThatWorksIsLeftAlone() async throws {
      let setup = try AgentTests.Setup([try entry("A")])
      let agent = try StoppedAgent(holding: .journal, in: setup), asked = Log(), number = agent.number
      let handler = AgentServer.Handler(
        answer: { _, _ in
          asked.append("asked")
          return .status(process: number)
        }, end: { _ in }, refuse: { _ in })
      let server = try AgentServer(
        LocalSocket.listen(at: AgentElection.place(in: setup.group)), now: { .zero }, handler: handler)
      server.start()
      // However busy the machine is, an answer comes sooner.
      let manager = try manager(setup, patience: .seconds(3600))
      async let events = manager.detectEvents()
      await asked.wait(for: 1)
      #expect(agent.isRunning)
      agent.end()
      #expect(try await events == [.install])
      server.stop()
    }
  }
#endif
