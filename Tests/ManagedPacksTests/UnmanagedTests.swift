import Foundation
import PackStore
import Synchronization
import Testing

@testable import ManagedPacks
@testable import PackDelivery

/// U1, U2: an app's own downloads, in the app.
@Suite struct UnmanagedTests {
  typealias Setup = UnmanagedSetup
  static let url = "https://example.com/A"

  /// U1: a download is scheduled, completed and handed over; a file that the callback leaves is deleted, with all
  /// records of the list.
  @Test func downloadsAndHandsOver() async throws {
    let setup = Setup([Self.url: .init(250)])
    let manager = try setup.manager(), delegate = TestDelegate()
    let download = Setup.download("A", size: 250)
    #expect(download.state == .created && !download.isEssential && download.priority == .default)
    manager.delegate = delegate
    try manager.scheduleDownload(download)
    await delegate.log.wait(for: 2)
    try await manager.core.settle()
    #expect(delegate.log.lines == ["began A (downloading)", "finished A (finished) 250"])
    #expect(download.state == .finished)
    let list = try setup.downloads.list()
    #expect(list.downloads.isEmpty && list.delivered.isEmpty && list.isLaunched)
    #expect(try namesInFolder(setup.downloads.path.appending("ready")) == [])
    #expect(try namesInFolder(setup.downloads.path.appending("parts")) == [])
    #expect(try await manager.currentDownloads.isEmpty && manager.fetchCurrentDownloads().isEmpty)
  }

