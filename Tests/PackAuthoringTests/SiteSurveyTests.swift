import Foundation
import PackFormats
import PackStore
import Testing

@testable import PackAuthoring

/// The state of a site for its operator, from its folder alone.
@Suite struct SiteSurveyTests {
  let folder: TemporaryFolder
  let key = SiteKey()
  private static let day: Int64 = 86_400_000_000_000
  private static let start: Int64 = 20_000 * day

  init() throws { folder = try TemporaryFolder() }

  private var site: Site { get throws { try Site(existingAt: FilePath(folder.path("site"))) } }

  /// Publishes new content of the pack P on a day.
  private func publish(
    _ content: String, day: Int64, signedBy key: SiteKey? = nil, label: String? = nil, keep: Int = 1,
    expiry: Site.PublishOptions.Expiry = .asBefore
  ) async throws {
    let store = try folder.store()
    var options = Store.InstallOptions()
    options.label = try label.map { try VersionLabel($0) }
    let source = try folder.makeFolder("content", ["file": noise(50_000, seed: 7) + Data(content.utf8)])
    try await store.install(folder: FilePath(source), as: "P", options: options)
    var publication = Publication(
      site: try Site(at: FilePath(folder.path("site"))), source: .store(store), key: key ?? self.key,
      options: .init(level: 1, keptVersionCount: keep, deltaCount: 0, expiry: expiry), progress: nil)
    publication.now = Self.start + day * Self.day
    _ = try publication.run(nil)
  }

  private func survey(day: Int64) throws -> Site.Status {
    let site = try site
    var survey = try SiteSurvey(of: site, now: Self.start + day * Self.day)
    survey.status.record(
      .init(checkedCount: survey.files.count, faults: try site.faults(among: survey.files)))
    return survey.status
  }

  private func codes(_ status: Site.Status) -> [String] { status.alarms.map(\.code.rawValue) }

