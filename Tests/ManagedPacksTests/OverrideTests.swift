import Foundation
import PackAuthoring
import PackDelivery
import PackFormats
import PackStore
import Synchronization
import Testing

@testable import ManagedPacks

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#endif

/// S2: another base for the apps of a group, for a while.
@Suite struct OverrideTests {
  let folder = TestFolder()
  let now = Date().timeIntervalSince1970

  init() { umask(0o022) }

  private func group() throws -> GroupFolder { try GroupFolder(folder.path.appending("group")) }

  private func override(_ url: String, key: SitePublicKey? = nil, ends: Int = 3600) -> URLOverride {
    URLOverride(url: url, key: key, begin: Int(now), end: Int(now) + ends)
  }

  // MARK: - The file

  static let example = URLOverride(
    url: "https://localhost:8443/site", channel: try! SiteChannel("beta"), authority: "-----BEGIN CERTIFICATE-----\n",
    key: SiteKey().publicKey, begin: 1_700_000_000, end: 1_700_007_200)

  @Test func roundTrip() throws {
    let unsigned = URLOverride(url: "https://a/manifest", allowsUnsigned: true, begin: 0, end: 1)
    for override in [Self.example, unsigned, URLOverride(url: "file:///a", begin: 0, end: 0)] {
      #expect(try URLOverride(decoding: override.encode()) == override)
    }
    #expect(Self.example.isActive(at: 1_700_000_000) && !Self.example.isActive(at: 1_700_007_200))
    #expect(!Self.example.isActive(at: 1_699_990_000), "the clock was set back")
    var other = Self.example
    other.end += 5
    #expect(other.folderName == Self.example.folderName)
    other.key = nil
    #expect(other.folderName != Self.example.folderName)
    #expect(unsigned.site.allowsUnsigned && !other.site.allowsUnsigned)
    let signed = URLOverride(url: unsigned.url, begin: 0, end: 1)
    #expect(signed.folderName != unsigned.folderName, "unsigned packs do not stay without the permission")
  }

  @Test(
    arguments: [
      "", "{", "[]", "{}", #"{"format":1}"#, #"{"format":0,"url":"a","begin":0,"end":1}"#,
      #"{"format":"1","url":"a","begin":0,"end":1}"#, #"{"format":1,"url":"","begin":0,"end":1}"#,
      #"{"format":1,"url":5,"begin":0,"end":1}"#, #"{"format":1,"url":"a","begin":-1,"end":1}"#,
      #"{"format":1,"url":"a","begin":2,"end":1}"#, #"{"format":1,"url":"a","begin":0,"end":99999999999}"#,
      #"{"format":1,"url":"a","begin":0,"end":99999999999999999999999}"#,
      #"{"format":1,"url":"a","begin":0,"end":1.5}"#,
      #"{"format":1,"url":"a","begin":0,"end":1,"key":"none"}"#,
      #"{"format":1,"url":"a","begin":0,"end":1,"channel":"A b"}"#,
      #"{"format":1,"url":"a","url":"b","begin":0,"end":1}"#,
      #"{"format":1,"url":"a","begin":0,"end":1,"authority":7}"#,
      #"{"format":1,"url":"a","begin":0,"end":1,"allows_unsigned":1}"#,
      String(repeating: "[", count: 5000),
    ])
  func noOverride(text: String) {
    #expect(throws: URLOverride.Fault.malformed) { try URLOverride(decoding: Array(text.utf8)) }
  }

