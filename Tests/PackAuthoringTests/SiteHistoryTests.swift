import Foundation
import PackFormats
import PackStore
import Testing

@testable import PackAuthoring

/// Every command that changes a root adds a record, and nothing deletes records.
@Suite struct SiteHistoryTests {
  let folder: TemporaryFolder
  let key = SiteKey()
  private let beta: SiteChannel

  init() throws {
    folder = try TemporaryFolder()
    beta = try SiteChannel("beta")
  }

  private var site: Site { get throws { try Site(at: FilePath(folder.path("site"))) } }
  private static let options = Site.PublishOptions(level: 1, keptVersionCount: 1, deltaCount: 1, gracePeriod: .zero)

  private func publish(_ number: Int, to channel: SiteChannel? = .live, note: ChangeNote? = nil) async throws {
    let store = try folder.store()
    let content = try folder.makeFolder("content", ["file": noise(40_000, seed: UInt64(number % 3))])
    try await store.install(folder: FilePath(content), as: "P")
    var options = Self.options
    options.channel = channel
    try await site.noting(note).publish(from: store, signedBy: key, options: options)
  }

  /// The records of a channel in a site's folder, the newest one first. Every record belongs to the chain of a channel.
  private func records(_ channel: SiteChannel = .live, of site: String = "site") throws -> [ChangeRecord] {
    let files = folder.files(site)
    let bytes = Array(try #require(files[SitePath.root(channel).description]))
    var chain = try ChangeChain(of: try SignedSiteRoot(decoding: bytes, file: "root"), bytes)
    var records: [ChangeRecord] = []
    while let next = chain.next {
      records.append(try chain.add(Array(try #require(files["history/\(next.hex)"], "\(chain.nextNumber)"))))
    }
    return records
  }

  private func recordCount(of site: String = "site") -> Int {
    folder.files(site).keys.filter { $0.hasPrefix("history/") }.count
  }

  @Test func everyCommandAddsRecords() async throws {
    var last = 0
    func step(_ name: String, _ body: () async throws -> Void) async throws {
      let before = folder.files("site")["root"]
      try await body()
      let records = try records()
      #expect(records.count > last || before == folder.files("site")["root"], "\(name)")
      last = records.count
      let root = try #require(try site.folder.readRoot()?.root)
      #expect(records.first?.sequence == root.sequence && records.last?.predecessor == nil, "\(name)")
    }
    for number in 1...3 { try await step("publish \(number)") { try await publish(number) } }
    try await step("beta") { try await publish(4, to: beta) }
    try await step("promote") {
      try await site.promote("P", version: 4, to: .live, signedBy: key, options: Self.options)
    }
    try await step("refresh") { try await site.refresh(signedBy: key) }
    try await step("policy") { try await site.changeRetentionPolicy(signedBy: key) { _ in .standard } }
    try await step("collect") { try await site.collect(signedBy: key, options: .init(keptVersionCount: 1)) }
    try await step("unpublish") { try await site.unpublish(["P"], signedBy: key, options: Self.options) }
    try await step("close") { try await site.close(beta, signedBy: key, options: Self.options) }
    let count = try records().count + records(beta).count
    #expect(recordCount() == count, "no other records exist")
    #expect(try records().allSatisfy { $0.channel == .live && $0.releaseKey == key.publicKey && $0.privatePart == nil })
    #expect(try records().map(\.number) == (1...UInt64(last)).reversed())
    #expect(try site.folder.readRetired().entries.keys.allSatisfy { !$0.isRecord })
    #expect(!FileManager.default.fileExists(atPath: folder.path("site/notes")))
  }

  /// A dry run, and a publication without changes, have no records.
  @Test func commandsWithoutEffectAddNone() async throws {
    try await publish(1)
    let before = folder.files("site")
    try await publish(1)
    try await site.refresh(signedBy: key, isDryRun: true)
    try await site.promote("P", version: 1, to: .live, signedBy: key)
    #expect(folder.files("site") == before)
  }

  @Test func collectionsAndRepairsKeepRecords() async throws {
    for number in 1...4 { try await publish(number, note: ChangeNote(user: "u\(number)")) }
    let before = try records()
    try await site.collect(signedBy: key, options: .init(keptVersionCount: 1, gracePeriod: .zero))
    let manifest = try #require(folder.files("site").keys.first { $0.hasPrefix("versions/") })
    try folder.remove("site/\(manifest)")
    _ = try await Site.repair(at: FilePath(folder.path("site")), signedBy: key)
    #expect(try Array(records().suffix(before.count)) == before)
    try await site.convert(signedBy: key)
    #expect(try Array(records().suffix(before.count)) == before)
  }

  /// The root on disk is the only state of the chain. Without a readable one, another chain begins.
  @Test func chainBeginsAgainAfterALostRoot() async throws {
    for number in 1...2 { try await publish(number) }
    let count = try records().count
    try Data("damaged".utf8).write(to: URL(fileURLWithPath: folder.path("site/root")))
    var options = Self.options
    (options.product, options.expiry) = (.standard, .never)
    _ = try await Site.repair(at: FilePath(folder.path("site")), signedBy: key, options: options)
    let records = try records()
    #expect(records.last?.before == nil && records.last?.number == 1 && records.count < count)
    #expect(recordCount() >= count, "earlier records stay")
    let uses = try site.uses()
    #expect(uses.files.filter(\.isRecord).count == recordCount() && !uses.files.contains { $0.isRecord && $0.isDead })
  }

  // MARK: - Private parts

  @Test func notesArePrivateAndErasable() async throws {
    let note = ChangeNote(user: "robin", jobURL: "https://ci/7", commit: "3fa9c", note: "fixes the intro")
    try await publish(1)
    try await publish(2, note: note)
    let records = try records(), noted = records.filter { $0.privatePart != nil }
    #expect(!noted.isEmpty && noted.count < records.count)
    let folder = try site.folder
    for record in noted { #expect(try folder.note(of: record) == note) }
    let mode = try FileManager.default.attributesOfItem(atPath: self.folder.path("site/notes"))[.posixPermissions]
    #expect((mode as? Int) == 0o700)
    for name in self.folder.files("site/notes").keys {
      let file = try FileManager.default.attributesOfItem(atPath: self.folder.path("site/notes/\(name)"))
      #expect((file[.posixPermissions] as? Int) == 0o600)
      #expect(SitePath("notes/\(name)") == nil, "servers do not serve it")
    }
    let publicFiles = self.folder.files("site").filter { SitePath($0.key) != nil }
    #expect(publicFiles.values.allSatisfy { $0.range(of: Data("robin".utf8)) == nil })
    #expect(try site.eraseNotes(of: Set(noted.map(\.digest))) == noted.count)
    #expect(try self.records() == records && folder.note(of: noted[0]) == nil)
    #expect(self.folder.files("site").values.allSatisfy { $0.range(of: Data("robin".utf8)) == nil })
  }

  @Test func buildServicesAreRecognized() {
    func note(_ variables: [String: String]) -> ChangeNote { ChangeNote(environment: variables, note: "n") }
    let gitHub = note([
      "GITHUB_RUN_ID": "42", "GITHUB_SERVER_URL": "https://git.example.com", "GITHUB_REPOSITORY": "a/b",
      "GITHUB_ACTOR": "robin", "GITHUB_SHA": "3fa9c", "ACTIONS_ID_TOKEN_REQUEST_TOKEN": "secret", "USER": "runner",
      "BUILD_URL": "https://other/",
    ])
    #expect(gitHub.jobURL == "https://git.example.com/a/b/actions/runs/42" && gitHub.user == "robin")
    #expect(gitHub.commit == "3fa9c" && gitHub.note == "n")
    let gitLab = note([
      "GITLAB_CI": "true", "GITLAB_USER_LOGIN": "kim", "CI_JOB_URL": "https://ci:token@lab/jobs/1?private_token=x#y",
      "CI_COMMIT_SHA": "90b1", "CI_JOB_JWT": "eyJ.eyJ.x",
    ])
    #expect(gitLab == ChangeNote(user: "kim", jobURL: "https://lab/jobs/1", commit: "90b1", note: "n"))
    let azure = note([
      "BUILD_BUILDID": "9", "SYSTEM_COLLECTIONURI": "https://dev/org/", "SYSTEM_TEAMPROJECT": "p",
      "BUILD_REQUESTEDFOR": "Kim", "BUILD_SOURCEVERSION": "1",
    ])
    #expect(azure.jobURL == "https://dev/org/p/_build/results?buildId=9" && azure.user == "Kim")
    let jenkins = note(["JENKINS_URL": "https://j/", "BUILD_URL": "file:///etc/passwd", "GIT_COMMIT": "2", "USER": "x"])
    #expect(jenkins == ChangeNote(commit: "2", note: "n"), "the user of the machine did not start the job")
    #expect(note(["LOGNAME": "l", "USER": "u"]) == ChangeNote(user: "l", note: "n"))
    #expect(ChangeNote(environment: [:]).isEmpty)
  }
}
