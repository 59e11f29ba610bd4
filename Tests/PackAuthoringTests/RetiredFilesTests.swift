import Foundation
import PackFormats
import PackStore
import Testing

@testable import PackAuthoring

@Suite struct RetiredFilesTests {
  private static let segment = try! #require(SitePath("segments/" + String(repeating: "0a", count: 16)))
  private static let manifest = try! #require(SitePath("versions/" + String(repeating: "0b", count: 32)))
  private static let title = "packstore retired \(SiteFormat.current & 0xffff) \(SiteFormat.current >> 16)\n"

  private static func decode(_ text: String) throws -> RetiredFiles {
    try RetiredFiles(decoding: Array(text.utf8), file: "retired")
  }

  @Test func asAFile() throws {
    var retired = RetiredFiles()
    retired.replace([Self.segment: 7, Self.manifest: 9], by: [:], now: 5)
    let text = Self.title + "5 7 \(Self.segment)\n5 9 \(Self.manifest)\n"
    #expect(String(decoding: retired.encode(), as: UTF8.self) == text)
    #expect(try Self.decode(text) == retired && retired.byteCount == 16)
    #expect(try Self.decode(Self.title).isEmpty)
  }

  @Test(arguments: [
    "", "\n", "retired\n", title + "x", title + "\n", title + "5 7 root\n", title + "5 7 segments/../root\n",
    title + "-5 7 \(segment)\n", title + "5 -7 \(segment)\n", title + "05 7 \(segment)\n", title + "+5 7 \(segment)\n",
    title + "5 99999999999999999999999 \(segment)\n", title + "99999999999999999999999 7 \(segment)\n",
    title + "5  7 \(segment)\n", title + "5 7 \(segment) \n", title + "5 7 \(segment)\n5 7 \(segment)\n",
    title + "5 7 \(manifest)\n5 7 \(segment)\n", title + "5 7 \("\(segment)".uppercased())\n",
    "packstore retired 0 x\n", "packstore retired 00 1\n", "packstore retired 0\n", title + "\u{0}\u{1}\n",
  ])
  func whatIsNoSuchFile(_ text: String) throws {
    let error = try #require(throws: PackStoreError.self) { _ = try Self.decode(text) }
    #expect(error.code == .corrupt && error.subject?.name == "retired")
  }

  @Test func otherFormats() throws {
    for (title, code) in [
      ("packstore retired 0 77\n", PackStoreError.Code.otherDraft), ("packstore retired 9 0\n", .newerFormat),
    ] {
      let error = try #require(throws: PackStoreError.self) { _ = try Self.decode(title) }
      #expect(error.code == code)
    }
  }

  /// Extremes of dates and lengths neither trap nor remove anything early.
  @Test func dates() throws {
    var retired = try Self.decode(
      Self.title + "0 \(UInt64.max) \(Self.segment)\n\(Int64.max) \(UInt64.max) \(Self.manifest)\n")
    #expect(retired.byteCount == .max && retired.firstEnd(grace: .max) == .max)
    retired.dropDue(now: 100, latest: 100, grace: 100)
    #expect(retired.entries[Self.segment] == nil, "due when its time is over")
    #expect(retired.entries[Self.manifest]?.since == 100, "a date in the future is now")
    retired.dropDue(now: 199, latest: 199, grace: 100)
    #expect(!retired.isEmpty)
    retired.dropDue(now: 200, latest: 200, grace: 100)
    #expect(retired.isEmpty)
    retired = try Self.decode(Self.title + "50 7 \(Self.segment)\n\(Int64.max) 7 \(Self.manifest)\n")
    retired.dropDue(now: 10, latest: 60, grace: 1)
    #expect(retired.entries.values.map(\.since).sorted() == [50, 60], "kept as they are by a clock that went back")
    retired.dropDue(now: 10, latest: 60, grace: 0)
    #expect(retired.isEmpty)
    #expect(Duration.seconds(Int64.max).nanoseconds == .max && Duration.seconds(-5).nanoseconds == 0)
  }
}