  @Test func limits() {
    let long = String(repeating: "a", count: URLOverride.urlByteCountLimit + 1)
    let text = #"{"format":1,"url":"\#(long)","begin":0,"end":1}"#
    #expect(throws: URLOverride.Fault.malformed) { try URLOverride(decoding: Array(text.utf8)) }
    #expect(throws: URLOverride.Fault.newer) { try URLOverride(decoding: Array(#"{"format":2}"#.utf8)) }
    #expect(throws: URLOverride.Fault.malformed) {
      try URLOverride(decoding: [UInt8](repeating: 0x20, count: URLOverride.byteCountLimit + 1))
    }
    // Every prefix and every changed byte is an override or a fault.
    let bytes = Self.example.encode()
    for count in bytes.indices {
      #expect(throws: URLOverride.Fault.self) { try URLOverride(decoding: Array(bytes[..<count])) }
      var changed = bytes
      changed[count] ^= 1
      _ = try? URLOverride(decoding: changed)
    }
  }

  /// What another user may have written does not count, and neither does what cannot be read.
  @Test(arguments: ["mode", "folder", "link", "damaged", "newer", "long"]) func ofNoUse(kind: String) throws {
    let group = try group(), file = OverrideFile(in: group), path = "\(group.path)/override"
    try file.set(override("file:///none"))
    #expect(file.state(at: now).active != nil)
    switch kind {
    case "mode": chmod(path, 0o666)
    case "folder": chmod(group.path.string, 0o777)
    case "link":
      rename(path, "\(folder.path)/open")
      chmod("\(folder.path)/open", 0o666)
      symlink("\(folder.path)/open", path)
    case "damaged": try Data("{".utf8).write(to: URL(fileURLWithPath: path))
    case "newer": try Data(#"{"format":9}"#.utf8).write(to: URL(fileURLWithPath: path))
    default: try Data(count: URLOverride.byteCountLimit + 1).write(to: URL(fileURLWithPath: path))
    }
    guard case .refused(let error) = file.state(at: now) else {
      Issue.record("it counts: \(kind)")
      return
    }
    #expect(error.code == .override && !error.remedy.isEmpty)
    chmod(group.path.string, 0o700)
    #expect(try file.clear() && file.state(at: now) == .none)
    #expect(try !file.clear())
  }

  // MARK: - Managers

  /// A publisher whose real site has version 1 of a pack, and another one on the desk with another key.
  private func publish() async throws -> (real: SiteTests.Publisher, desk: SiteTests.Publisher) {
    let real = SiteTests.Publisher(folder: folder, name: "real"),
      desk = SiteTests.Publisher(folder: folder, name: "desk")
    try await real.publish(["P": ["file": "real"]])
    try await desk.publish(["P": ["file": "desk"]])
    return (real, desk)
  }

  private func manager(
    _ real: SiteTests.Publisher, clock: @escaping @Sendable () -> Double, told: Log = Log()
  ) throws -> AssetPackManager {
    var options = AssetPackManager.Options()
    options.environment = [:]
    options.wallClock = clock
    options.onOverride = { told.append($0) }
    options.onFirstContact = { _, _ in }
    let configuration = try ManagedConfiguration(
      appGroupID: "g", sites: [.init(real.site.string, trustedKey: real.key.publicKey)], appID: "app",
      groupFolder: folder.path.appending("group"))
    return try AssetPackManager(configuration: configuration, options: options)
  }

  private func text(_ manager: AssetPackManager) throws -> String {
    String(decoding: try manager.contents(at: "file"), as: UTF8.self)
  }

  /// A running manager goes to the other base and back at its next question; nothing of the real store, its trust and its journal
  /// changes in between.
  @Test func beginsAndEnds() async throws {
    let (real, desk) = try await publish(), time = Mutex(now), told = Log()
    let manager = try manager(real, clock: { time.withLock { $0 } }, told: told)
    try await manager.ensureLocalAvailability(of: manager.assetPack(withID: "P"))
    #expect(try text(manager) == "real")
    let before = try folderContents(folder.path.appending("group"), leavingOut: ["override", "overrides"])

    let file = OverrideFile(in: try group())
    try file.set(override(desk.site.string, key: desk.key.publicKey))
    #expect(try text(manager) == "real", "a call that only reads does not look")
    let pack = try await manager.assetPack(withID: "P")
    #expect(!manager.assetPackIsAvailableLocally(withID: "P"))
    try await manager.ensureLocalAvailability(of: pack)
    #expect(try text(manager) == "desk")
    #expect(told.lines.count == 1 && told.lines[0].contains(desk.site.string))
    #expect(try folderContents(folder.path.appending("group"), leavingOut: ["override", "overrides"]) == before)

    // It ends by itself.
    time.withLock { $0 += 3600 }
    #expect(try text(manager) == "desk")
    _ = try await manager.manifest
    #expect(try text(manager) == "real" && told.lines.count == 2)
    #expect(try folderContents(folder.path.appending("group"), leavingOut: ["override", "overrides"]) == before)
  }

  /// The property list of Apple's talk names no site: with an override it is complete, and without one the first request fails.
  @Test func aListWithoutSitesNeedsAnOverride() async throws {
    let (_, desk) = try await publish()
    let list = #"{"BAAppGroupID": "g", "BAHasManagedAssetPacks": true, "BAUsesAppleHosting": true}"#
    var configuration = try ManagedConfiguration(propertyList: Data(list.utf8))
    #expect(configuration.sites.isEmpty && configuration.hasManagedAssetPacks)
    configuration.groupFolder = folder.path.appending("group")
    var options = AssetPackManager.Options()
    options.environment = [:]
    options.onOverride = { _ in }
    options.onFirstContact = { _, _ in }
    let manager = try AssetPackManager(configuration: configuration, options: options)
    let refusal = await #expect(throws: ManagedPacksError.self) { try await manager.manifest }
    #expect(refusal?.code == .invalidConfiguration)
    try OverrideFile(in: try group()).set(override(desk.site.string, key: desk.key.publicKey))
    try await manager.ensureLocalAvailability(of: manager.assetPack(withID: "P"))
    #expect(try text(manager) == "desk")
  }

  /// Data from overrides is deleted when they are cleared or others are set, except data that a process uses.
  @Test func whatIsLeftGoes() throws {
    let group = try group(), file = OverrideFile(in: group), first = override("file:///a"),
      second = override("file:///b")
    for override in [first, second] { try folder.write("", to: "group/overrides/\(override.folderName)/store/CONTROL") }
    do {
      let use = try OverrideUse(of: group.under(first).home)
      file.sweep(keeping: second)
      #expect(try namesInFolder(group.overrides).sorted() == [first.folderName, second.folderName].sorted())
      withExtendedLifetime(use) {}
    }
    file.sweep(keeping: second)
    #expect(try namesInFolder(group.overrides) == [second.folderName])
    try file.clear()
    #expect(try namesInFolder(group.overrides).isEmpty)
  }

  /// The real store trusts the key of the desk no more than before, and a site on the desk that another key signed is refused.
  @Test func trustStaysApart() async throws {
    let (real, desk) = try await publish(), told = Log()
    let file = OverrideFile(in: try group())
    try file.set(override(desk.site.string, key: real.key.publicKey))
    let manager = try manager(real, clock: { [now] in now }, told: told)
    await #expect(throws: DeliveryError.self) { try await manager.manifest }
    try file.set(override(desk.site.string, key: desk.key.publicKey))
    try await manager.ensureLocalAvailability(of: manager.assetPack(withID: "P"))
    #expect(try text(manager) == "desk")
    let kept = override(desk.site.string, key: desk.key.publicKey).folderName
    try file.clear()
    #expect(try namesInFolder(group().overrides).contains(kept), "a process uses it")
    #expect(!pathExists(try group().store.appending("trust")))
    try await manager.ensureLocalAvailability(of: manager.assetPack(withID: "P"))
    #expect(try text(manager) == "real")
  }

  /// If the base changes during a download, it fails with an error that allows a retry, and its request stays in the
  /// journal.
  @Test func downloadsOfTheOtherBase() async throws {
    let (real, desk) = try await publish()
    let setup = try AgentTests.Setup([try entry("A", policy: .prefetch(on: [.firstInstallation]))])
    setup.site.state.withLock { $0.gates["A"] = Gate() }
    var options = AssetPackManager.Options()
    options.store = setup.store
    options.sites = [setup.site]
    options.environment = [:]
    options.onOverride = { _ in }
    let manager = try AssetPackManager(configuration: setup.list("app"), options: options)
    let updates = manager.statusUpdates(forAssetPackWithID: "A")
    #expect(try await manager.handle(.install) == ["A"])
    await setup.site.log.wait(for: 1)
    try OverrideFile(in: setup.group).set(override(desk.site.string, key: desk.key.publicKey))
    _ = try await manager.manifest
    #expect(await kinds(updates).last == "failed")
    #expect(try setup.requests == ["A"])
    withExtendedLifetime(real) {}
  }

  // MARK: - The agent

  /// The agent follows: its apps are the apps of the group, its journal is the override's, and its status reports that.
  @Test func agentFollows() async throws {
    let (real, desk) = try await publish()
    try folder.write(
      #"{"BAAppGroupID": "g", "BAManifestURL": "\#(real.site)", "CFBundleIdentifier": "app","#
        + #""PackStoreTrustedKey": "\#(real.key.publicKey)", "PackStoreGroupFolder": "\#(folder.path)/group"}"#,
      to: "app.json")
    let group = try group(), log = Log(), file = OverrideFile(in: group)
    try JournalFile(in: group).register(ManagedConfiguration(contentsOf: folder.path.appending("app.json")))
    var options = GroupAgent.Options()
    options.manager.environment = [:]
    options.tell = { log.append([$0.kind.rawValue, $0.pack].compactMap { $0 }.joined(separator: " ")) }
    let agent = GroupAgent(of: group, options: options), client = AgentClient(in: group)
    let run = Task { try await agent.run() }
    await log.wait("started")
    try JournalFile(in: group).update { $0.requests["P"] = .init(urgency: .prefetch) }
    client.refresh()
    await log.wait("finished P")
    let before = try folderContents(group.path, leavingOut: ["override", "overrides", "agent.socket"])

    let override = override(desk.site.string, key: desk.key.publicKey)
    try file.set(override)
    client.refresh()
    await log.wait("override")
    try JournalFile(in: group.under(override)).update { $0.requests["P"] = .init(urgency: .prefetch) }
    let reply = try await client.connect()?.ask(.status, within: nil)
    #expect(reply == .status(process: ProcessInfo.processInfo.processIdentifier, override: override.summary))
    client.refresh()
    await log.wait("finished P", count: 2)
    let store = try Store(at: group.under(override).store, options: .readOnly)
    #expect(try store.packs().map(\.id) == ["P"])
    #expect(try folderContents(group.path, leavingOut: ["override", "overrides", "agent.socket"]) == before)

    try file.clear()
    client.refresh()
    await log.wait("override", count: 2)
    run.cancel()
    try await run.value
    #expect(try folderContents(group.path, leavingOut: ["override", "overrides", "agent.socket"]) == before)
  }
}

/// The files below a folder, each with its bytes, its mode and its modification time.
func folderContents(_ folder: FilePath, leavingOut: Set<String> = []) throws -> [String: String] {
  var contents: [String: String] = [:]
  let paths = FileManager.default.enumerator(atPath: folder.string)?.compactMap { $0 as? String } ?? []
  for path in paths where !leavingOut.contains(String(path.prefix { $0 != "/" })) {
    var info = stat()
    guard lstat("\(folder)/\(path)", &info) == 0 else { continue }
    let isFile = info.st_mode & S_IFMT == S_IFREG
    let data = isFile ? try Data(contentsOf: URL(fileURLWithPath: "\(folder)/\(path)")) : Data()
    let digest = Digest256(hashing: Array(data)).hex
    let time = isFile ? "\(info.st_mtim.tv_sec).\(info.st_mtim.tv_nsec)" : ""
    contents[path] = "\(info.st_mode) \(info.st_ino) \(time) \(digest)"
  }
  return contents
}