  @Test func newSiteHasNoAlarms() async throws {
    try await publish("one", day: 0, label: "1.0")
    let status = try survey(day: 0)
    #expect(status.alarms.isEmpty && !status.isUrgent)
    let offer = try #require(status.channels.first?.offers.first)
    #expect(status.channels.count == 1 && status.channels[0].channel == .live && offer.pack == "P")
    #expect(offer.version == 1 && offer.label?.text == "1.0" && offer.share == .all)
    #expect(status.keys.map(\.releaseKey) == [key.publicKey] && status.keys[0].endsAt == nil)
    #expect(
      status.space?.keptByteCount == 0 && status.space?.deadByteCount == 0 && status.space?.retired?.isEmpty == true)
    #expect(status.lastPublicationAt == Date(nanosecondsSince1970: Self.start))
    #expect(status.objects?.faults.isEmpty == true && status.objects?.checkedCount ?? 0 > 3)
  }

  /// The bytes of all uses are the bytes of the folder.
  @Test func everyFileHasOneUse() async throws {
    for number in 1...3 { try await publish("\(number)", day: Int64(number), keep: 2) }
    try folder.makeFolder("site/versions/other", [:])
    try Data("stray".utf8).write(
      to: URL(fileURLWithPath: folder.path("site/frames/\(String(repeating: "a", count: 32))")))
    let status = try survey(day: 4)
    let space = try #require(status.space)
    let retired = space.retired ?? []
    #expect(retired.allSatisfy { $0.fileCount > 0 && $0.until > Date(nanosecondsSince1970: Self.start + 4 * Self.day) })
    #expect(space.keptByteCount ?? 0 > 0 && space.deadByteCount == 5)
    let files = folder.files("site").filter { name, _ in
      SitePath(name) != nil
    }
    let total = space.neededByteCount + (space.keptByteCount ?? 0) + retired.map(\.byteCount).reduce(0, +) + 5
    #expect(files.values.map(\.count).reduce(0, +) == total)
    #expect(codes(status) == ["due_files", "missing_delta"] && !status.isUrgent)
    #expect(codes(try survey(day: 40)).contains("due_files"))
    #expect(try survey(day: 40).space?.retired?.isEmpty == true)
  }

  @Test func missingDeltaIsReportedWithItsBenefit() async throws {
    try await publish("one", day: 0, keep: 2)
    try await publish("two", day: 1, keep: 2)
    let missing = try #require(try survey(day: 1).missingDeltas?.first)
    #expect(missing.pack == "P" && missing.from == 1 && missing.to == 2 && missing.rangeByteCount ?? 0 > 0)
    _ = try await site.makeDeltas(signedBy: key)
    #expect(try survey(day: 1).missingDeltas?.isEmpty == true)
  }

  @Test(arguments: [(0, false), (368, false), (370, true), (401, true)])
  func keyRaisesAnAlarmThirtyDaysBeforeItsEnd(day: Int64, isOn: Bool) async throws {
    let root = SiteKey(), end = Self.start + 400 * Self.day
    let release = try SiteKey().delegated(
      by: root, serial: 2, madeAt: Self.start, endsAt: end, product: .standard, channels: [])
    try await publish("one", day: 0, signedBy: release)
    let alarms = try survey(day: day).alarms
    #expect(alarms.map(\.code) == (isOn ? [.keyEnds] : []))
    #expect(alarms.first.map { $0.isUrgent && $0.date == Date(nanosecondsSince1970: end) } ?? !isOn)
  }

  /// A root that is valid for a day would otherwise always raise an alarm.
  @Test(arguments: [(10, 6, false), (10, 7, true), (10, 11, true), (2, 0, false), (2, 1, true)])
  func rootRaisesAnAlarmBeforeItExpires(days: Int64, day: Int64, isOn: Bool) async throws {
    try await publish("one", day: 0, expiry: .after(.seconds(days * 86_400)))
    #expect(codes(try survey(day: day)) == (isOn ? ["root_expires"] : []))
  }

  @Test func futureRootRaisesAnAlarm() async throws {
    try await publish("one", day: 0)
    #expect(codes(try survey(day: -1)) == [])
    #expect(codes(try survey(day: -3)) == ["future_root"])
  }

  @Test(arguments: ["segments", "versions", "frames"]) func lostFileRaisesAnAlarm(kind: String) async throws {
    try await publish("one", day: 0)
    let name = try #require(folder.files("site").keys.filter { $0.hasPrefix(kind + "/") }.min())
    let url = URL(fileURLWithPath: folder.path("site/\(name)"))
    try Data("short".utf8).write(to: url)
    let short = try survey(day: 0)
    #expect(codes(short).first == "missing_object" && short.isUrgent)
    #expect(short.objects?.faults.contains { $0.path == name && $0.foundByteCount == 5 } == true)
    try FileManager.default.removeItem(at: url)
    let lost = try survey(day: 0)
    #expect(lost.objects?.faults.contains { $0.path == name && $0.foundByteCount == nil } == true)
  }

  @Test func damagedAndLostRootsAreAlarms() async throws {
    try await publish("one", day: 0)
    try await site.promote("P", version: 1, to: try SiteChannel("beta"), signedBy: key)
    let root = URL(fileURLWithPath: folder.path("site/root"))
    try Data("nothing".utf8).write(to: root)
    let damaged = try survey(day: 0)
    #expect(codes(damaged).first == "damaged_root" && damaged.channels.map(\.channel.name) == ["beta"])
    // The files of the damaged root are not dead.
    #expect(damaged.space?.deadByteCount == nil && damaged.space?.retired == nil)
    #expect(!codes(damaged).contains("due_files"))
    try FileManager.default.removeItem(at: root)
    let lost = try survey(day: 0)
    #expect(codes(lost).contains("lost_root") && lost.space?.deadByteCount == nil)
  }
}

extension SiteSurveyTests {
  private static let second: Int64 = 1_000_000_000

  /// A root with an open release in steps, of one pack or of two, whose last step comes after 100 seconds.
  private func steppingRoot(horizon: Int64?, expiry: Int64, isRelease: Bool, state: Rollout.State = .open) -> SiteRoot {
    let rollout = Rollout(state: state, asOf: 0, steps: [.init(time: 100 * Self.second, share: 10_000)])
    let release = isRelease ? PackRelease() : nil
    let packs = ["A", "B"].prefix(isRelease ? 2 : 1).map { name in
      SiteRoot.Pack(
        id: PackID(stringLiteral: name), priority: 0,
        offers: [
          .init(
            number: 1, catalog: CatalogID(digest: .zero), manifest: .zero, manifestByteCount: 1, share: 1,
            rollout: rollout, release: release)
        ], deltas: [])
    }
    var root = SiteRoot(
      sequence: 1, madeAt: 0, expiresAfter: expiry * Self.second,
      site: SiteID(ID128(copying: [UInt8](repeating: 1, count: 16))),
      product: .standard, packs: packs)
    root.horizon = horizon.map { $0 * Self.second }
    return root
  }

