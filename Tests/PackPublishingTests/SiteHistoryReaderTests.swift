import Foundation
import PackAuthoring
import PackDelivery
import PackFormats
import PackStore
import Synchronization
import Testing

@testable import PackPublishing

/// The history of channels in a folder, in a bucket, and on a web server.
@Suite struct SiteHistoryReaderTests {
  private let folder: TemporaryFolder
  private let key = SiteKey()
  private let bucket = SimulatedBucket(seed: 1, faultRate: 0)
  private static let options = Site.PublishOptions(level: 1, keptVersionCount: 1, deltaCount: 0, gracePeriod: .zero)

  init() throws { folder = try TemporaryFolder() }

  private var bucketSite: BucketSite { bucket.makeSite(in: folder) }
  private var path: FilePath { FilePath(folder.path("site")) }

  private func store(_ content: String) async throws -> Store {
    let store = try Store(at: FilePath(folder.path("store")))
    try await store.install(folder: FilePath(folder.makeFolder("source", ["file": Data(content.utf8)])), as: "P")
    return store
  }

  private func publish(_ content: String, to host: any SiteHost, note: ChangeNote? = nil) async throws {
    let store = try await store(content)
    try await host.change(signedBy: key, makesSite: true, isDryRun: false, events: { _ in }, reading: nil) {
      [key] site in
      try await site.noting(note).publish(from: store, signedBy: key, options: Self.options)
    }
  }

  private var served: SiteStatusReader.Place {
    .served(RemoteSiteLocation("file://\(folder.path("site"))"), channels: [])
  }

  @Test func everyPlaceShowsTheSameHistory() async throws {
    let note = ChangeNote(user: "robin", note: "one")
    for content in ["one", "two"] { try await publish(content, to: FolderHost(path), note: note) }
    let history = try await SiteHistoryReader(.folder(path)).run()
    #expect(history.isComplete && history.changes.count >= 2 && history.channel == .live)
    #expect(history.changes.allSatisfy { $0.note == .known(note) })
    let remote = try await SiteHistoryReader(served).run()
    #expect(remote.isComplete && remote.changes.map(\.record) == history.changes.map(\.record))
    #expect(remote.changes.allSatisfy { $0.note == .missing }, "a web server does not show private parts")
    let newest = try await SiteHistoryReader(.folder(path)).run(limit: 1)
    #expect(newest.changes == Array(history.changes.prefix(1)) && !newest.isComplete && newest.fault == nil)
    let beta = try SiteChannel("beta")
    for place in [.folder(path), served] as [SiteStatusReader.Place] {
      let error = await #expect(throws: PackStoreError.self) { try await SiteHistoryReader(place).run(of: beta) }
      #expect(error?.code == .notFound)
    }
  }

  @Test func lostAndAlteredRecordsAreFound() async throws {
    for content in ["one", "two"] { try await publish(content, to: FolderHost(path)) }
    let whole = try await SiteHistoryReader(.folder(path)).run()
    #expect(try await SiteVerification(served).run().isSound)
    for index in whole.changes.indices {
      let name = "history/\(whole.changes[index].record)", file = URL(fileURLWithPath: folder.path("site/\(name)"))
      let bytes = try Data(contentsOf: file)
      for isMissing in [true, false] {
        if isMissing {
          try FileManager.default.removeItem(at: file)
        } else {
          try (bytes.dropLast() + [1]).write(to: file)
        }
        for place in [.folder(path), served] as [SiteStatusReader.Place] {
          let history = try await SiteHistoryReader(place).run()
          #expect(history.changes.count == index && history.fault?.path == name && !history.isComplete)
          #expect(history.fault?.isMissing == isMissing && history.fault?.number == whole.changes[index].number)
        }
        let deep = try await SiteVerification(served, options: .deep).run()
        #expect(deep.faults.map(\.path) == [name] && deep.faults[0].kind == (isMissing ? .missing : .content))
        guard isMissing else { continue }
        let status = try await SiteStatusReader(.folder(path)).run()
        #expect(status.objects?.faults.map(\.path) == [name] && status.isUrgent)
        // A web server shows the newest record only, at the cost of one request.
        let remote = try await SiteStatusReader(served).run()
        #expect(remote.objects?.faults.map(\.path) == (index == 0 ? [name] : []))
      }
      try bytes.write(to: file)
    }
    #expect(try await SiteStatusReader(.folder(path)).run().channels[0].changeCount == whole.changeCount)
  }

  // MARK: - Buckets

