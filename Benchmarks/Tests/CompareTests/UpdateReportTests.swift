import Foundation
import Testing

#if canImport(FoundationXML)
  import FoundationXML
#endif

@testable import packstore_compare

struct UpdateReportTests {
  @Test func tableHasWhatWasMeasuredAndNothingElse() {
    let text = report.markdown
    #expect(
      text.contains(
        "| packstore, ranges, level 12 | 1.50 | 20.0 | 12 | 1.60 | 0.50 | 2.00 | 3.50 | 9.00 | 0.25 | 40 | 9.00 | 1.70 | 2.00 | 1.25 |\n"
      ))
    #expect(text.contains("| casync <zstd> | 3.00 |  |  |  |  |  |  |  |  |  |  |  |  |  |\n"))
    #expect(text.contains("| game | ranges, bytes | casync <zstd> | 0.500 | ≤ 0.750 | yes |\n"))
    #expect(text.contains("| game | 16 | 20 |  | 20 (1.00) |  |\n"))
    #expect(text.contains("1 file, 8.0 MB; then 2 files, 10.0 MB."))
    #expect(text.contains("- Left out: bsdiff: not above 100 MB\n"))
    #expect(text.contains("## Left out\n\n- borg: borg is not installed\n"))
  }

  @Test func installsHaveATableOfTheirOwn() throws {
    let pair = report.pairs[0]
    #expect(pair.rows.map(\.key) == ["packstore-ranges-12", "packstore-delta-default", "casync"])
    #expect(pair.installs.map(\.key) == ["packstore-install-12"])
  }

  @Test func htmlIsWellFormedAndNeedsNothingElse() throws {
    let html = report.html
    let parser = XMLParser(data: Data(html.replacingOccurrences(of: "<!DOCTYPE html>\n", with: "").utf8))
    #expect(parser.parse(), "\(String(describing: parser.parserError)) in line \(parser.lineNumber)")
    let links = html.replacingOccurrences(of: "http://www.w3.org/", with: "")
    #expect(!html.contains("<script") && !links.contains("http://") && !links.contains("url("))
    // To fetch, to make, to apply.
    #expect(html.components(separatedBy: "<svg").count - 1 == 3)
    #expect(html.contains("casync &lt;zstd&gt;"))
  }

  @Test func pictureShowsWhatIsFetched() throws {
    let headline = try #require(report.headlines.first)
    #expect(headline.title == "game")
    #expect(headline.unit == "bytes")
    #expect(headline.bars.map(\.text) == ["1.50 MB", "900 KB", "3.00 MB"])
    #expect(headline.bars.map(\.kind) == [.packStore, .packStore, .peer])
    var others = report
    others.pairs[0].rows.removeFirst(2)
    #expect(others.headlines.isEmpty)
  }

  @Test func bytesAsText() {
    #expect([0, 402, 25_531, 1_140_000].map(byteText) == ["0 B", "402 B", "25.5 KB", "1.14 MB"])
  }

  @Test func jsonIsReadAgain() throws {
    let again = try JSONDecoder().decode(UpdateReport.self, from: JSONEncoder().encode(report))
    #expect(again.pairs[0].rows == report.pairs[0].rows)
    #expect(again.pairs[0].goals == report.pairs[0].goals)
  }

  @Test func whoeverElseFailsOrIsMissingIsNoFailure() {
    var report = report
    #expect(!report.hasFailures)
    report.pairs[0].absences.append(.init(name: "casync", reason: "failed: casync: cannot"))
    #expect(!report.hasFailures)
    report.pairs[0].absences.append(.init(name: "packstore", reason: "failed: packstore: cannot"))
    #expect(report.hasFailures)
  }

  // MARK: - Made up

  private var report: UpdateReport {
    let usage = ProgramUsage(
      seconds: 2, cpuSeconds: 3.5, privateByteCount: 9_000_000, residentByteCount: 0, writtenByteCount: 2_000_000)
    func with(_ seconds: Double) -> ProgramUsage {
      var usage = usage
      usage.seconds = seconds
      return usage
    }
    var pair = UpdateReport.Pair(
      name: "game", explanation: "Much & more.", from: .init(fileCount: 1, byteCount: 8_000_000),
      to: .init(fileCount: 2, byteCount: 10_000_000))
    for key in ["packstore-install-12", "packstore-ranges-12"] {
      pair.append(
        UpdateRow(
          key: key, name: "packstore, ranges, level 12", byteCount: 1_500_000, metadataByteCount: 20_000,
          requestCount: 12,
          publishedByteCount: 1_600_000, ingest: with(0.5), build: usage, apply: with(0.25), keptByteCount: 1_700_000,
          newStoredByteCount: 1_600_000))
    }
    pair.append(
      UpdateRow(key: "packstore-delta-default", name: "packstore, delta", byteCount: 900_000, apply: with(0.5)))
    pair.append(UpdateRow(key: "casync", name: "casync <zstd>", byteCount: 3_000_000))
    pair.goals = UpdateGoal.all(of: pair.rows, newByteCount: pair.to.byteCount)
    pair.absences = [.init(name: "bsdiff", reason: "not above 100 MB")]
    return UpdateReport(
      environment: Environment(), fileSystem: "ext4", seed: 1, isQuick: false, patience: 60, versions: ["zstd 1"],
      absences: [.init(name: "borg", reason: "borg is not installed")], pairs: [pair])
  }
}
