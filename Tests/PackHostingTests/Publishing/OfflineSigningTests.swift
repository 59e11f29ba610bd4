#if Hosting
  import Foundation
  import GRDB
  import PackAuthoring
  import PackDelivery
  import PackFormats
  import PackStore
  import Testing

  @testable import PackHosting

  /// Apps whose roots for the store are signed on another machine.
  @Suite struct OfflineSigningTests {
    /// A host with an app of this kind, and the machine with its root key.
    private struct Setup {
      let host: TestHost
      let app: AppID
      let key: FilePath
      let note: FilePath

      var commands: RootCommands { RootCommands(host.context) }
      var site: FilePath { AppFolder(app, in: host.context.folder).site }

      func request() async throws -> String { try await commands.request(of: app, by: host.admin).text }

      func sign(_ request: String) throws -> String { try OfflineRootSigner(request).sign(key: key, note: note) }

      func accept(_ answer: String) async throws { try await commands.importRoot(answer, app: app, by: host.admin) }

      /// Processes a version, and submits it to the store.
      func submitted(_ text: String, pack: PackID = "City") async throws -> VersionRecord {
        let app = app
        let found = try await host.context.database.read {
          try PackRecord.fetchOne($0, key: ["appID": app, "identifier": pack.name])
        }
        let record: PackRecord
        if let found {
          record = found
        } else {
          record = try await host.packs.create(pack.name, app: app, by: host.developer)
        }
        let version = try await host.packs.createVersion(of: record.id, by: host.developer)
        _ = try await host.upload(try await host.archive(of: pack, ["map.txt": text]), to: version)
        await host.work()
        let draft = try await host.submissions.create(app: app, platform: nil, by: host.developer)
        _ = try await host.submissions.add(.version(version.id), to: draft.id, by: host.developer)
        _ = try await host.submissions.submit(draft.id, by: host.developer)
        await host.work()
        return version
      }

      /// Signs and publishes the newest root.
      func publish() async throws {
        try await accept(try sign(try await request()))
        await host.work()
      }

      func channel() async throws -> ChannelRecord {
        let app = app
        return try #require(try await host.context.database.read { try ChannelRecord.find(app, .store, in: $0) })
      }

      /// The versions that devices of the store see; they trust the root key only.
      func offered(_ pack: PackID = "City") throws -> [UInt64] {
        guard let bytes = try Site(existingAt: site).rootBytes(of: .live) else { return [] }
        let signed = try SignedSiteRoot(decoding: bytes, file: "root"), rootKey = try SiteKey(contentsOf: key).publicKey
        #expect(signed.authority?.rootKey == rootKey)
        return signed.root.packs.first { $0.id == pack }?.offers.map(\.number) ?? []
      }
    }

    private func setup() async throws -> Setup {
      let host = try await TestHost(), apps = AppCommands(host.context)
      var input = AppInput(name: "Offline", bundleID: "com.example.offline", sku: "OFF")
      input.signsOffline = true
      let app = try await apps.create(input, by: host.admin).id
      let machine = host.folder.appending("machine"), key = machine.appending("root.key")
      try FileManager.default.createDirectory(atPath: machine.string, withIntermediateDirectories: true)
      try SiteKey().write(to: key)
      let request = try await apps.delegationRequest(of: app, by: host.admin)
      #expect(request.channels.count == 3 && !request.channels.contains(.live))
      _ = try await apps.importDelegation(try SiteKey.answer(request, by: key), app: app, by: host.admin)
      return Setup(host: host, app: app, key: key, note: machine.appending("note"))
    }

    @Test func rootsAreSignedElsewhere() async throws {
      let setup = try await setup(), host = setup.host
      let first = try await setup.submitted("one")
      #expect(try await host.state(first, .internalBeta) == .readyForTesting, "testers' channels need no signer")
      #expect(try await host.state(first, .store) == .processingForDistribution)
      #expect(try setup.offered() == [])
      let request = try await setup.request()
      #expect(try OfflineRootSigner(request).difference.last == "City: version 1 for all devices (before: none)")
      await host.work()
      #expect(try await setup.request() == request, "a request waits unchanged")
      try await setup.accept(try setup.sign(request))
      await host.work()
      #expect(try setup.offered() == [1])
      #expect(try await host.state(first, .store) == .readyForDistribution)
      let second = try await setup.submitted("two")
      #expect(try setup.offered() == [1], "until it is signed")
      let next = try OfflineRootSigner(try await setup.request())
      #expect(next.difference.last == "City: version 2 for all devices (before: version 1 for all devices)")
      try await setup.publish()
      #expect(try setup.offered() == [2])
      #expect(try await host.state(second, .store) == .readyForDistribution)
      #expect(try await host.state(first, .store) == .superseded)
      let device = try Store(at: host.folder.appending("device"))
      _ = try await device.pull(from: setup.site.string)
      #expect(try device.makeSnapshot().packs.map(\.version.number) == [2])
    }

    /// Operators see that a root waits. After a restore, the request is made again.
    @Test func waitingRootsAreShown() async throws {
      let setup = try await setup(), administration = try Administration(folder: setup.host.folder.string)
      _ = try await setup.submitted("one")
      let findings = try await administration.findings().filter { $0.name == "root request" }
      #expect(
        findings.map(\.state) == ["\(setup.app): revision 1 waits for a signature"]
          && findings.allSatisfy { !$0.isFault })
      _ = try await administration.noteRestore()
      #expect(await apiError { try await setup.request() } == "409 STATE_ERROR.ENTITY_STATE_INVALID")
      await setup.host.work()
      try await setup.publish()
      #expect(try setup.offered() == [1])
      #expect(try await administration.findings().allSatisfy { $0.name != "root request" })
    }

    /// The host's own key cannot sign offers for the store.
    @Test func hostCannotSignForTheStore() async throws {
      let setup = try await setup(),
        key = try SiteKey(contentsOf: AppFolder(setup.app, in: setup.host.context.folder).releaseKey)
      _ = try await setup.submitted("one")
      let root = try OfflineRootSigner(try await setup.request()).root
      #expect(throws: PackStoreError.self) { try root.encode(signedBy: key) }
    }

    /// Only the newest revision is accepted.
    @Test func olderRequestsAreRefused() async throws {
      let setup = try await setup()
      _ = try await setup.submitted("one")
      let old = try setup.sign(try await setup.request())
      _ = try await setup.submitted("other", pack: "Forest")
      #expect(await apiError { try await setup.accept(old) } == "409 ENTITY_ERROR.ATTRIBUTE.INVALID")
      let newest = try setup.sign(try await setup.request())
      try await setup.accept(newest)
      #expect(
        await apiError { try await setup.accept(newest) } == "409 STATE_ERROR.ENTITY_STATE_INVALID",
        "nothing waits any more")
      await setup.host.work()
      #expect(try setup.offered("Forest") == [1])
    }

    @Test func otherRootsAndKeysAreRefused() async throws {
      let setup = try await setup()
      _ = try await setup.submitted("one")
      let text = try await setup.request(), signer = try OfflineRootSigner(text)
      let stranger = setup.host.folder.appending("stranger.key")
      try SiteKey().write(to: stranger)
      let byStranger = try signer.sign(key: stranger, note: setup.host.folder.appending("other-note"))
      #expect(await apiError { try await setup.accept(byStranger) } == "409 ENTITY_ERROR.ATTRIBUTE.INVALID")
      var changed = signer.root
      changed.packs[0].offers[0].share = 1
      let bytes = try changed.encode(signedBy: try SiteKey(contentsOf: setup.key))
      let forged = try RootAnswer(revision: signer.request.revision, root: bytes).text
      #expect(await apiError { try await setup.accept(forged) } == "409 ENTITY_ERROR.ATTRIBUTE.INVALID")
      let unsigned = try RootAnswer(revision: signer.request.revision, root: [UInt8](signer.request.root)).text
      #expect(await apiError { try await setup.accept(unsigned) } == "409 ENTITY_ERROR.ATTRIBUTE.INVALID")
      var damaged = [UInt8](try RootAnswer(text: try setup.sign(text)).root)
      damaged[200] ^= 1
      let broken = try RootAnswer(revision: signer.request.revision, root: damaged).text
      await #expect(throws: PackStoreError.self) { try await setup.accept(broken) }
      for text in ["", "{}", text] { await #expect(throws: PackStoreError.self) { try await setup.accept(text) } }
      #expect(
        await apiError { try await setup.commands.importRoot(forged, app: setup.app, by: setup.host.developer) }
          == "403 FORBIDDEN_ERROR")
      #expect(
        await apiError { try await setup.commands.request(of: setup.app, by: setup.host.stranger) }
          == "403 FORBIDDEN_ERROR")
      #expect(try setup.offered() == [])
    }

    // MARK: - The note

    private func request(_ root: SiteRoot, after predecessor: Data? = nil) throws -> String {
      try RootRequest(
        bundleID: "x", revision: 1, predecessor: predecessor, root: Data(try root.encode(signedBy: nil)), difference: []
      ).text
    }

    /// A host that was restored or taken over asks for an older state.
    @Test func lowerNumbersThanTheNoteAreRefused() async throws {
      let setup = try await setup()
      _ = try await setup.submitted("one")
      let text = try await setup.request(), root = try OfflineRootSigner(text).root
      let answer = try setup.sign(text)
      #expect(try setup.sign(text) == answer, "the same root may be signed again")
      func isRefused(_ change: (inout SiteRoot) -> Void) throws -> Bool {
        var next = root
        next.sequence += 1
        change(&next)
        do {
          _ = try setup.sign(try request(next))
          return false
        } catch let error as PackStoreError { return error.code == .refused }
      }
      #expect(
        try isRefused {
          $0.sequence = root.sequence
          $0.madeAt -= 1
        }, "another root with the same number")
      #expect(
        try isRefused {
          $0.highest = [:]
          $0.packs = []
        })
      let before = try #require(root.highest["City"])
      #expect(
        try isRefused {
          $0.highest["City"] = .init(number: before.number, epoch: before.epoch - 1)
          $0.packs = []
        })
      #expect(try isRefused { $0.madeAt += 10 * 86_400_000_000_000 })
      #expect(try !isRefused { $0.packs = [] })
      #expect(try isRefused { $0.madeAt -= 1 }, "the last signed root counts")
    }

    @Test func damagedNotesAreNotReplaced() async throws {
      let setup = try await setup()
      _ = try await setup.submitted("one")
      try Data("{}x".utf8).write(to: URL(filePath: setup.note.string))
      let text = try await setup.request()
      #expect(throws: PackStoreError.self) { try setup.sign(text) }
      #expect(try String(contentsOfFile: setup.note.string, encoding: .utf8) == "{}x")
    }

    /// The shown difference belongs to the signed root.
    @Test func requestsOfDifferentRootsAreRefused() async throws {
      let setup = try await setup()
      _ = try await setup.submitted("one")
      try await setup.publish()
      _ = try await setup.submitted("two")
      let text = try await setup.request(), signer = try OfflineRootSigner(text)
      let predecessor = try #require(signer.request.predecessor)
      var other = signer.root
      other.channel = try SiteChannel("beta")
      #expect(throws: PackStoreError.self) { try OfflineRootSigner(try request(other, after: predecessor)) }
      other = signer.root
      other.sequence = 1
      #expect(throws: PackStoreError.self) { try OfflineRootSigner(try request(other, after: predecessor)) }
      let signed = Data(try signer.root.encode(signedBy: try SiteKey(contentsOf: setup.key)))
      let resigned = try RootRequest(bundleID: "x", revision: 1, predecessor: nil, root: signed, difference: []).text
      #expect(throws: PackStoreError.self) { try OfflineRootSigner(resigned) }
      for text in ["", "{}", "[]", #"{"format":"packstore-host root request 2"}"#] {
        #expect(throws: PackStoreError.self) { try OfflineRootSigner(text) }
      }
    }

    /// Another root than the recorded one stops the channel, as with the host's own signatures.
    @Test func foreignRootRaisesAnAlarm() async throws {
      let setup = try await setup(), file = URL(filePath: setup.site.appending("root").string)
      _ = try await setup.submitted("one")
      try await setup.publish()
      let old = try Data(contentsOf: file)
      _ = try await setup.submitted("two")
      let answer = try setup.sign(try await setup.request())
      try await setup.publish()
      try old.write(to: file)
      _ = try await setup.submitted("three")
      #expect(try await setup.channel().alarm != nil)
      #expect(await apiError { try await setup.accept(answer) } == "409 STATE_ERROR.ENTITY_STATE_INVALID")
    }
  }
#endif