  @Test func bucketKeepsRecordsAndPrivateParts() async throws {
    let note = ChangeNote(user: "robin", commit: "3fa9c")
    for content in ["one", "two", "three"] {
      try await publish(content, to: bucketSite, note: content == "two" ? note : nil)
      bucket.advance(8_000)
    }
    for _ in 0..<2 {
      try await bucketSite.change(signedBy: key) { [key] in _ = try await $0.refresh(signedBy: key) }
      bucket.advance(8_000)
    }
    let reader = SiteHistoryReader(.bucket(bucketSite)), history = try await reader.run()
    #expect(history.isComplete && history.changes.count == history.changes.map(\.note).count)
    let noted = history.changes.filter { $0.note == .known(note) }
    #expect(!noted.isEmpty && noted.count < history.changes.count)
    #expect(bucket.keys.filter { $0.path.hasPrefix("history/") }.count == history.changes.count)
    #expect(!bucket.keys.contains { $0.path.hasPrefix("notes/") && $0.space == .shared })
    let status = try await SiteStatusReader(.bucket(bucketSite)).run()
    #expect(status.objects?.faults.isEmpty == true && status.channels[0].changeCount == history.changeCount)
    let lost = ObjectKey.file(.record(try #require(Digest256(hex: history.changes[1].record))))
    let object = bucket.state.withLock { $0.objects.removeValue(forKey: lost) }
    #expect(try await SiteStatusReader(.bucket(bucketSite)).run().objects?.faults.map(\.path) == [lost.path])
    #expect(try await SiteVerification(.bucket(bucketSite)).run().faults.map(\.path) == [lost.path])
    #expect(try await reader.run().fault?.number == history.changes[1].number)
    bucket.state.withLock { $0.objects[lost] = object }
    #expect(try await reader.run() == history)
  }

  /// The private parts leave the image, then the storage. A work folder must not bring them back.
  @Test(arguments: [false, true]) func erasureReachesTheStorage(hasWorkFolder: Bool) async throws {
    func site() -> BucketSite {
      var site = bucketSite
      if hasWorkFolder { site = bucket.makeSite(in: folder, workFolder: FilePath(folder.path("work"))) }
      return site
    }
    let note = ChangeNote(user: "robin")
    for content in ["one", "two"] { try await publish(content, to: site(), note: note) }
    let before = try await SiteHistoryReader(.bucket(site())).run()
    #expect(before.changes.allSatisfy { $0.note == .known(note) })
    let erasure = SiteHistoryErasure(.bucket(site(), signedBy: key))
    let first = before.changes.last?.number ?? 0
    #expect(try await erasure.run(numbers: 1...1, isDryRun: true).numbers == [first])
    #expect(try await SiteHistoryReader(.bucket(site())).run() == before)
    #expect(try await erasure.run(numbers: 1...UInt64.max).numbers == before.changes.map(\.number).reversed())
    #expect(try await erasure.run(numbers: 1...UInt64.max).numbers == [])
    for _ in 0..<2 {
      bucket.advance(8_000)
      try await site().change(signedBy: key) { [key] in _ = try await $0.refresh(signedBy: key) }
    }
    let after = try await SiteHistoryReader(.bucket(site())).run()
    #expect(after.isComplete && after.changes.suffix(before.changes.count).allSatisfy { $0.note == .missing })
    let bytes = bucket.state.withLock { $0.objects.values.map(\.bytes) }
    #expect(bytes.allSatisfy { Data($0).range(of: Data("user robin".utf8)) == nil })
  }

  @Test func erasureInAFolderKeepsTheChain() async throws {
    let note = ChangeNote(user: "robin")
    for content in ["one", "two"] { try await publish(content, to: FolderHost(path), note: note) }
    let before = try await SiteHistoryReader(.folder(path)).run()
    #expect(try await SiteHistoryErasure(.folder(path)).run(numbers: 2...2).numbers == [2])
    let after = try await SiteHistoryReader(.folder(path)).run()
    #expect(after.isComplete && after.changes.map(\.record) == before.changes.map(\.record))
    #expect(after.changes.map { $0.note == .missing } == after.changes.map { $0.number == 2 })
  }

  // MARK: - Exports

  @Test func exportHasTheRootAndAllRecords() async throws {
    try await publish("one", to: FolderHost(path), note: ChangeNote(user: "robin"))
    let history = try await SiteHistoryReader(.folder(path)).run()
    let lines = String(decoding: history.exported(), as: UTF8.self).split(separator: "\n").map(String.init)
    #expect(lines[0] == "packstore history 1" && lines[1].hasPrefix("root "))
    #expect(lines.count == 2 + 2 * history.changes.count)
    let shown = String(decoding: history.exported(hasNotes: false), as: UTF8.self)
    #expect(!shown.contains("private") && shown.split(separator: "\n").count == 2 + history.changes.count)
    #expect(try check(folder.path("site"), exported: history.exported(), in: folder))
  }
}

extension SiteVerification.Options {
  fileprivate static var deep: Self {
    var options = Self()
    options.isDeep = true
    return options
  }
}

/// Whether the independent reader in Python accepts the history of a site's folder and an export of it.
private func check(_ site: String, exported: [UInt8], in folder: TemporaryFolder) throws -> Bool {
  let file = URL(fileURLWithPath: folder.path("history.txt"))
  try Data(exported).write(to: file)
  let tests = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
  for place in [site, file.path] {
    let process = Process()
    process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
    process.arguments = ["python3", tests.appendingPathComponent("Reader/site_reader.py").path, "--history", place]
    process.standardOutput = FileHandle.nullDevice
    try process.run()
    process.waitUntilExit()
    guard process.terminationStatus == 0 else { return false }
  }
  return true
}