  private func alarm(_ root: SiteRoot, keyEndsAt end: Int64?, now: Int64) throws -> Site.Alarm? {
    let signer = try key.delegated(
      by: key, serial: 9, madeAt: 0, endsAt: end.map { $0 * Self.second }, product: .standard, channels: [])
    let signed = try SignedSiteRoot(decoding: root.encode(signedBy: signer), file: "root")
    return Site.Status([signed], labels: [:], now: now * Self.second).alarms.first { $0.code == .rolloutStops }
  }

  @Test(arguments: [false, true]) func stepsAfterTheEndOfRootOrKeyAreReported(isRelease: Bool) throws {
    let cases: [(horizon: Int64?, expiry: Int64, key: Int64?, end: Int64?)] = [
      (nil, 100, nil, nil), (nil, 99, nil, 99), (99, 500, nil, 99), (100, 500, 100, nil), (nil, 500, 99, 99),
      (50, 70, 60, 50), (200, 70, 60, 60), (200, 70, 80, 70),
    ]
    for (index, test) in cases.enumerated() {
      let root = steppingRoot(horizon: test.horizon, expiry: test.expiry, isRelease: isRelease)
      let found = try alarm(root, keyEndsAt: test.key, now: 1)
      #expect(found?.date == test.end.map { Date(nanosecondsSince1970: $0 * Self.second) }, "case \(index)")
      #expect(found?.count == test.end.map { _ in 1 } && found?.isUrgent != true, "case \(index)")
    }
    let root = steppingRoot(horizon: 50, expiry: 70, isRelease: isRelease)
    #expect(try alarm(root, keyEndsAt: nil, now: 100) == nil, "the last step has passed")
    for state in [Rollout.State.paused, .halted] {
      let root = steppingRoot(horizon: 50, expiry: 70, isRelease: isRelease, state: state)
      #expect(try alarm(root, keyEndsAt: nil, now: 1) == nil)
    }
  }

  @Test func offersShowStepsAndReleases() throws {
    let root = steppingRoot(horizon: 50, expiry: 70, isRelease: true)
    let signed = try SignedSiteRoot(decoding: root.encode(signedBy: nil), file: "root")
    let offers = Site.Status([signed], labels: [:], now: 0).channels[0].offers
    #expect(offers.map(\.rollout?.state) == [.open, .open] && offers.allSatisfy { $0.release != nil })
    #expect(offers[0].rollout?.horizonEnd == Date(nanosecondsSince1970: 50 * Self.second))
  }

  /// Few devices have a halted version, and they keep it. An update that only removes files downloads no frames.
  @Test func deltasAreProposedForUsefulUpdatesOnly() async throws {
    for number in 1...3 { try await publish("version \(number)", day: 0, keep: 9) }
    #expect(try survey(day: 0).missingDeltas?.map { [$0.from, $0.to] } == [[2, 3]])
    var options = Site.PublishOptions()
    options.takesBack = true
    try await site.promote("P", version: 2, to: .live, signedBy: key, options: options)
    try await site.promote("P", version: 3, to: .live, share: .none, signedBy: key)
    #expect(try survey(day: 0).missingDeltas?.map { [$0.from, $0.to] } == [[1, 2]], "3 is halted")
    #expect(try await site.planDeltas(signedBy: key).map { [$0.from.number, $0.to.number] } == [[1, 2]])
    let store = try Store(at: FilePath(folder.path("removing")))
    for names in [["a", "b"], ["a"]] {
      let files = Dictionary(uniqueKeysWithValues: names.map { ($0, noise(30_000, seed: UInt64($0.utf8.first ?? 0))) })
      try await store.install(folder: FilePath(folder.makeFolder("content", files)), as: "R")
      try await site.publish(
        from: store, signedBy: key, options: .init(level: 1, keptVersionCount: 9, deltaCount: 0))
    }
    #expect(try survey(day: 0).missingDeltas?.allSatisfy { $0.pack == "P" } == true)
    #expect(try await site.planDeltas(signedBy: key).allSatisfy { $0.to.pack == "P" })
  }
}
