import Foundation
import PackStore
import Synchronization
import Testing

@testable import ManagedPacks
@testable import PackDelivery

/// U2, U3: the limits of downloads: error codes, allowances, domains, and values from files and messages.
@Suite struct UnmanagedLimitTests {
  typealias Setup = UnmanagedSetup
  static let url = "https://example.com/A"

  private static let reached = Mutex(Set<BAError.Code>())

  private func expect(_ code: BAError.Code, _ body: () throws -> Void) {
    #expect(throws: code) { try coded(body) }
    _ = Self.reached.withLock { $0.insert(code) }
  }

  /// The error of a download that an extension has scheduled before the first launch.
  private func failure(_ setup: Setup, _ record: DownloadRecord, isInAppContentAllowed: Bool = true) async throws
    -> BAError.Code?
  {
    try setup.downloads.update { $0.schedule(record, isForeground: false) }
    let end = Mutex<BAError.Code?>(nil)
    let listener = EndListener { _, ended in
      if case .failed(let error) = ended { end.withLock { $0 = (error as? BAError)?.code } }
    }
    var options = DownloadEngine.Options(transport: setup.transport)
    options.clock = Setup.clock
    options.restrictions = setup.restrictions
    options.rules.isInAppContentAllowed = { isInAppContentAllowed }
    if record.name == "large" { options.rules.freeByteCount = { _ in 1 } }
    let lock = try FileLock(setup.downloads.engineLock, waits: false, reason: "")
    try await DownloadEngine(in: setup.downloads, telling: listener, options: options)
      .run(holding: lock, endsWhenIdle: true)
    let code = end.withLock { $0 }
    if let code { _ = Self.reached.withLock { $0.insert(code) } }
    return code
  }

