import ArgumentParser
import Foundation
import Testing

@testable import packstore_compare

/// Tests how `packstore-bench update` reads the output of other programs, and its computations.
struct UpdateTests {
  @Test func pairsAreNamesAndTwoFolders() throws {
    let folder = try TemporaryFolder(in: nil)
    let (old, new) = try (folder.newFolder(), folder.newFolder())
    let pair = try VersionPair(argument: "my game=\(old),\(new)")
    #expect(pair == VersionPair(name: "my game", from: old, to: new))
    for wrong in [
      "\(old),\(new)", "a=\(old)", "a=\(old),\(new)/none", "=\(old),\(new)", "a/b=\(old),\(new)", "a|b=\(old),\(new)",
    ] {
      #expect(throws: ValidationError.self) { try VersionPair(argument: wrong) }
    }
  }

  @Test func madePairsAreNamed() throws {
    #expect(try SyntheticPair.list("all") == SyntheticPair.allCases)
    #expect(try SyntheticPair.list("headers, front-byte") == [.headers, .frontByte])
    #expect(throws: ValidationError.self) { try SyntheticPair.list("headers,none") }
  }

  @Test func readsWhatZchunkWouldDownload() {
    let answer = "Would download 18727513 of 24174819 bytes\nMatched 396 of 1369 chunks\n"
    #expect(ZchunkUpdate.downloadByteCount(in: answer) == 18_727_513)
    #expect(ZchunkUpdate.downloadByteCount(in: "Matched 396 of 1369 chunks") == nil)
  }

  @Test func readsTheCurrentCatalogOfALog() {
    let log = """
      {"packs":[{"pack":"P","priority":0,"held":false,"removed":false,"versions":[
        {"version":2,"current":true,"pinned":false,"catalog":"b2","files":1},
        {"version":1,"current":false,"pinned":false,"catalog":"a1","files":1}]}]}
      """
    #expect(PackStoreUpdate.currentCatalog(inLog: log) == "b2")
    #expect(PackStoreUpdate.currentCatalog(inLog: #"{"packs":[]}"#) == nil)
    #expect(PackStoreUpdate.currentCatalog(inLog: "packstore: no such store") == nil)
  }

  @Test func readsThePublicKeyOfARoot() {
    let key = Data((1...32).map { UInt8($0) })
    let root = Data("PKSROOT0".utf8) + Data(count: 88) + key + Data(count: 100)
    #expect(PackStoreUpdate.publicKey(inRoot: root) == key.base64EncodedString())
    #expect(PackStoreUpdate.publicKey(inRoot: root.prefix(119)) == nil)
    #expect(PackStoreUpdate.publicKey(inRoot: Data(count: 200)) == nil)
  }

  @Test func trafficIsContentOrMetadata() {
    func exchange(_ path: String, _ sent: Int) -> FileServer.Exchange {
      .init(path: path, status: 206, receivedByteCount: 10, sentByteCount: sent)
    }
    let traffic = SiteTraffic(
      [
        exchange("root", 1), exchange("versions/ab", 20), exchange("frames/cd", 300), exchange("segments/pages", 4_000),
        exchange("segments/data", 50_000), exchange("deltas/ef", 600_000),
      ], isMetadata: { $0 == "segments/pages" })
    #expect(traffic.requestCount == 6)
    #expect(traffic.sentByteCount == 654_321)
    #expect(traffic.metadataByteCount == 4_321)
    #expect(traffic.receivedByteCount == 60)
  }

  @Test func frameTablesTellTheirKind() {
    func table(kind: UInt8) -> Data { Data("PKSFRAM0".utf8) + Data([0, 0, 0, 0, kind, 0, 0, 0]) + Data(count: 32) }
    #expect(SiteTraffic.isOfMetadata(frameTable: table(kind: 2)))
    #expect(!SiteTraffic.isOfMetadata(frameTable: table(kind: 1)))
    #expect(!SiteTraffic.isOfMetadata(frameTable: Data()))
  }

  @Test func writtenIsWhatIsNewOrChanged() throws {
    let folder = try TemporaryFolder(in: nil).path
    try FileManager.default.createDirectory(atPath: "\(folder)/deep", withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(atPath: folder) }
    func write(_ name: String, _ count: Int) throws {
      try Data(count: count).write(to: URL(fileURLWithPath: "\(folder)/\(name)"))
    }
    try write("same", 1)
    try write("deep/changed", 20)
    try write("gone", 300)
    let before = try FolderState(folder)
    #expect(before.fileCount == 3)
    #expect(before.byteCount == 321)
    try write("deep/changed", 4_000)
    try write("deep/new", 50_000)
    try FileManager.default.removeItem(atPath: "\(folder)/gone")
    #expect(try FolderState(folder).byteCountWritten(since: before) == 54_000)
    #expect(try FolderState("\(folder)/none").byteCount == 0)
  }

