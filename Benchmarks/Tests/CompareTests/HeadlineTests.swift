import ArgumentParser
import Foundation
import Testing

@testable import packstore_compare

struct HeadlineTests {
  @Test func showsWhoBelongsBesideEachOther() throws {
    let headlines = Headline.all(of: try report())
    #expect(headlines.map(\.title) == ["First read of large compressed assets"])
    let headline = try #require(headlines.first)
    #expect(headline.isMoreBetter && headline.unit == "GB/s")
    // Plain files hold the assets uncompressed: reading those is another question. Of limits there is one.
    #expect(headline.bars.map(\.name) == ["PackStore", "squashfs, zstd 128 KiB", "libzstd"])
    #expect(headline.bars.map(\.kind) == [.packStore, .peer, .limit])
    #expect(headline.bars.map(\.text) == ["2.00", "0.500", "4.00"])
  }

  private func report() throws -> Report {
    var report = Report(try Session(BenchmarkOptions.parse([]), contestants: []))
    var comparison = Comparison(
      title: "Compressible, first read, into memory that is there", explanation: "", quantity: .throughput)
    comparison.entries = [
      entry("PackStore", 2), entry("plain files", 8), entry("squashfs, zstd 128 KiB", 0.5), entry("memcpy", 9, true),
      entry("libzstd", 4, true),
    ]
    comparison.limit = "libzstd"
    var other = comparison
    other.entries.removeFirst()
    report.sections = [.init(title: "Large", comparisons: [comparison]), .init(title: "Others", comparisons: [other])]
    return report
  }

  private func entry(_ name: String, _ gigabytesPerSecond: Double, _ isLimit: Bool = false) -> Comparison.Entry {
    let timing = Timing(wall: 1 / gigabytesPerSecond, cpu: 0)
    return .init(name, isLimit: isLimit, [Sample(timing, byteCount: 1_000_000_000)])
  }
}
