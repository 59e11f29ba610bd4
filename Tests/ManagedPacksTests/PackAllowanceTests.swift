import Foundation
import PackStore
import Synchronization
import Testing

@testable import ManagedPacks
@testable import PackDelivery

/// U3: the limits of the property list for asset packs until the app's first launch.
@Suite struct PackAllowanceTests {
  private let setup: ManagedSetup

  init() throws {
    let essential = DownloadPolicy.essential(on: [.firstInstallation])
    setup = try ManagedSetup([
      entry("Small", policy: essential, size: 100), entry("Large", policy: essential, size: 1000),
      entry("Extra", policy: .prefetch(on: [.firstInstallation]), size: 100),
    ])
  }

  private func manager(
    isApp: Bool = false, _ change: (inout ManagedConfiguration) -> Void
  ) throws -> AssetPackManager {
    var options = AssetPackManager.Options()
    options.store = setup.store
    options.sites = [setup.site]
    options.environment = [:]
    options.clock = UnmanagedSetup.clock
    options.speaksToAgent = false
    options.registersApp = isApp
    var configuration = try ManagedConfiguration(
      appGroupID: "group.test", sites: [.init("stub")], appID: "app", groupFolder: setup.folder.path.appending("group"))
    change(&configuration)
    return try AssetPackManager(configuration: configuration, options: options)
  }

  private func code(_ id: String, of manager: AssetPackManager) async throws -> BAError.Code? {
    do {
      try await manager.ensureLocalAvailability(of: manager.assetPack(withID: id))
      return nil
    } catch let error as BAError {
      return error.code
    }
  }

  @Test func allowancesAreSeparate() async throws {
    let manager = try manager { $0.restrictions = InitialDownloadRestrictions(byteCount: 50, essentialByteCount: 500) }
    #expect(try await code("Small", of: manager) == nil)
    #expect(try await code("Large", of: manager) == .downloadWouldExceedAllowance)
    #expect(try await code("Extra", of: manager) == .downloadWouldExceedAllowance)
    let use = try #require(try manager.core.journal.read().launches["app"])
    #expect(use.spentEssentialByteCount == 100 && use.spentByteCount == 0 && !use.isLaunched)
  }

  /// The use of an earlier process counts.
  @Test func useOutlivesTheProcess() async throws {
    func limited() throws -> AssetPackManager {
      try manager { $0.restrictions = InitialDownloadRestrictions(byteCount: 0, essentialByteCount: 1050) }
    }
    #expect(try await code("Small", of: limited()) == nil)
    #expect(try await code("Large", of: limited()) == .downloadWouldExceedAllowance)
  }

  @Test func theFirstLaunchEndsTheLimits() async throws {
    func limit(_ configuration: inout ManagedConfiguration) {
      configuration.restrictions = InitialDownloadRestrictions()
      configuration.maxInstallByteCount = 0
    }
    #expect(try await code("Extra", of: manager(limit)) == .downloadWouldExceedAllowance)
    #expect(try await code("Small", of: manager(limit)) == .downloadWouldExceedAllowance)
    #expect(try await code("Small", of: manager(isApp: true, limit)) == nil)
    #expect(try await code("Extra", of: manager(limit)) == nil)
  }

  /// The request of an event stays, so that the app continues it after its launch.
  @Test func refusedPacksAreRequestedAfterTheLaunch() async throws {
    let agent = try manager { $0.restrictions = InitialDownloadRestrictions(byteCount: 0, essentialByteCount: 2000) }
    _ = try await agent.handle(.install)
    _ = try? await agent.finishRequests()
    #expect(agent.assetPackIsAvailableLocally(withID: "Large") && !agent.assetPackIsAvailableLocally(withID: "Extra"))
    let app = try manager(isApp: true) { $0.restrictions = InitialDownloadRestrictions() }
    try await app.detectEvents()
    try await app.finishRequests()
    #expect(app.assetPackIsAvailableLocally(withID: "Extra"))
  }

  @Test func installSizesAreSeparate() async throws {
    let manager = try manager { configuration in
      configuration.essentialMaxInstallByteCount = 1005
      configuration.maxInstallByteCount = 99
    }
    #expect(try await code("Small", of: manager) == nil)
    #expect(try await code("Large", of: manager) == .downloadWouldExceedAllowance)
    #expect(try await code("Extra", of: manager) == .downloadWouldExceedAllowance)
  }

  /// Two downloads that are open at the same time: what one receives in addition to its size is not left for the other.
  @Test func openDownloadsShareTheAllowance() async throws {
    let manager = try manager { $0.restrictions = InitialDownloadRestrictions(byteCount: 0, essentialByteCount: 1300) }
    let core = try manager.core
    let allowance = try #require(PackAllowance(core.configuration, in: core.journal))
    let packs = (
      small: try await manager.assetPack(withID: "Small"), large: try await manager.assetPack(withID: "Large")
    )
    let small = try #require(try allowance.reserve(packs.small))
    let large = try #require(try allowance.reserve(packs.large))
    /// The error that ends a download until it is cancelled.
    func breach(_ reservation: PackAllowance.Reservation) async -> BAError.Code? {
      do {
        try await reservation.limiting {
          while !Task.isCancelled { await Task.yield() }
          throw CancellationError()
        }
        return nil
      } catch { return (error as? BAError)?.code }
    }
    small.record(150, of: 200, for: "Small")
    large.record(1_050, of: 1_100, for: "Large")
    try await small.limiting {}
    try await large.limiting {}
    large.record(1_101, of: 1_101, for: "Large")
    #expect(await breach(large) == .sessionDownloadAllowanceExceeded)
    // The bytes of other packs of a release count, too.
    large.end()
    small.record(1_000, of: 1_000, for: "Other")
    try await small.limiting {}
    small.record(1_000, of: 1_151, for: "Other")
    #expect(await breach(small) == .sessionDownloadDisallowedByAllowance)
  }

