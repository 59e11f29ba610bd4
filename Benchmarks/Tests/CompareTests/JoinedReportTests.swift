import Foundation
import Testing

@testable import packstore_compare

/// What `packstore-bench` and the peers found out in rounds, as one report; and the page that is made of it.
struct JoinedReportTests {
  @Test func peersStandBetweenPackStoreAndLimits() throws {
    let joined = report(["PackStore": [2, 2]], limit: [4]).joined(report(["squashfs, zstd": [1]], absent: ["casync"]))
    let comparison = try #require(joined.sections.first?.comparisons.first)
    #expect(comparison.entries.map(\.name) == ["PackStore", "squashfs, zstd", "machine"])
    #expect(comparison.ratio(of: comparison.entries[1]) == 0.25)
    #expect(joined.contestants.map(\.name) == ["PackStore", "squashfs, zstd"])
    #expect(joined.absences.map(\.name) == ["casync"])
    #expect(Headline.all(of: joined).first?.bars.map(\.name) == ["PackStore", "squashfs, zstd", "machine"])
    #expect(joined.seconds == 20)
  }

  @Test func roundsAddTheirSamples() throws {
    let first = report(["PackStore": [1, 2]], limit: [4], absent: ["casync"])
    let joined = first.joined(report(["PackStore": [3]], limit: [8], absent: ["casync"]))
    let comparison = try #require(joined.sections.first?.comparisons.first)
    #expect(comparison.entries.map(\.samples.count) == [3, 2])
    #expect(comparison.statistics(of: comparison.entries[0]).median == 2e9)
    #expect(joined.absences.count == 1 && joined.contestants.count == 1)
  }

  @Test func percentilesOfRoundsAreTheirMean() throws {
    func latencies(_ nanoseconds: UInt32) -> Report {
      var report = report([:])
      let sample = Sample(Timing(wall: 1, cpu: 0), nanoseconds: [nanoseconds])
      report.sections[0].comparisons[0].entries = [.init("PackStore", isLimit: false, [sample])]
      return report
    }
    let joined = latencies(100).joined(latencies(300))
    #expect(joined.sections[0].comparisons[0].entries[0].latencies?.p50 == 200e-9)
  }

  @Test func whatOnlyOneAskedStays() {
    var other = report(["LMDB": [1]])
    other.sections[0].comparisons[0].point = .init(series: "s", axis: "assets", size: 5)
    other.sections.append(.init(title: "More"))
    let joined = report(["PackStore": [1]]).joined(other)
    #expect(joined.sections.map(\.comparisons.count) == [2, 0])
  }

  @Test func pageShowsTheReadmeItsHeadlines() throws {
    let folder = try TemporaryFolder(in: nil)
    let joined = report(["PackStore": [2]], limit: [4]).joined(report(["squashfs, zstd": [1]]))
    try ReportDestination(markdownFile: nil, jsonFile: folder.path + "/reads.json").writeJSON(ComparedReport(joined))
    let summarize = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
      .appendingPathComponent("../../summarize").standardizedFileURL.path
    try Program("python3").run([summarize, folder.path + "/reads.json", "--into", folder.path])
    let page = try String(contentsOfFile: folder.path + "/reads.md", encoding: .utf8)
    let shown = page.components(separatedBy: "<!-- readme -->").last?.components(separatedBy: "<!-- /readme -->").first
    #expect(
      shown?.contains(
        "| ↑ First read of large compressed assets, GB/s | **2.00** | squashfs, zstd 1.00 | machine 4.00 |\n") == true)
    #expect(
      page.contains("| 2.00 GB/s | - | 1.00 GB/s, squashfs, zstd | 2.00 | 0.500 |\n"), "\(page)")
  }

  /// Throughputs in GB/s of one question.
  private func report(_ speeds: KeyValuePairs<String, [Double]>, limit: [Double] = [], absent: [String] = []) -> Report
  {
    func samples(_ speeds: [Double]) -> [Sample] {
      speeds.map { Sample(Timing(wall: 1 / $0, cpu: 0), byteCount: 1_000_000_000) }
    }
    var comparison = Comparison(
      title: "Compressible, first read, into memory that is there", explanation: "", quantity: .throughput)
    comparison.entries = speeds.map { .init($0.key, isLimit: false, samples($0.value)) }
    if !limit.isEmpty { comparison.entries.append(.init("machine", isLimit: true, samples(limit))) }
    comparison.limit = "machine"
    var report = Report(
      environment: Environment(), fileSystem: "ext4",
      settings: .init(
        seed: 1, data: "made up", repetitions: 3, threadsForLarge: 2, threadsForSmall: 1, isQuick: false),
      contestants: speeds.map { .init(name: $0.key, note: "") },
      absences: absent.map { .init(name: $0, reason: "not installed") },
      sections: [.init(title: "Reading", comparisons: [comparison])])
    report.seconds = 10
    return report
  }
}
