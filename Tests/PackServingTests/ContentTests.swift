#if Serving
  import Foundation
  import HTTPTypes
  import NIOCore
  import PackAuthoring
  import PackStore
  import Synchronization
  import Testing

  @testable import PackServer
  @testable import PackServing

  /// The served files follow the files on disk, and are never half of one.
  @Suite struct ContentTests {
    let fixture = try! ServedFixture()

    private func versions(_ router: Router) async throws -> [String: Int] {
      let manifest = await router.get("/manifest")
      let json = try #require(JSONSerialization.jsonObject(with: Data(manifest.content)) as? [String: Any])
      let packs = try #require(json["assetPacks"] as? [[String: Any]])
      return Dictionary(uniqueKeysWithValues: packs.map { ($0["id"] as? String ?? "", $0["version"] as? Int ?? 0) })
    }

    @Test func aManifestNamesTheArchives() async throws {
      let store = try await fixture.install()
      try await fixture.export("Tutorial", from: store, to: "Tutorial.pack")
      let router = fixture.router(try await fixture.content("Tutorial.pack"))
      let manifest = await router.get("/manifest?platform=iOS", host: "dev.example:9000")
      let json = try #require(JSONSerialization.jsonObject(with: Data(manifest.content)) as? [String: Any])
      let pack = try #require((json["assetPacks"] as? [[String: Any]])?.first)
      #expect(pack["id"] as? String == "Tutorial" && pack["version"] as? Int == 1)
      #expect(pack["url"] as? String == "https://dev.example:9000/packs/Tutorial")
      #expect(pack["downloadSize"] as? UInt64 == (await router.get("/packs/Tutorial")).byteCount)
      #expect((pack["host"] as? [String: Any])?["thirdParty"] != nil)
    }

    @Test func storesAndSitesHaveArchivesToo() async throws {
      let store = try await fixture.install("Level", seed: 3)
      try await fixture.publish(try await fixture.install("Sound", seed: 4, in: "other"), to: "site")
      let router = fixture.router(try await fixture.content("store", "site"))
      #expect(try await versions(router) == ["Level": 1, "Sound": 1])
      #expect(await router.get("/packs/Sound").status == .ok)
      try await fixture.install("Level", seed: 5)
      withExtendedLifetime(store) {}
      let content = router.content
      await content.load()
      #expect(try await versions(router) == ["Level": 2, "Sound": 1])
    }

    /// A changed archive is served without a restart; an incomplete one is not, and the site serves the previous one
    /// until it is complete.
    @Test func aHalfCopiedArchiveIsNotSeen() async throws {
      let notices = Mutex<[String]>([])
      let store = try await fixture.install()
      try await fixture.export("Tutorial", from: store, to: "Tutorial.pack")
      let content = try await fixture.content("Tutorial.pack") { text in notices.withLock { $0.append(text) } }
      let router = fixture.router(content)
      let firstRoot = await router.get("/site/root"), firstTag = await router.get("/packs/Tutorial").fields[.eTag]
      #expect(firstRoot.status == .ok && firstTag != nil)
      try await fixture.install(seed: 2)
      try await fixture.export("Tutorial", from: store, to: "next.pack")
      let next = try Data(contentsOf: URL(fileURLWithPath: fixture.place("next.pack").string))
      let file = fixture.place("Tutorial.pack").string

      // Copied in place, and interrupted at several points: no state of the file is served.
      for count in [0, 100, 511, 10_000, next.count / 2, next.count - 1] {
        try next.prefix(count).write(to: URL(fileURLWithPath: file))
        await content.load()
        let half = await router.get("/packs/Tutorial")
        #expect(half.status == .serviceUnavailable && half.fields[.retryAfter] == "1", "\(count) bytes")
        #expect(await router.get("/site/root").content == firstRoot.content, "\(count) bytes")
      }
      #expect(!content.state.faults.isEmpty && !notices.withLock { $0 }.isEmpty)
      try next.write(to: URL(fileURLWithPath: file))
      await content.load()
      #expect(content.state.faults.isEmpty)
      #expect(try await versions(router) == ["Tutorial": 2])
      let second = await router.get("/packs/Tutorial")
      #expect(second.content == Array(next) && second.fields[.eTag] != firstTag)
      #expect(await router.get("/site/root").content != firstRoot.content)
    }

    /// A transfer that has begun ends when its file is written under it, rather than go on with other bytes.
    @Test func aFileThatIsWrittenUnderATransferEndsIt() async throws {
      let store = try await fixture.install()
      try await fixture.export("Tutorial", from: store, to: "Tutorial.pack")
      let router = fixture.router(try await fixture.content("Tutorial.pack"))
      guard case .file(let file, let range) = await router.get("/packs/Tutorial").body else {
        Issue.record("an archive is a file")
        return
      }
      var buffer = ByteBuffer()
      try file.read(0..<100, into: &buffer)
      let handle = try FileHandle(forWritingTo: URL(fileURLWithPath: fixture.place("Tutorial.pack").string))
      try handle.write(contentsOf: Data("other bytes".utf8))
      try handle.close()
      #expect(throws: PackStoreError.self) { try file.read(100..<200, into: &buffer) }
      try FileManager.default.removeItem(atPath: fixture.place("Tutorial.pack").string)
      #expect(throws: PackStoreError.self) { try file.read(range, into: &buffer) }
    }

    /// Two different archives with one number are reported as a fault; the served one stays.
    @Test func anotherContentNeedsAnotherNumber() async throws {
      let store = try await fixture.install()
      try await fixture.export("Tutorial", from: store, to: "Tutorial.pack")
      let content = try await fixture.content("Tutorial.pack")
      let other = try await fixture.install(seed: 9, in: "other")
      try await fixture.export("Tutorial", from: other, to: "Tutorial.pack")
      await content.load()
      let fault = try #require(content.state.faults.values.first)
      #expect(fault.contains("'Tutorial'") && fault.contains("higher version number"), "\(fault)")
      let router = fixture.router(content)
      let archive = await router.get("/packs/Tutorial")
      #expect(archive.status == .serviceUnavailable)
      #expect(String(decoding: archive.content, as: UTF8.self).contains("higher version number"))
      #expect(await router.get("/site/root").status == .ok)
      // With another number it is served.
      try await fixture.install(seed: 10, in: "other")
      try await fixture.export("Tutorial", from: other, to: "Tutorial.pack")
      await content.load()
      #expect(content.state.faults.isEmpty)
      #expect(try await versions(router) == ["Tutorial": 2])
    }

    @Test func whatIsNoSourceIsRefused() async throws {
      try Data("text".utf8).write(to: URL(fileURLWithPath: fixture.place("text").string))
      try FileManager.default.createDirectory(atPath: fixture.place("empty").string, withIntermediateDirectories: true)
      #expect(throws: PackStoreError.self) { try ServedSource(fixture.place("nothing")) }
      #expect(throws: PackStoreError.self) { try ServedSource(fixture.place("empty")) }
      let content = try await fixture.content("text")
      #expect(content.state.faults.count == 1, "what cannot be read is shown, and ends nothing")
    }

    /// A link in the place of a site's file is not followed.
    @Test func linksOfASiteAreNotFollowed() async throws {
      let store = try await fixture.install()
      try await fixture.publish(store, to: "site")
      let router = fixture.router(try await fixture.content("site"))
      let root = fixture.place("site/root").string
      try FileManager.default.moveItem(atPath: root, toPath: root + ".real")
      try FileManager.default.createSymbolicLink(atPath: root, withDestinationPath: "/etc/passwd")
      let reply = await router.get("/site/root")
      #expect(reply.status == .serviceUnavailable && !String(decoding: reply.content, as: UTF8.self).contains("root:"))
    }

    /// Once an aborted download counted as saved.
    @Test func abortedDownloadsSaveNothing() throws {
      let status = ServerStatus(), start = ContinuousClock.now
      func begin(_ kind: Subject.Kind, _ version: String?, whole: UInt64? = nil) -> UInt64 {
        var note = RequestNote(
          HTTPRequest(method: .get, scheme: "https", authority: "localhost", path: "/site/x"), client: "10.0.0.1",
          isHTTP2: false)
        note.status = 200
        note.subject = Subject(place: "/site", version: version, kind: kind, wholeByteCount: whole)
        return status.begin(note, of: 100, at: start)
      }
      _ = status.end(begin(.version, "P@1", whole: 1_000), failed: false, at: start)
      let aborted = begin(.segment, nil)
      status.sent(300, by: aborted)
      #expect(status.snapshot(at: start).totals.savedByteCount == 700)
      _ = status.end(aborted, failed: true, at: start)
      #expect(status.snapshot(at: start).totals.savedByteCount == 0)
      // The client continues, and gets the rest: nothing is saved. Then another version by a delta.
      let rest = begin(.segment, nil)
      status.sent(700, by: rest)
      _ = status.end(rest, failed: false, at: start)
      #expect(status.snapshot(at: start).totals.savedByteCount == 0)
      _ = status.end(begin(.version, "P@2", whole: 1_000), failed: false, at: start)
      let delta = begin(.delta, nil)
      status.sent(100, by: delta)
      _ = status.end(delta, failed: false, at: start)
      let totals = status.snapshot(at: start).totals
      #expect(totals.savedByteCount == 900 && totals.wholeByteCount == 2_000 && totals.packByteCount == 1_100)
      // A client stays visible for some seconds after its last request.
      let download = try #require(status.snapshot(at: start + .seconds(9)).downloads.first)
      #expect(download.version == "P@2" && download.client == "10.0.0.1" && download.percent == 10)
      #expect(StatusPage(.init(), status.snapshot(at: start)).html.contains("P@2"))
      #expect(status.snapshot(at: start + .seconds(11)).downloads.isEmpty)
    }

    /// Nothing that a name holds is markup on the page, in an event or in JSON.
    @Test func namesAreText() throws {
      let status = ServerStatus()
      let evil = "/<script>alert(1)</script>\"'\u{202e}\u{0}\n"
      var note = RequestNote(
        HTTPRequest(method: .get, scheme: "https", authority: "localhost", path: evil), client: "<b>1</b>",
        isHTTP2: false)
      note.status = 200
      note.subject = Subject(place: "/site", version: "<img src=x onerror=y>", kind: .version, wholeByteCount: 5)
      let id = status.begin(note, of: 100)
      var content = ServedContent.State()
      content.faults = ["<i>x</i>": "</ul><script>"]
      let open = StatusPage(content, status.snapshot())
      _ = status.end(id, failed: false)
      for page in [open, StatusPage(content, status.snapshot())] {
        let text = page.html + StatusPage.event(page.sections)
        for mark in ["<script>alert", "<img", "<b>1", "<i>x", "</ul><script>", "\u{202e}", "\u{0}"] {
          #expect(!text.contains(mark), "\(mark)")
        }
        #expect(StatusPage.event(page.sections).split(separator: "\n", omittingEmptySubsequences: true).count == 1)
      }
    }
  }
#endif
