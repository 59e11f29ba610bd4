import Foundation
import PackStore
import Testing

@testable import ManagedPacks

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#endif

/// C13: an app's extension as a program that the agent starts, and the treatment of failing extensions.
@Suite struct ExtensionTests {
  static let policy = DownloadPolicy.prefetch(on: [.firstInstallation])

  #if os(Linux)
    /// What other libraries of this process have open, and an exec does not close, is not open in the program.
    @Test func itGetsNoOtherFiles() throws {
      var ends: [CInt] = [-1, -1]
      #expect(pipe(&ends) == 0)
      defer { for end in ends { close(end) } }
      let child = try ChildProcess(
        "/bin/cat", [], environment: ["PATH": "/bin"], dataByteCountLimit: nil, processorSeconds: 60)
      defer { child.kill() }
      func link(_ process: String, _ name: String) -> String? {
        try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/\(process)/fd/\(name)")
      }
      let ours = try #require(link("self", "\(ends[1])"))
      let names = try FileManager.default.contentsOfDirectory(atPath: "/proc/\(child.number)/fd")
      #expect(names.contains("0") && !names.contains { link("\(child.number)", $0) == ours })
    }
  #endif

  /// A group with an app that has an extension: a script whose standard input is the socket.
  private func setUp(_ script: String) throws -> AgentTests.Setup {
    let setup = try AgentTests.Setup(
      [try entry("A", policy: Self.policy), try entry("B", policy: Self.policy)], apps: [])
    try setup.folder.write("#!/bin/sh\necho started >>\"$PLACE/starts\"\n\(script)\n", to: "extension")
    chmod("\(setup.folder.path)/extension", 0o755)
    try setup.register("app", #", "PackStoreExtension": "extension""#)
    return setup
  }

  /// The packs that an agent with this extension fetches at an installation, and its notices about the extension.
  private func install(
    _ setup: AgentTests.Setup, _ change: (inout GroupAgent.Options) -> Void = { _ in }
  ) async throws -> (packs: [PackID], told: String) {
    let told = Log()
    let agent = setup.agent { options in
      options.manager.environment = ["PLACE": setup.folder.path.string, "PATH": "/usr/bin:/bin"]
      options.limits = Self.muchTime
      options.tell = { notice in if notice.kind == .extension { told.append(notice.text) } }
      change(&options)
    }
    let packs = try await agent.handle(.install, app: nil)
    _ = try await agent.finishRequests()
    return (packs, told.lines.joined(separator: "\n"))
  }

  private func starts(_ setup: AgentTests.Setup) -> Int {
    let text = try? String(contentsOfFile: "\(setup.folder.path)/starts", encoding: .utf8)
    return text?.split(separator: "\n").count ?? 0
  }

  static func answer(_ pack: String, _ isWanted: Bool) -> String {
    let json = #"{"answer":"filter","fetch":\#(isWanted),"format":1,"id":"\#(pack)"}"#
    return "printf '\\000\\000\\000\\\(String(json.utf8.count, radix: 8))\(json)' >&0"
  }

  /// Returns a clock that advances by an hour each time an extension has started, and not otherwise.
  private func startClock(_ setup: AgentTests.Setup) -> @Sendable () -> ContinuousClock.Instant {
    let begin = ContinuousClock.now, file = "\(setup.folder.path)/starts"
    return {
      let text = try? String(contentsOfFile: file, encoding: .utf8)
      return begin + .seconds(3_600) * (text?.split(separator: "\n").count ?? 0)
    }
  }

  /// More than it takes on a machine that is busy with other tests.
  private static var muchTime: ExtensionLimits {
    var limits = ExtensionLimits()
    limits.longestRun = .seconds(3_600)
    limits.dailyTime = .seconds(3_600)
    return limits
  }

  @Test func itsAnswerCounts() async throws {
    let setup = try setUp("\(Self.answer("A", false))\n\(Self.answer("B", true))\ncat <&0 >/dev/null")
    let (packs, told) = try await install(setup)
    #expect(packs == ["B"] && told == "the extension accepts 1 packs and refuses 1", "\(told)")
    #expect(try setup.store.packs().map(\.id) == ["B"])
    // The extension was charged for exactly its time.
    let spent = try #require(try JournalFile(in: setup.group).read().extensionTimes["app"])
    #expect((0..<3_600_000).contains(spent.milliseconds))
  }

  /// A server of a site requests a name and a password: the agent asks the extension. If that fails, the server's refusal counts.
  @Test func itAnswersServersOfSites() async throws {
    let credential = FileChallengeReply.credential(user: "ann", password: "pass word")
    let json = String(decoding: try DownloaderReply.challenge(credential).encode(), as: UTF8.self)
    let reply = "printf '\\000\\000\\000\\\(String(json.utf8.count, radix: 8))\(json)' >&0"
    let cases: [(script: String, reply: FileChallengeReply)] = [
      ("[ $# = 1 ] && [ $1 = downloads ] && \(reply)\ncat <&0 >/dev/null", credential), ("exit 3", .none),
      ("printf '\\000\\000\\000\\002{}' >&0; exec sleep 1000", .none),
    ]
    for (script, expected) in cases {
      let setup = try setUp(script), told = Log()
      let filter = ExtensionFilter(
        app: "app", program: setup.folder.path.appending("extension"), journal: JournalFile(in: setup.group),
        limits: Self.muchTime, environment: ["PLACE": setup.folder.path.string, "PATH": "/usr/bin:/bin"],
        wallClock: { 0 }, now: { .now }, tell: { told.append($0.text) })
      let challenge = FileChallenge(scheme: "https", host: "h.example", port: 443, realm: "r")
      #expect(await filter.reply(to: challenge) == expected && starts(setup) == 1, "\(told.lines)")
      #expect(told.lines.isEmpty == (expected != .none))
      #expect(!told.lines.joined().contains("pass word"))
    }
  }

  /// In its own process, and in an app that has it as a filter, an extension answers without the agent.
  @Test func itsMethodIsCalledInTheProcess() async throws {
    struct Downloader: ManagedDownloaderExtension {
      func backgroundDownload(
        _ download: BADownload, didReceive challenge: URLAuthenticationChallenge
      ) async -> (URLSession.AuthChallengeDisposition, URLCredential?) {
        let user = "\(challenge.protectionSpace.host) \(challenge.previousFailureCount) \(download.identifier)"
        return (.useCredential, URLCredential(user: user, password: "p", persistence: .none))
      }
    }
    let challenge = FileChallenge(scheme: "https", host: "h.example", port: 443, realm: "r", failureCount: 1)
    let request = DownloaderRequest.challenge(DownloadRecord(ofSite: challenge), challenge)
    let service = DownloaderService(Downloader()) { nil }
    let reply = await service.answer(try DownloaderRequest(decoding: request.encode()))
    #expect(reply == .challenge(.credential(user: "h.example 1 https://h.example:443", password: "p")))
    #expect(AssetPackManager.Options(Downloader()).pullOptions.authorization != nil)
  }

  /// The agent continues without the extension after any of these faults.
  @Test(
    arguments: [
      ("kill -SEGV $$", "crashed"), ("exit 3", "exited with status 3"), ("exec <&-; exec sleep 1000", "exited before"),
      ("exec sleep 1000", "time limit"), ("while :; do :; done", "time limit"),
      ("trap '' TERM INT HUP; sleep 1000 & wait", "time limit"),
      ("printf 'hello there' >&0; exec sleep 1000", "invalid answer"),
      ("printf '\\000\\000\\000\\002{}' >&0; exec sleep 1000", "invalid answer"),
      (answer("B", true) + "; exec sleep 1000", "invalid answer"),
      ("while printf '\\000\\000\\000\\002{}'; do :; done >&0", "invalid answer"),
    ])
  func itIsNoHelp(script: String, fault: String) async throws {
    let setup = try setUp(script)
    let (packs, told) = try await install(setup) { options in
      guard fault == "time limit" else { return }
      options.limits.longestRun = .seconds(60)
      options.extensionClock = startClock(setup)
    }
    // The end of a process may be seen before its status.
    let isUnknown = ["crashed", "exited with status 3"].contains(fault) && told.contains("exited before answering")
    #expect(packs == ["A", "B"] && (told.contains(fault) || isUnknown), "\(told)")
    #expect(try setup.store.packs().map(\.id) == ["A", "B"])
    #expect(starts(setup) == 1)
  }

  #if os(Linux)
    /// An extension that exceeds its memory, or whose child does, is ended before it has answered.
    @Test(arguments: ["", "&"]) func itTakesTooMuchMemory(end: String) async throws {
      let setup = try setUp(#"{ text=$(head -c 120000000 /dev/zero | tr '\0' a); sleep 1000; } \#(end)"# + "\nwait")
      let (packs, told) = try await install(setup)
      #expect(packs == ["A", "B"] && told.contains("memory limit"), "\(told)")
      #expect(try #require(processMemory(getpid())) > 0)
      #expect(processMemory(-1) == nil)
    }

    /// Once shared memory did not count: 700 MB with a limit of 64 MB. The process of the test has some of each kind.
    @Test func sharedMemoryCounts() throws {
      let byteCount = 8 << 20
      let before = try #require(processMemory(getpid()))
      let mapped = try #require(
        mmap(nil, byteCount, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0))
      #expect(mapped != MAP_FAILED)
      memset(mapped, 1, byteCount)
      #expect(try #require(processMemory(getpid())) >= before + byteCount / 2)
      munmap(mapped, byteCount)
    }

    /// A file in memory that is written and not mapped.
    @Test(.enabled(if: FileManager.default.isWritableFile(atPath: "/dev/shm")))
    func filesInMemoryCount() async throws {
      let setup = try setUp(
        #"""
        file=/dev/shm/packstore-$$
        exec 9>"$file"
        rm "$file"
        head -c 120000000 /dev/zero >&9
        sleep 1000
        """#)
      let (packs, told) = try await install(setup)
      #expect(packs == ["A", "B"] && told.contains("memory limit"), "\(told)")
    }

    /// Its limits hold after its agent ended: the system enforces the processor time.
    @Test func limitsOutliveTheAgent() throws {
      let child = try ChildProcess(
        "/bin/sh", ["-c", "while :; do :; done"], environment: [:], dataByteCountLimit: nil, processorSeconds: 1)
      guard case .signal? = child.wait(isBlocking: true) else {
        Issue.record("it ended by itself")
        return
      }
    }
  #endif

  /// Its children end with it, also children outside its process group and children that it leaves running.
  @Test(arguments: [
    "sleep 1000 & echo $! >\"$PLACE/child\"; printf 'hello there' >&0; wait",
    "setsid sleep 1000 & echo $! >\"$PLACE/child\"; printf 'hello there' >&0; wait",
    "(sleep 1000 & echo $! >\"$PLACE/child\"); exit 3",
  ])
  func noneOfItIsLeft(script: String) async throws {
    let setup = try setUp(script)
    let (_, told) = try await install(setup)
    // Its end may be seen before its status is.
    #expect(told.contains("invalid answer") || told.contains("before answering"), "\(told)")
    let text = try String(contentsOfFile: "\(setup.folder.path)/child", encoding: .utf8)
    let child = try #require(Int32(text.trimmingCharacters(in: .whitespacesAndNewlines)))
    // It has ended, or is a zombie that waits to be reaped.
    while kill(child, 0) == 0 {
      let status = (try? String(contentsOfFile: "/proc/\(child)/stat", encoding: .utf8)) ?? ") Z"
      if status.contains(") Z") { break }
      sched_yield()
    }
  }

  /// It has so much time a day, and is not started when that is used up. The next day it is.
  @Test func itsTimeIsLimited() async throws {
    let setup = try setUp("exec sleep 1000")
    func run(day: Double) async throws -> String {
      try JournalFile(in: setup.group).update { $0.apps = [:] }
      try await setup.store.remove("A")
      try await setup.store.remove("B")
      return try await install(setup) { options in
        options.limits.dailyTime = .seconds(3)
        options.limits.longestRun = .seconds(2)
        options.extensionClock = startClock(setup)
        options.wallClock = { day * 86_400 + 5 }
      }.told
    }
    _ = try await install(setup) { $0.limits.dailyTime = .zero }
    #expect(starts(setup) == 0)
    for (expected, reason) in [(1, "time limit"), (2, "time limit"), (2, "used its time"), (2, "used its time")] {
      let told = try await run(day: 10)
      #expect(told.contains(reason), "\(told)")
      #expect(starts(setup) == expected)
    }
    #expect(try JournalFile(in: setup.group).read().extensionTimes["app"] == .init(day: 10, milliseconds: 3000))
    _ = try await run(day: 11)
    #expect(starts(setup) == 3)
    // A journal with a wrong time costs the extension a day, and does not trap.
    for time in [Int.max, .min] {
      try JournalFile(in: setup.group).update { $0.extensionTimes["app"] = .init(day: 11, milliseconds: time) }
      _ = try await run(day: 11)
    }
    #expect(starts(setup) == 4)
  }

  /// A program that others can change is not run.
  @Test(arguments: [0o777, 0o775, 0o644]) func othersMayChangeIt(mode: UInt32) async throws {
    let setup = try setUp("exit 0")
    chmod("\(setup.folder.path)/extension", mode_t(mode))
    let (packs, told) = try await install(setup)
    #expect(packs == ["A", "B"] && told.contains("chmod"), "\(told)")
    #expect(starts(setup) == 0)
  }

  /// It inherits its standard streams and no other file of the agent.
  @Test func itInheritsNothing() async throws {
    #if os(Linux)
      let setup = try setUp("ls /proc/self/fd >\"$PLACE/open\"; exit 0")
      // `ls` opens the folder as a file of its own, so the listener needs a number that it does not get.
      let listeners = try (0..<9).map { try LocalSocket.listen(at: SocketPlace("other\($0)", in: setup.folder.path)) }
      let listener = try #require(listeners.max { $0.number < $1.number })
      _ = try await install(setup)
      let text = try String(contentsOfFile: "\(setup.folder.path)/open", encoding: .utf8)
      let numbers = text.split(separator: "\n").map(String.init)
      #expect(Set(["0", "1", "2"]).isSubset(of: numbers) && !numbers.contains("\(listener.number)"))
      withExtendedLifetime(listeners) {}
    #endif
  }

  /// The extension's end of the socket: it answers request by request, until the agent is done or makes no sense.
  @Test func service() async throws {
    let (own, other) = try LocalSocket.pair()
    async let isServed = BlockingExecutor.run {
      (try? FilterService(shouldDownload: { $0.id != "B" }).serve(other)) != nil
    }
    try await BlockingExecutor.run {
      for (id, isWanted) in [("A", true), ("B", false), ("C", true)] {
        var output = try MessageFrames.frame(FilterRequest(pack(id)).encode())[...], frames = MessageFrames()
        while true {
          if let message = try frames.next() {
            #expect(try FilterReply(decoding: message) == FilterReply(PackID(validating: id), isWanted: isWanted))
            break
          }
          output = output.dropFirst(try own.write(output))
          var entries = [pollfd(fd: own.number, events: Int16(POLLIN), revents: 0)]
          _ = systemPoll(&entries, -1)
          if let bytes = try own.read(upTo: frames.room) { frames.append(bytes) }
        }
      }
    }
    own.shutDown()
    #expect(try await isServed)
    let (hostile, last) = try LocalSocket.pair()
    _ = try hostile.write([0, 0, 0, 2, 0x7b, 0x7d])
    #expect(throws: AgentMessageError.malformed) { try FilterService(shouldDownload: { _ in true }).serve(last) }
  }
}
