import Foundation
import Testing

#if canImport(FoundationXML)
  import FoundationXML
#endif

@testable import packstore_bench

@Suite struct ReportTests {
  @Test func figuresAsText() {
    #expect(significant(0) == "0")
    #expect(significant(0.12345) == "0.123")
    #expect(significant(1.005) == "1.00")
    #expect(significant(12.345) == "12.3")
    #expect(significant(99.96) == "100")
    #expect(significant(1_234_567) == "1,234,567")
    #expect(grouped(100) == "100")
    #expect(grouped(1_000) == "1,000")
    #expect(counted(1, "asset") == "1 asset")
    #expect(durationText(2e-6) == "2 µs")
    #expect(durationText(500e-9) == "500 ns")
    #expect(durationText(1) == "1 s")
    #expect(durationText(1.5e-6) == "1.5 µs")
    #expect(sizeText(4e4) == "40 kB")
    #expect([0, 402, 25_531, 99_600, 1_140_000].map(fineMegabytes) == ["0", "0.000402", "0.0255", "0.100", "1.14"])
  }

  @Test func markdownTable() {
    var comparison = throughputs
    comparison.absences = [.init(name: "casync", reason: "not installed")]
    #expect(
      comparison.markdown
        == """
        ### Read

        All of it. Higher is better.

        |  | GB/s | spread | n | / limit |
        | --- | ---: | ---: | ---: | ---: |
        | PackStore | 2.00 | 0.500 | 3 | 0.500 |
        | plain <files> & \\"more\\" | 1.00 | 0 | 1 | 0.250 |
        | ***machine*** | 4.00 | 0 | 1 | 1.00 |

        - Left out: casync: not installed

        """.replacingOccurrences(of: "\\\"", with: "\""))
  }

  @Test func unitFitsTheShortestContestantNotTheLimit() {
    var comparison = Comparison(title: "t", explanation: "", quantity: .timePerOperation)
    comparison.entries = [.init("a", isLimit: false, [sample(2e-6)]), .init("machine", isLimit: true, [sample(3e-9)])]
    #expect(comparison.unit.symbol == "µs")
  }

  @Test func htmlIsWellFormedAndNeedsNothingElse() throws {
    let html = report.html
    let parser = XMLParser(data: Data(html.replacingOccurrences(of: "<!DOCTYPE html>\n", with: "").utf8))
    #expect(parser.parse(), "\(String(describing: parser.parserError)) in line \(parser.lineNumber)")
    #expect(!html.contains("<script"))
    let links = html.replacingOccurrences(of: "http://www.w3.org/", with: "")
    #expect(!links.contains("http://") && !links.contains("https://") && !links.contains("url("))
  }

  @Test func htmlHasAPictureForEachQuestion() {
    // Bars, percentiles, and one picture for the two sizes of a series.
    #expect(report.html.components(separatedBy: "<svg").count - 1 == 3)
    #expect(report.html.contains("plain &lt;files&gt; &amp; &quot;more&quot;"))
    #expect(report.html.contains("<polyline"))
  }

  @Test func jsonHoldsEverySampleAndIsReadAgain() throws {
    let data = try JSONEncoder().encode(report)
    let again = try JSONDecoder().decode(Report.self, from: data)
    #expect(again.sections.count == report.sections.count)
    #expect(again.sections[0].comparisons[0].entries[0].samples.count == 3)
  }

  @Test func summaryNamesTheLimitPlainFilesAndTheBestPeer() throws {
    var comparison = throughputs
    comparison.entries += [
      .init("plain files", isLimit: false, [sample(1, byteCount: 8_000_000_000)]),
      .init("slow peer", isLimit: false, [sample(1, byteCount: 500_000_000)]),
    ]
    var report = report
    report.sections = [.init(title: "s", comparisons: [comparison])]
    let line = try #require(Summary(report).lines.first)
    #expect(line.packStore == "2.00 GB/s")
    #expect(line.toFiles == "0.250")
    #expect(line.peer == "1.00 GB/s, plain <files> & \"more\"")
    #expect(line.toLimit == "0.500")
  }

  /// Where PackStore has no row, as among ways of reading, nothing is summed up.
  @Test func noSummaryOfNothing() {
    #expect(report.markdown.contains("## At a glance") && report.html.contains("At a glance"))
    var report = report, ways = throughputs
    ways.entries.removeFirst()
    report.sections = [.init(title: "s", comparisons: [ways])]
    #expect(!report.markdown.contains("At a glance") && !report.html.contains("At a glance"))
  }

  @Test func axisHasRoomForOddValues() {
    for values in [[], [0], [5], [0, 1e-9, 1], [.nan, 3]] as [[Double]] {
      let axis = LogarithmicAxis(values, from: 10, to: 20)
      for value in values + [1] { #expect(10.0...20.0 ~= axis.position(of: value)) }
      #expect(axis.ticks.count < 40)
    }
  }

  // MARK: - Made up

  private var throughputs: Comparison {
    var comparison = Comparison(title: "Read", explanation: "All of it.", quantity: .throughput)
    comparison.entries = [
      .init("PackStore", isLimit: false, [1, 2, 2].map { sample(2 / $0, byteCount: 2_000_000_000) }),
      .init("plain <files> & \"more\"", isLimit: false, [sample(2, byteCount: 2_000_000_000)]),
      .init("machine", isLimit: true, [sample(0.5, byteCount: 2_000_000_000)]),
    ]
    comparison.limit = "machine"
    return comparison
  }

  /// Storing takes a third longer without them, so figures from different processors differ.
  @Test func machineNamesSHAInstructions() {
    let processor = Environment().processor
    #expect(processor.hasSuffix(" with SHA instructions") || processor.hasSuffix(" without SHA instructions"))
  }

  private var report: Report {
    var ranges = Comparison(title: "Ranges", explanation: "Some.", quantity: .timePerOperation)
    let timing = Timing(wall: 3e-6, cpu: 0)
    ranges.entries = [
      .init("PackStore", isLimit: false, [Sample(timing, operationCount: 3, nanoseconds: [900, 1_000, 1_100])])
    ]
    let lookUps = [100, 10_000].map { size in
      var comparison = Comparison(
        title: "Look-up", explanation: "Many.", quantity: .timePerOperation,
        point: .init(series: "Look-up", axis: "assets", size: size))
      comparison.entries = [.init("PackStore", isLimit: false, [sample(Double(size) * 1e-9)])]
      return comparison
    }
    return Report(
      environment: Environment(), fileSystem: "ext4",
      settings: .init(
        seed: 1, data: "made up", repetitions: 3, threadsForLarge: 2, threadsForSmall: 1, isQuick: false),
      contestants: [.init(name: "PackStore", note: "<fast>")],
      absences: [.init(name: "casync", reason: "not installed")],
      sections: [.init(title: "Reading", comparisons: [throughputs, ranges] + lookUps)])
  }

  private func sample(_ seconds: Double, byteCount: Int = 0) -> Sample {
    Sample(Timing(wall: seconds, cpu: 0), byteCount: byteCount)
  }
}