  @Test func missingKeysMeanNoLimit() throws {
    func read(_ keys: String) throws -> ManagedConfiguration {
      let list = #"{"BAAppGroupID": "g", "BAManifestURL": "/site", "BAHasManagedAssetPacks": true\#(keys)}"#
      return try ManagedConfiguration(propertyList: Data(list.utf8))
    }
    let none = try read("")
    #expect(none.restrictions == nil && none.maxInstallByteCount == nil && none.essentialMaxInstallByteCount == nil)
    let partial = try read(
      #", "BAInitialDownloadRestrictions": {"BADownloadAllowance": 5}, "BAEssentialMaxInstallSize": 7"#)
    let restrictions = try #require(partial.restrictions)
    #expect(restrictions.byteCount == 5 && restrictions.essentialByteCount == .max)
    #expect(restrictions.allows(host: "example.com") && partial.essentialMaxInstallByteCount == 7)
    let empty = try read(#", "BAInitialDownloadRestrictions": {"BADownloadDomainAllowList": []}"#)
    #expect(empty.restrictions?.allows(host: "example.com") == false && empty.essentialByteCount == nil)
  }

  @Test(arguments: [("https://example.com/manifest.json", true), ("https://other.example.com/manifest.json", false)])
  func domains(url: String, isPermitted: Bool) async throws {
    let transport = StubTransport()
    var file = StubTransport.File(0)
    file.bytes = Array(
      #"{"assetPacks": [{"id": "A", "version": 1, "downloadSize": 10, "url": "https://cdn.example.net/a"}]}"#.utf8)
    transport.files.withLock { [file] in $0[url] = file }
    var options = AssetPackManager.Options()
    options.transport = transport
    options.environment = [:]
    options.speaksToAgent = false
    options.registersApp = false
    var configuration = try ManagedConfiguration(
      appGroupID: "group.test", sites: [.init(url, allowsUnsigned: true)], appID: "app",
      groupFolder: setup.folder.path.appending("other"))
    configuration.restrictions = InitialDownloadRestrictions(
      byteCount: 1000, essentialByteCount: 1000, domains: ["example.com"])
    let manager = try AssetPackManager(configuration: configuration, options: options)
    // The archive's server is checked as well as the manifest's.
    #expect(try await code("A", of: manager) == .sessionDownloadDisallowedByDomain)
    #expect(transport.log.lines == (isPermitted ? ["\(url) 0", "\(url) 0"] : []))
  }
}

extension PackAllowanceTests {
  /// The manifest states 100 bytes. A server that states or sends more than the allowance ends the download with another code than
  /// a pack that is too large according to the manifest.
  @Test(arguments: [
    (500, true, 1000, BAError.Code.sessionDownloadDisallowedByAllowance),
    (500, false, 1000, .sessionDownloadAllowanceExceeded), (101, true, 1000, .sessionDownloadDisallowedByAllowance),
    (500, true, 50, .downloadWouldExceedAllowance),
  ])
  func serverExceedsTheAllowance(served: Int, states: Bool, allowance: Int, code expected: BAError.Code) async throws {
    let url = "https://example.com/manifest.json"
    let transport = StubTransport()
    var manifest = StubTransport.File(0), archive = StubTransport.File(served)
    manifest.bytes = Array(
      #"{"assetPacks": [{"id": "A", "version": 1, "downloadSize": 100, "url": "https://example.com/a"}]}"#.utf8)
    archive.saysLength = states
    // Looks like an archive, so that its kind is not the fault.
    archive.bytes.replaceSubrange(0..<12, with: Array("pbze".utf8) + [UInt8](repeating: 0, count: 8))
    transport.files.withLock { [manifest, archive] files in
      files[url] = manifest
      files["https://example.com/a"] = archive
    }
    var options = AssetPackManager.Options()
    options.transport = transport
    options.environment = [:]
    options.clock = UnmanagedSetup.clock
    options.speaksToAgent = false
    options.registersApp = false
    var configuration = try ManagedConfiguration(
      appGroupID: "group.test", sites: [.init(url, allowsUnsigned: true)], appID: "app",
      groupFolder: setup.folder.path.appending("other"))
    configuration.restrictions = InitialDownloadRestrictions(
      byteCount: min(allowance, 100), essentialByteCount: allowance, domains: ["example.com"])
    let manager = try AssetPackManager(configuration: configuration, options: options)
    #expect(try await code("A", of: manager) == expected)
    let use = try manager.core.journal.read().launches["app"]
    #expect(use?.spentByteCount ?? 0 == 0 && !manager.assetPackIsAvailableLocally(withID: "A"))
  }
}

#if Delivery
  extension PackAllowanceTests {
    /// A site of PackStore on a server that is not in the list.
    @Test func domainsOfSites() async throws {
      let playground = Playground()
      let server = try WebServer.nginx(playground, serving: "www")
      var options = AssetPackManager.Options()
      options.environment = [:]
      options.speaksToAgent = false
      options.registersApp = false
      var configuration = try ManagedConfiguration(
        appGroupID: "group.test", sites: [.init("\(server.url)/site")], appID: "app",
        groupFolder: setup.folder.path.appending("other"))
      configuration.restrictions = InitialDownloadRestrictions(domains: ["example.com"])
      let manager = try AssetPackManager(configuration: configuration, options: options)
      await #expect { try await manager.allAssetPacks } throws: {
        ($0 as? BAError)?.code == .sessionDownloadDisallowedByDomain
      }
      #expect(server.requests.isEmpty)
    }
  }
#endif