  /// U1: every transition of a download's states.
  @Test func states() async throws {
    let setup = Setup([Self.url: .init(300)])
    setup.transport.change(Self.url) { $0.breaks = [100] }
    let gate = Gate()
    setup.transport.change(Self.url) { $0.gate = gate }
    let manager = try setup.manager(), delegate = TestDelegate()
    manager.delegate = delegate
    let download = Setup.download("A")
    var seen: [BADownload.State] = [download.state]
    try manager.scheduleDownload(download)
    // The first request breaks: downloading, waiting, downloading.
    await delegate.log.wait(for: 3)
    seen.append(download.state)
    #expect(try manager.fetchCurrentDownloads().map(\.state) == [.downloading])
    gate.open()
    await delegate.log.wait(for: 4)
    seen.append(download.state)
    #expect(seen == [.created, .downloading, .finished])
    #expect(
      delegate.log.lines == [
        "began A (downloading)", "paused A (waiting)", "began A (downloading)", "finished A (finished) 300",
      ])
    #expect(setup.transport.log.lines == ["\(Self.url) 0", "\(Self.url) 100"])
    // To failed, from waiting by a cancel, and from downloading by an error.
    let other = Setup.download("None")
    try manager.scheduleDownload(other)
    await delegate.log.wait(for: 6)
    #expect(other.state == .failed && delegate.log.lines.last == "failed None (failed) denied")
    let third = Setup.download("A")
    setup.transport.change(Self.url) { $0.gate = Gate() }
    try manager.scheduleDownload(third)
    await delegate.log.wait(for: 7)
    try manager.cancel(third)
    #expect(third.state == .failed)
    try await manager.core.settle()
    #expect(delegate.log.lines.count == 7, "no callback tells of a cancel")
    #expect(BADownload.State.allCases.map(\.rawValue) == [-1, 0, 1, 2, 3])
  }

  /// U1: a download that is promoted goes on where it is.
  @Test func promotionDoesNotStartOver() async throws {
    let setup = Setup([Self.url: .init(1000)]), gate = Gate()
    setup.transport.change(Self.url) { $0.gate = gate }
    let manager = try setup.manager(), delegate = TestDelegate()
    manager.delegate = delegate
    try manager.scheduleDownload(Setup.download("A"))
    await delegate.log.wait(for: 1)
    let found = try #require(try manager.fetchCurrentDownloads().first { $0.identifier == "A" })
    try manager.startForegroundDownload(found)
    try manager.startForegroundDownload(found)
    #expect(try setup.downloads.list().downloads.map(\.isForeground) == [true])
    gate.open()
    await delegate.log.wait(for: 2)
    #expect(delegate.log.lines.last == "finished A (finished) 1000")
    #expect(setup.transport.log.lines == ["\(Self.url) 0"])
  }

  /// U1: a download that waits for a retry starts at once when it is promoted, and then fails at once.
  @Test func foregroundFailsAtOnce() async throws {
    let setup = Setup([Self.url: .init(10)])
    setup.transport.change(Self.url) { $0.failures = [StubTransport.fault("no network")] }
    let manager = try setup.manager(), delegate = TestDelegate()
    manager.delegate = delegate
    try manager.startForegroundDownload(Setup.download("A"))
    await delegate.log.wait(for: 2)
    #expect(delegate.log.lines == ["began A (downloading)", "failed A (failed) unreachable"])
    // In the background it is tried again, as often as the rules say.
    setup.transport.change(Self.url) { $0.failures = (0..<8).map { _ in StubTransport.fault("no network") } }
    try manager.scheduleDownload(Setup.download("A"))
    await delegate.log.wait(for: 2 + 8 * 2 + 2)
    #expect(delegate.log.lines.last == "finished A (finished) 10")
  }

  /// U1: a cancel works in any state, any number of times; the list does not contain a download that ended otherwise.
  @Test func cancelTwice() async throws {
    let setup = Setup([Self.url: .init(1000)])
    setup.transport.change(Self.url) { $0.gate = Gate() }
    let manager = try setup.manager(), delegate = TestDelegate()
    manager.delegate = delegate
    let download = Setup.download("A")
    #expect(throws: BAError.Code.downloadNotScheduled) { try coded { try manager.cancel(download) } }
    try manager.scheduleDownload(download)
    await delegate.log.wait(for: 1)
    for _ in 0..<3 { try manager.cancel(download) }
    #expect(try manager.fetchCurrentDownloads().isEmpty)
    try await manager.core.settle()
    #expect(try namesInFolder(setup.downloads.path.appending("parts")) == [])
    // Also by another manager of the app.
    try setup.manager().cancel(download)
  }

  /// U1: what came before a process was killed comes no second time, unless the file changed, or nothing names its state.
  @Test(arguments: [("same", 500), ("changed", 0), ("unnamed", 0), ("rebooted", 300)])
  func resumesAfterAKill(what: String, offset: Int) async throws {
    let setup = Setup([Self.url: .init(1000)])
    // As a process leaves it that was killed: the list, and a part.
    var record = DownloadRecord(name: "A", url: Self.url, group: "g")
    record.validator = what == "unnamed" ? nil : what == "changed" ? #""0""# : #""1""#
    record.totalByteCount = 1000
    record.syncedByteCount = 300
    record.boot = what == "rebooted" ? "another" : bootID()
    let folder = try setup.downloads
    try folder.update { $0.schedule(record, isForeground: false) }
    let bytes = StubTransport.File(1000).bytes
    let part = try PartFile(folder.part(record.id))
    try Array(bytes[..<500]).withUnsafeBytes { try part.write($0, at: 0) }
    let taken = Mutex([UInt8]())
    let delegate = TestDelegate(take: { _, url in
      let data = (try? Data(contentsOf: url)) ?? Data()
      taken.withLock { $0 = Array(data) }
    })
    let manager = try setup.manager()
    manager.delegate = delegate
    await delegate.log.wait(for: 2)
    #expect(taken.withLock { $0 } == bytes)
    let asked = what == "changed" ? 500 : offset
    #expect(setup.transport.log.lines == ["\(Self.url) \(asked)"])
  }

  /// If a process ends anywhere between the last byte and the callback's return, the end is reported, a second time if
  /// necessary.
  @Test(arguments: ["moved", "listed", "told"]) func endsAreToldAfterAKill(point: String) async throws {
    let setup = Setup(), folder = try setup.downloads
    let record = DownloadRecord(name: "A", url: Self.url, group: "g")
    try folder.update { $0.schedule(record, isForeground: false) }
    let ready = try PartFile(folder.ready(record.id))
    try [1, 2, 3].withUnsafeBytes { try ready.write($0, at: 0) }
    if point != "moved" { try folder.update { $0.end(record.id, byteCount: 3, nil) } }
    if point == "told" { try removeFile(ready.place) }
    // Files without an entry in a list are deleted.
    _ = try PartFile(folder.part(UUID().uuidString))
    let manager = try setup.manager(), delegate = TestDelegate()
    manager.delegate = delegate
    try await manager.core.settle()
    #expect(delegate.log.lines.map { $0.hasPrefix("finished A") } == (point == "told" ? [] : [true]))
    #expect(try folder.list().downloads.isEmpty && namesInFolder(folder.path.appending("parts")).isEmpty)
  }

  /// U1: without a delegate an end waits for one.
  @Test func endsWaitForADelegate() async throws {
    let setup = Setup([Self.url: .init(10)]), manager = try setup.manager()
    try manager.scheduleDownload(Setup.download("A"))
    try await manager.core.settle()
    #expect(try setup.downloads.list().downloads.map(\.phase) == [.finished])
    let delegate = TestDelegate()
    manager.delegate = delegate
    await delegate.log.wait(for: 1)
    #expect(delegate.log.lines == ["finished A (finished) 10"])
  }

  /// U1: exclusive control is one's at a time, and not to be had after a date.
  @Test func exclusiveControl() async throws {
    let setup = Setup(), manager = try setup.manager(), other = try setup.manager()
    let log = Log()
    await withTaskGroup { group in
      for manager in [manager, other, manager, other] {
        group.addTask {
          try? await manager.withExclusiveControl {
            log.append("begin")
            await Task.yield()
            log.append("end")
          }
        }
      }
    }
    #expect(log.lines == ["begin", "end", "begin", "end", "begin", "end", "begin", "end"])
    try await manager.withExclusiveControl {
      let told = Log()
      other.withExclusiveControl(before: .distantPast) { isAcquired, error in
        told.append("\(isAcquired) \((error as? PackStoreError)?.code == .busy)")
      }
      await told.wait(for: 1)
      #expect(told.lines == ["false true"])
      await #expect { try await other.withExclusiveControl(before: .distantPast) {} } throws: {
        ($0 as? PackStoreError)?.code == .busy
      }
    }
    let told = Log()
    other.withExclusiveControl { isAcquired, error in told.append("\(isAcquired) \(error == nil)") }
    await told.wait(for: 1)
    #expect(told.lines == ["true true"])
    #expect(try await manager.withExclusiveControl(before: .distantFuture) { 7 } == 7)
  }

  /// U2: what each initialiser makes, and the copy that is not essential.
  @Test func urlDownloads() throws {
    let request = URLRequest(url: URL(string: Self.url)!)
    let essential = Setup.download("A", essential: true, size: 7, priority: .max)
    #expect(essential.isEssential && essential.priority == .max && essential.record.byteCount == 7)
    let copy = essential.removingEssential()
    #expect(type(of: copy) == BAURLDownload.self && !copy.isEssential && copy != essential && copy.state == .created)
    #expect(copy.identifier == "A" && copy.priority == .max && copy.record.byteCount == 7)
    let short = BAURLDownload(identifier: "B", request: request, fileSize: 5, applicationGroupIdentifier: "g")
    #expect(!short.isEssential && short.record.byteCount == 5 && short.priority == .default)
    #expect(BADownload.Priority.min < .default && BADownload.Priority.default < .max)
    var fields = URLRequest(url: URL(string: Self.url)!)
    fields.setValue("a", forHTTPHeaderField: "X-Key")
    fields.addValue("b", forHTTPHeaderField: "x-key")
    #expect(fields.value(forHTTPHeaderField: "X-KEY") == "a,b" && fields.allHTTPHeaderFields?.count == 1)
  }

  /// U2: an essential download must have its stated size, to the byte, with and without the server's length.
  @Test(arguments: [(99, true), (99, false), (100, true), (100, false), (101, true), (101, false)])
  func exactSize(count: Int, saysLength: Bool) async throws {
    let setup = Setup([Self.url: .init(count)])
    setup.transport.change(Self.url) { $0.saysLength = saysLength }
    let record = Setup.download("A", essential: true, size: 100).record
    try setup.downloads.update { $0.schedule(record, isForeground: false) }
    let manager = try setup.manager(), delegate = TestDelegate()
    manager.delegate = delegate
    await delegate.log.wait(for: 2)
    #expect(
      delegate.log.lines.last
        == (count == 100 ? "finished A (finished) 100" : "failed A (failed) downloadInvalid"))
  }

  /// Essential downloads first, and their ends in a batch; then the others, by priority.
  @Test func order() async throws {
    let names = ["A", "B", "C", "D"]
    let setup = Setup(Dictionary(uniqueKeysWithValues: names.map { ("https://example.com/\($0)", .init(10)) }))
    let folder = try setup.downloads
    try folder.update { list in
      list.schedule(Setup.download("C", size: 10, priority: .min).record, isForeground: false)
      list.schedule(Setup.download("D", size: 10, priority: .max).record, isForeground: false)
      for name in ["A", "B"] {
        list.schedule(Setup.download(name, essential: true, size: 10).record, isForeground: false)
      }
    }
    let manager = try setup.manager { $0.rules.concurrentDownloadCount = 1 }, delegate = TestDelegate()
    manager.delegate = delegate
    await delegate.log.wait(for: 8)
    let lines = delegate.log.lines.map { String($0.prefix { $0 != "(" }) }
    #expect(Set(lines.prefix(2)) == ["began A ", "began B "])
    #expect(try #require(lines.firstIndex(of: "began D ")) < #require(lines.firstIndex(of: "began C ")))
    #expect(lines.filter { $0.hasPrefix("finished") }.count == 4)
  }

  /// U1: a challenge is answered by the delegate, and a refusal or a cancel ends the download.
  @Test(arguments: [
    ("secret", "finished A (finished) 10"), ("wrong", "failed A (failed) denied"),
    ("", "failed A (failed) downloadInvalid"),
  ])
  func challenges(password: String, end: String) async throws {
    let setup = Setup([Self.url: .init(10)])
    setup.transport.change(Self.url) { $0.password = "secret" }
    let delegate = TestDelegate(answer: { challenge in
      #expect(challenge.protectionSpace.host == "example.com" && challenge.protectionSpace.realm == "stub")
      #expect(challenge.protectionSpace.authenticationMethod == NSURLAuthenticationMethodHTTPBasic)
      guard !password.isEmpty else { return (.cancelAuthenticationChallenge, nil) }
      return (.useCredential, URLCredential(user: "player", password: password, persistence: .none))
    })
    let manager = try setup.manager()
    manager.delegate = delegate
    try manager.startForegroundDownload(Setup.download("A"))
    await delegate.log.wait(for: 2)
    #expect(delegate.log.lines.last == end)
  }

  // MARK: - Purging

  /// U1: a delivered file is purgeable while it stays unchanged anywhere in the group's folder.
  @Test(arguments: ["left", "moved", "container", "modified", "elsewhere"]) func purging(what: String) async throws {
    let setup = Setup([Self.url: .init(100)]), group = try setup.group.path
    let container = try #require(groupContainer("g", setup.configuration, [:])),
      isMoved = ["moved", "container"].contains(what)
    let folder = what == "container" ? FilePath(container.path) : group.appending("films")
    let place = what == "elsewhere" ? setup.folder.path.appending("A") : folder.appending("A")
    try FileManager.default.createDirectory(atPath: "\(group)/films", withIntermediateDirectories: true)
    let delegate = TestDelegate(take: { _, url in
      guard what != "left" else { return }
      try? FileManager.default.moveItem(atPath: url.path, toPath: place.string)
    })
    let manager = try setup.manager()
    manager.delegate = delegate
    try manager.scheduleDownload(Setup.download("A"))
    await delegate.log.wait(for: 2)
    try await manager.core.settle()
    #expect(pathExists(place) == (what != "left"))
    #expect(try setup.downloads.list().delivered.count == (what == "left" ? 0 : 1))
    if what == "modified" { try Data("other".utf8).write(to: URL(fileURLWithPath: place.string)) }
    #expect(try PurgeableDownloads(in: group).byteCount() == (isMoved ? 100 : 0))
    let result = try PurgeableDownloads(in: group).purge(byteCount: 1)
    #expect(result.freedByteCount == (isMoved ? 100 : 0) && result.fileCount == (isMoved ? 1 : 0))
    #expect(pathExists(place) == ["modified", "elsewhere"].contains(what))
    #expect(try setup.downloads.list().delivered.isEmpty, "what is not as it was delivered is the app's")
  }

  @Test func containersOfGroups() throws {
    let setup = Setup(), other = setup.folder.path.appending("data")
    let environment = ["XDG_DATA_HOME": other.string]
    let named = try #require(groupContainer("g", setup.configuration, environment))
    #expect(named.path == setup.folder.path.appending("group/container").string && isFolder(FilePath(named.path)))
    let standard = try #require(groupContainer("other", setup.configuration, environment))
    #expect(standard.path == other.appending("packstore/other/container").string)
    for invalid in ["", "../g", "a/b", String(repeating: "g", count: 200)] {
      #expect(groupContainer(invalid, nil, environment) == nil)
    }
    try FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: "\(other)/packstore/other")
    #expect(groupContainer("other", nil, environment) == nil, "other users can enter the group's folder")
  }

  /// A store is a group's only in a folder that is this user's alone, and has downloads.
  @Test func storesOfGroups() throws {
    let setup = Setup(), store = try setup.group.store
    let isEarly = PurgeableDownloads(ofStore: store) != nil
    _ = try setup.downloads
    let isGroups = PurgeableDownloads(ofStore: store) != nil
    let isOther = try PurgeableDownloads(ofStore: setup.group.path.appending("films")) != nil
    let group = try setup.group.path.string
    try FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: group)
    let isOpen = PurgeableDownloads(ofStore: store) != nil
    #expect([isEarly, isGroups, isOther, isOpen] == [false, true, false, false])
  }

  /// The least valuable goes first, and no more than is needed.
  @Test func purgesByPriority() async throws {
    let setup = Setup(), group = try setup.group.path, folder = try setup.downloads
    for (number, priority) in [(1, 5), (2, -5), (3, 0)] {
      let path = group.appending("\(number)")
      try Data(count: 100).write(to: URL(fileURLWithPath: path.string))
      var record = DownloadRecord(name: "\(number)", url: Self.url, group: "g")
      record.priority = priority
      record.number = number
      let file = try #require(DeliveredFile(path, of: record))
      try folder.update { $0.delivered.append(file) }
    }
    #expect(try PurgeableDownloads(in: group).purge(byteCount: 150).fileCount == 2)
    #expect([1, 2, 3].map { pathExists(group.appending("\($0)")) } == [true, false, false])
    PurgeableDownloads.makeRoom(byteCount: 1, in: try setup.group)
    #expect(!pathExists(group.appending("1")))
  }

  /// Events wait without threads, and waiting events of a kind run once.
  @Test func waitingEventsOfAKindRunOnce() async throws {
    guard #available(macOS 26, *) else { return }
    let url = "https://example.com/manifest"
    let setup = Setup([url: .init(200)]), gate = Gate()
    setup.transport.change(url) { $0.gate = gate }
    var configuration = try setup.configuration
    configuration.downloaderExtension = "/bin/false"
    var options = GroupAgent.Options()
    options.transport = setup.transport
    options.manager.clock = Setup.clock
    let app = try UnmanagedApp("app", configuration, in: setup.group, options)
    let first = Task { try await app.handle(.periodic) }
    await setup.transport.log.wait(for: 1)
    // Each has called the app when the next one begins.
    let others = (0..<20).map { number in
      Task.immediate { try await app.handle(number.isMultiple(of: 2) ? .periodic : .languageChange) }
    }
    await app.forget(0)
    gate.open()
    for task in [first] + others { #expect(try await task.value == []) }
    #expect(setup.transport.log.lines == Array(repeating: "\(url) 0", count: 3))
  }
}

/// Returns the code of the error that a body throws.
func coded(_ body: () throws -> Void) throws {
  do { try body() } catch let error as BAError { throw error.code }
}

extension BAError.Code: Error {}