  /// U3: each code is reached, and has Apple's number.
  @Test func everyErrorCode() async throws {
    // Two parts: the gate below holds the second part back, so the download stays open.
    let setup = Setup([Self.url: .init(200)]), manager = try setup.manager()
    let numbers = [0, 50, 51, 55, 56, 100, 101, 102, 103, 109, 111, 112, 113, 202, 203, 204, 206]
    #expect(BAError.Code.allCases.map(\.rawValue) == numbers)
    for url in ["http://example.com/A", "ftp://example.com/A", "file:///etc/passwd", "https:///A"] {
      expect(.downloadInvalid) { try manager.scheduleDownload(Setup.download("A", url: url)) }
    }
    expect(.downloadInvalid) { try manager.scheduleDownload(Setup.download("")) }
    expect(.downloadInvalid) { try manager.scheduleDownload(Setup.download("A", size: -1)) }
    expect(.downloadInvalid) { try manager.scheduleDownload(Setup.download("A", group: "other")) }
    var post = URLRequest(url: URL(string: Self.url)!)
    post.httpMethod = "POST"
    expect(.downloadInvalid) {
      try manager.scheduleDownload(
        BAURLDownload(identifier: "A", request: post, fileSize: 1, applicationGroupIdentifier: "g"))
    }
    expect(.callFromExtensionNotAllowed) {
      try setup.manager { $0.isExtension = true }.startForegroundDownload(Setup.download("A"))
    }
    expect(.callFromInactiveProcessNotAllowed) {
      try setup.manager { $0.isActive = { false } }.startForegroundDownload(Setup.download("A"))
    }
    var broken = try setup.configuration
    broken.groupFolder = FilePath("/dev/null/group")
    expect(.callerConnectionNotAccepted) { _ = try BADownloadManager(configuration: broken) }
    expect(.downloadEssentialDownloadNotPermitted) {
      try manager.scheduleDownload(Setup.download("A", essential: true, size: 1))
    }
    expect(.downloadBackgroundActivityProhibited) {
      try setup.manager { $0.rules.isBackgroundAllowed = { false } }.scheduleDownload(Setup.download("A"))
    }
    setup.transport.change(Self.url) { $0.gate = Gate() }
    let download = Setup.download("A")
    expect(.downloadNotScheduled) { try manager.cancel(download) }
    try manager.scheduleDownload(download)
    expect(.downloadAlreadyScheduled) { try manager.scheduleDownload(download) }
    expect(.downloadAlreadyScheduled) { try manager.startForegroundDownload(Setup.download("A")) }
    try manager.cancel(download)
    expect(.downloadAlreadyFailed) { try manager.scheduleDownload(download) }
    let gone = BADownload.make(Setup.download("A").record)
    gone.move(to: .finished)
    expect(.downloadDoesNotExist) { try manager.cancel(gone) }
    try await manager.core.settle()
    try FileManager.default.removeItem(atPath: setup.downloads.path.string)
    expect(.callerConnectionInvalid) { try manager.scheduleDownload(Setup.download("B")) }

    let limits = InitialDownloadRestrictions(byteCount: 100, essentialByteCount: 100, domains: ["example.com"])
    func restricted(_ count: Int, saysLength: Bool = true) -> Setup {
      let setup = Setup([Self.url: .init(count)], restrictions: limits)
      setup.transport.change(Self.url) { $0.saysLength = saysLength }
      return setup
    }
    expect(.downloadWouldExceedAllowance) {
      try DownloadAdmission(group: "g", restrictions: limits).check(
        Setup.download("A", size: 101).record, DownloadList())
    }
    let plain = Setup.download("A").record
    #expect(try await failure(restricted(101), plain) == .sessionDownloadDisallowedByAllowance)
    #expect(try await failure(restricted(101, saysLength: false), plain) == .sessionDownloadAllowanceExceeded)
    #expect(
      try await failure(restricted(1), Setup.download("A", url: "https://example.org/A").record)
        == .sessionDownloadDisallowedByDomain)
    #expect(
      try await failure(restricted(1), plain, isInAppContentAllowed: false)
        == .sessionDownloadNotPermittedBeforeAppLaunch)
    #expect(try await failure(restricted(1), Setup.download("large", url: Self.url).record) == .downloadFailedToStart)
    #expect(Self.reached.withLock { $0 } == Set(BAError.Code.allCases))
    for code in BAError.Code.allCases {
      let error = BAError(code)
      #expect((error as NSError).code == code.rawValue && (error as NSError).domain == "BAErrorDomain")
      #expect(error.reason.contains("; ") && error.localizedDescription == error.reason)
    }
  }

  /// U3: allowances at their limits, to the byte: by the stated size, by the server's size, by the received bytes.
  @Test(
    arguments: [
      (100, 100, true, nil), (101, 101, true, .downloadWouldExceedAllowance), (0, 100, true, nil),
      (0, 101, true, .sessionDownloadDisallowedByAllowance), (0, 100, false, nil),
      (0, 101, false, .sessionDownloadAllowanceExceeded), (50, 100, true, nil),
      (50, 101, true, .sessionDownloadDisallowedByAllowance), (50, 101, false, .sessionDownloadAllowanceExceeded),
    ] as [(Int, Int, Bool, BAError.Code?)])
  func allowance(stated: Int, actual: Int, saysLength: Bool, code: BAError.Code?) async throws {
    let limits = InitialDownloadRestrictions(byteCount: 100, essentialByteCount: 7, domains: ["example.com"])
    let setup = Setup([Self.url: .init(actual)], restrictions: limits)
    setup.transport.change(Self.url) { $0.saysLength = saysLength }
    let record = Setup.download("A", size: stated).record
    do {
      try DownloadAdmission(group: "g", restrictions: limits).check(record, setup.downloads.list())
      #expect(try await failure(setup, record) == code)
    } catch let error as BAError {
      #expect(error.code == code)
      return
    }
    // Received bytes count, useful or not.
    let list = try setup.downloads.list()
    #expect(list.spentByteCount == (code == .sessionDownloadDisallowedByAllowance ? 0 : 100), "\(list)")
    #expect(list.spentEssentialByteCount == 0)
    // The essential ones are another sum, and nothing is restricted after the first launch.
    let left = DownloadAllowance(limits, list)
    #expect(left.remaining(isEssential: false) == 100 - list.spentByteCount && left.remaining(isEssential: true) == 7)
    var launched = list
    launched.isLaunched = true
    #expect(DownloadAllowance(limits, launched).remaining(isEssential: false) == nil)
    #expect(DownloadAllowance(nil, list).remaining(isEssential: true) == nil)
  }

  /// Open downloads reserve their stated size; the manifest counts as essential.
  @Test func openDownloadsCount() throws {
    let limits = InitialDownloadRestrictions(byteCount: 100, essentialByteCount: 50, domains: ["example.com"])
    var list = DownloadList()
    list.schedule(Setup.download("A", size: 60).record, isForeground: false)
    var manifest = DownloadRecord(name: "manifest", url: Self.url, group: "g")
    manifest.kind = .manifest
    manifest.totalByteCount = 20
    list.schedule(manifest, isForeground: false)
    list.schedule(Setup.download("B", essential: true, size: 30).record, isForeground: false)
    let left = DownloadAllowance(limits, list)
    #expect(left.remaining(isEssential: false) == 40 && left.remaining(isEssential: true) == 0)
    let admission = DownloadAdmission(group: "g", restrictions: limits)
    try admission.check(Setup.download("C", size: 40).record, list)
    for record in [Setup.download("C", size: 41).record, Setup.download("C", essential: true, size: 1).record] {
      #expect(throws: BAError.Code.downloadWouldExceedAllowance) { try coded { try admission.check(record, list) } }
    }
    list.end(list.downloads[0].id, byteCount: 10, CancellationError())
    #expect(DownloadAllowance(limits, list).remaining(isEssential: false) == 90)
  }

  /// U3: domains: exact, or below one.
  @Test(
    arguments: [
      ("example.com", true), ("EXAMPLE.com", true), ("example.com.", true), ("a.example.com", false),
      ("notexample.com", false), ("example.org", false), ("cdn.example.net", true), ("a.b.cdn.example.net", true),
      ("x.example.net", true), ("example.net", false), ("evilexample.net", false), (".example.net", false), ("", false),
    ])
  func domains(host: String, isAllowed: Bool) {
    let limits = InitialDownloadRestrictions(domains: ["Example.com", "*.example.net"])
    #expect(limits.allows(host: host) == isAllowed)
  }

  // MARK: - Property lists

  @Test func propertyList() throws {
    let text = #"""
      {"BAAppGroupID": "g", "BAManifestURL": "https://example.com/manifest.json", "BAMaxInstallSize": 5,
       "BAEssentialMaxInstallSize": 6, "BAInitialDownloadRestrictions": {"BADownloadAllowance": 1,
       "BAEssentialDownloadAllowance": 2, "BADownloadDomainAllowList": ["example.com", "*.example.com"]}}
      """#
    let list = try ManagedConfiguration(propertyList: Data(text.utf8))
    #expect(!list.hasManagedAssetPacks && list.maxInstallByteCount == 5 && list.essentialByteCount == 6)
    #expect(
      list.restrictions
        == InitialDownloadRestrictions(
          byteCount: 1, essentialByteCount: 2, domains: ["example.com", "*.example.com"]))
    #expect(throws: ManagedPacksError.self) { try AssetPackManager(configuration: list) }
    func hasPacks(_ more: String, _ url: String = "https://example.com/m") throws -> Bool {
      try ManagedConfiguration(
        propertyList: Data(#"{"BAAppGroupID": "g", "BAManifestURL": "\#(url)"\#(more)}"#.utf8)
      ).hasManagedAssetPacks
    }
    #expect(try !hasPacks("") && hasPacks("", "/a/folder") && hasPacks("", "http://example.com/m"))
    #expect(try hasPacks(#", "BAHasManagedAssetPacks": true"#) && !hasPacks(#", "BAHasManagedAssetPacks": false"#))
    #expect(try hasPacks(#", "PackStoreChannel": "beta""#))
  }

  @Test(
    arguments: [
      #""BADownloadAllowance": -1"#, #""BADownloadAllowance": "1""#, #""BAEssentialDownloadAllowance": -1"#,
      #""BADownloadDomainAllowList": "example.com""#, #""BADownloadDomainAllowList": [1]"#,
      #""BADownloadDomainAllowList": [""]"#, #""BADownloadDomainAllowList": ["*"]"#,
      #""BADownloadDomainAllowList": ["https://example.com"]"#, #""BADownloadDomainAllowList": ["a b"]"#,
    ])
  func mistakes(member: String) {
    let text = #"{"BAAppGroupID": "g", "BAManifestURL": "https://a/m", "BAInitialDownloadRestrictions": {\#(member)}}"#
    #expect(throws: ManagedPacksError.self) { try ManagedConfiguration(propertyList: Data(text.utf8)) }
  }

  // MARK: - Lists and messages

  private static var list: DownloadList {
    var list = DownloadList()
    var record = Setup.download("A", essential: true, size: 3, priority: .max).record
    record.fields = ["X-Key": "value"]
    record.validator = #""1""#
    list.schedule(record, isForeground: true)
    list.fail(record.id, BAError(.downloadInvalid))
    list.schedule(Setup.download("B").record, isForeground: false)
    list.noteCancel(of: record.id)
    return list
  }

  /// Values from a file or an extension are valid or absent: no damage traps.
  @Test func damagedListsAndMessages() throws {
    let list = Self.list
    #expect(try DownloadList(decoding: list.encode()) == list)
    let records = list.downloads
    let requests: [DownloaderRequest] = [
      .downloads(event: 1, manifest: "/m", left: nil, leftEssential: 0), .finished(records[0], file: "/f"),
      .failed(records[0]), .challenge(records[1], FileChallenge(scheme: "https", host: "h", port: 1, realm: "")), .end,
    ]
    let replies: [DownloaderReply] = [
      .downloads(records), .done, .challenge(.credential(user: "u", password: "p")), .challenge(.cancel),
      .challenge(.none),
    ]
    for request in requests { #expect(try DownloaderRequest(decoding: request.encode()) == request) }
    for reply in replies { #expect(try DownloaderReply(decoding: reply.encode()) == reply) }
    damage(try list.encode()) { _ = try DownloadList(decoding: $0) }
    for request in requests { damage(try request.encode()) { _ = try DownloaderRequest(decoding: $0) } }
    for reply in replies { damage(try reply.encode()) { _ = try DownloaderReply(decoding: $0) } }
  }

  private func damage(_ bytes: [UInt8], _ decode: ([UInt8]) throws -> Void) {
    for index in bytes.indices {
      for bit in [0x01, 0x80] as [UInt8] {
        var damaged = bytes
        damaged[index] ^= bit
        try? decode(damaged)
      }
    }
  }

  @Test(
    arguments: [
      "", "{}", "[]", "null", #"{"format":0.5}"#, #"{"downloads":[{}],"format":1}"#,
      #"{"format":1,"spentByteCount":-1}"#,
      #"{"format":1,"nextNumber":0}"#, #"{"cancelled":["x"],"format":1}"#, #"{"format":1,"format":1}"#,
      #"{"format":1,"spentByteCount":99999999999999999}"#, String(repeating: "[", count: 60_000),
    ])
  func noList(text: String) throws {
    #expect(try DownloadList(decoding: Array(text.utf8)) == nil)
  }

  /// An extension orders no downloads by numbers of its own, however large they are.
  @Test func numbersOfReplies() throws {
    var first = DownloadRecord(name: "A", url: "https://example.com/A", group: "g")
    first.number = .min
    var last = first
    last.number = .max
    #expect(first.isBefore(last) && !last.isBefore(first))
    let bytes = try DownloaderReply.downloads([first]).encode()
    #expect(throws: AgentMessageError.self) { try DownloaderReply(decoding: bytes) }
  }

  /// A local failure is not reported as a fault of the network.
  @Test func localFailures() {
    let failure = DownloadRecord.Failure(PackStoreError(.busy, "a file cannot be locked"))
    #expect((failure.error as? DeliveryError)?.code == .ioError)
  }

  @Test func newerList() {
    #expect(throws: ManagedPacksError.self) { try DownloadList(decoding: Array(#"{"format":2}"#.utf8)) }
  }

  /// Nothing of a record leads out of its folder, or ends a line of a request.
  @Test func boundedRecords() {
    func isBounded(_ change: (inout DownloadRecord) -> Void) -> Bool {
      var record = Setup.download("A").record
      change(&record)
      return record.isBounded
    }
    #expect(isBounded { _ in })
    #expect(!isBounded { $0.id = "../../x" } && !isBounded { $0.id = "" } && !isBounded { $0.name = "" })
    #expect(!isBounded { $0.fields = ["X": "a\r\nY: b"] } && !isBounded { $0.fields = ["X: y": "a"] })
    #expect(!isBounded { $0.byteCount = -1 } && !isBounded { $0.byteCount = .max })
    #expect(!isBounded { $0.totalByteCount = -1 } && !isBounded { $0.validator = "a\nb" })
    #expect(
      !isBounded { $0.lostByteCount = .max } && !isBounded { $0.syncedByteCount = -1 } && !isBounded { $0.number = -1 })
  }
}

/// Hears of ends alone.
struct EndListener: DownloadListener {
  let hear: @Sendable (DownloadRecord, DownloadEnd) -> Void

  func began(_ record: DownloadRecord) async {}
  func paused(_ record: DownloadRecord) async {}
  func wrote(_ record: DownloadRecord, byteCount: Int, total: Int, expected: Int?) {}
  func challenge(_ record: DownloadRecord, _ challenge: FileChallenge) async -> FileChallengeReply { .none }
  func ended(_ record: DownloadRecord, _ end: DownloadEnd) async -> Hearing {
    hear(record, end)
    return .heard
  }
  func fellSilent() async {}
}