  // MARK: - Goals

  private func usage(_ seconds: Double, memory: Int? = nil) -> ProgramUsage {
    ProgramUsage(
      seconds: seconds, cpuSeconds: seconds, privateByteCount: memory, residentByteCount: 0, writtenByteCount: 8)
  }

  private func row(_ key: String, _ bytes: Int, _ seconds: Double = 1, metadata: Int? = nil) -> UpdateRow {
    UpdateRow(key: key, name: "<\(key)>", byteCount: bytes, metadataByteCount: metadata, build: usage(seconds))
  }

  @Test func goalsAreBesideTheBestPeer() {
    let goals = UpdateGoal.all(
      of: [
        row("packstore-ranges-12", 75), row("packstore-delta-default", 110, 5), row("casync", 120), row("zchunk", 100),
        row("restic-max", 80), row("zstd-19-patch", 100, 20),
      ], newByteCount: 1)
    #expect(
      goals == [
        UpdateGoal(title: "ranges, bytes", value: 0.75, limit: 0.75, reference: "<zchunk>"),
        UpdateGoal(title: "ranges, bytes", value: 0.9375, limit: 0.88, reference: "<restic-max>"),
        UpdateGoal(title: "delta, bytes", value: 1.1, limit: 1, reference: "<zstd-19-patch>"),
        UpdateGoal(title: "delta, build time", value: 0.25, limit: 1.0 / 3, reference: "<zstd-19-patch>"),
      ])
    #expect(goals.map(\.isMet) == [true, false, false, true])
  }

  @Test func whoeverIsMissingHasNoGoal() {
    #expect(UpdateGoal.all(of: [row("casync", 1), row("zstd-19-patch", 1)], newByteCount: 1).isEmpty)
    #expect(UpdateGoal.all(of: [row("packstore-ranges-12", 1)], newByteCount: 1).isEmpty)
    #expect(UpdateGoal.all(of: [row("packstore-ranges-12", 1), row("casync", 0)], newByteCount: 1).isEmpty)
  }

  @Test func metadataIsATenthOfTheWire() {
    func goals(_ bytes: Int, _ metadata: Int?) -> [UpdateGoal] {
      UpdateGoal.all(of: [row("packstore-ranges-12", bytes, metadata: metadata)], newByteCount: 1)
    }
    #expect(
      goals(200_000, 50_000) == [
        UpdateGoal(title: "ranges, metadata", value: 0.25, limit: 0.1, reference: "all that is fetched")
      ])
    #expect(goals(100_000, 10_000).map(\.isMet) == [true])
    #expect(goals(99_999, 50_000).isEmpty && goals(200_000, nil).isEmpty)
  }

  @Test func pairsMayHaveLimitsOfTheirOwn() {
    let rows = [row("packstore-ranges-12", 900, metadata: 300), row("packstore-delta-default", 40)]
    let goals = UpdateGoal.all(
      of: rows, newByteCount: 1,
      limits: [
        .init(what: .delta, byteCount: 50), .init(what: .rangesMetadata, byteCount: 200),
        .init(what: .ranges, byteCount: 900),
      ])
    #expect(goals.map(\.value) == [40, 300, 900])
    #expect(goals.map(\.isMet) == [true, false, true])
  }

  @Test func clientsHaveGoalsOfTheirOwn() throws {
    var ranges = row("packstore-ranges-12", 1)
    ranges.ingest = usage(1)
    ranges.apply = usage(1, memory: 30 << 20)
    ranges.idlePrivateByteCount = 20 << 20
    var delta = row("packstore-delta-default", 1)
    delta.apply = usage(2, memory: 16 << 20)
    delta.idlePrivateByteCount = 10 << 20
    delta.apply?.writtenByteCount = 3_000_000
    delta.newStoredByteCount = 2_000_000
    let goals = UpdateGoal.all(of: [ranges, delta], newByteCount: 900_000_000)
    #expect(
      goals.map(\.title) == [
        "pull, private memory", "apply, private memory", "apply, rate", "apply, rate beside adding", "apply, written",
      ])
    #expect(goals.map(\.value) == [10, 6, 450, 0.5, 1.5])
    #expect(goals.map(\.isMet) == [false, true, true, false, false])
  }

  @Test func figuresAreToldApartFromTheirLimits() {
    func text(_ value: Double) -> String {
      UpdateGoal(title: "", value: value, limit: 1.05, reference: "").valueText
    }
    #expect([1.05, 1.0512, 1.06, 12.3].map(text) == ["1.05", "1.0512", "1.06", "12.3"])
  }

  @Test func readsWhatIsNewInAnAnswer() {
    #expect(PackStoreUpdate.newStoredByteCount(in: #"{"pack":"P","new_stored_bytes":12}"#) == 12)
    #expect(PackStoreUpdate.newStoredByteCount(in: #"{"packs":[{"new_stored_bytes":34}],"requests":1}"#) == 34)
    #expect(PackStoreUpdate.newStoredByteCount(in: "packstore: no such store") == nil)
  }

  @Test func twoRunsTakeTheTimeOfBothAndTheMemoryOfOne() {
    let both = usage(1, memory: 100) + usage(2, memory: 70)
    #expect(both.seconds == 3)
    #expect(both.privateByteCount == 100)
    #expect(both.writtenByteCount == 16)
    #expect((usage(1) + usage(1)).privateByteCount == nil)
  }

  // MARK: - Programs

  @Test func measuresWhatAProgramTakes() throws {
    // Eight million bytes in a variable of the shell, held for long enough to be seen.
    let script = "head -c 8000000 /dev/zero | tr '\\0' x > file; held=$(cat file); sum file >/dev/null; echo ${#held}"
    let folder = try TemporaryFolder(in: nil)
    let (output, usage) = try Program("sh").measure(["-c", script], in: folder.path)
    #expect(output == "8000000\n")
    #expect(usage.seconds > 0 && usage.cpuSeconds > 0)
    #expect(usage.residentByteCount > 8_000_000)
    #expect(try #require(usage.privateByteCount) > 0)
  }

  @Test func whoeverTakesTooLongIsEnded() {
    let error = #expect(throws: Unavailable.self) { try Program("sleep").measure(["1000"], atMost: 0.1) }
    #expect(error?.reason == "not done within 0 s")
    #expect(throws: Never.self) { try Program("true").measure([], atMost: 1000) }
  }

  @Test func aMeasuredFailureTellsTheLastLine() {
    let error = #expect(throws: ProgramFailure.self) {
      try Program("sh").measure(["-c", "echo working; echo 'cannot read /some/where/file' >&2; exit 3"])
    }
    #expect(error?.description == "sh: cannot read .../file")
  }

  // MARK: - Pairs

  @Test(arguments: SyntheticPair.allCases) func madePairsDifferAsTheySay(kind: SyntheticPair) throws {
    let folder = try TemporaryFolder(in: nil)
    let scale = SyntheticPair.Scale(large: 2_000_000, isQuick: true)
    guard [.frontByte, .oneOfMany].contains(kind) else { return try checkRoughly(kind, scale, in: folder) }
    let pair = try kind.make(scale, seed: 7, in: folder.newFolder())
    let (old, new) = try (contents(pair.from), contents(pair.to))
    switch kind {
    case .frontByte: #expect(new["Film.bin"] == Data([0x21]) + (try #require(old["Film.bin"])))
    default:
      #expect(old.keys == new.keys)
      #expect(old.count { new[$0.key] != $0.value } == 1)
    }
    let again = try kind.make(scale, seed: 7, in: folder.newFolder())
    #expect(try contents(again.to) == new)
  }

  /// These are too large for a test's memory while other tests run.
  private func checkRoughly(_ kind: SyntheticPair, _ scale: SyntheticPair.Scale, in folder: TemporaryFolder) throws {
    let pair = try kind.make(scale, seed: 7, in: folder.newFolder())
    let (old, new) = try (FolderSummary(pair.from), FolderSummary(pair.to))
    #expect(old.fileCount == new.fileCount && old.fileCount > 0)
    #expect(new.byteCount - old.byteCount == (kind == .appended ? 1 << 20 : 0))
  }

  private func contents(_ folder: String) throws -> [String: Data] {
    let names = try FileManager.default.subpathsOfDirectory(atPath: folder)
    return Dictionary(
      uniqueKeysWithValues: names.compactMap { name in
        FileManager.default.contents(atPath: "\(folder)/\(name)").map { (name, $0) }
      })
  }
}
