import Testing

@testable import PackFormats
@testable import PackStore

@Suite struct SitePathTests {
  private static let digest = Digest256(hashing: [1])
  private static let segment = SegmentID(ID128(copying: digest.bytes.prefix(16)))

  @Test(arguments: [
    (SitePath.root(.live), "root"), (.root(try! SiteChannel("beta-2")), "roots/beta-2"),
    (.sheet(digest), "attributes/\(digest.hex)"), (.version(digest), "versions/\(digest.hex)"),
    (.delta(digest), "deltas/\(digest.hex)"), (.changes(digest), "changes/\(digest.hex)"),
    (.frames(segment), "frames/\(segment)"), (.segment(segment), "segments/\(segment)"),
  ])
  func isReadAsItWasWritten(_ path: SitePath, _ text: String) {
    #expect(path.description == text)
    #expect(SitePath(text) == path)
  }

  @Test(arguments: [
    "", "/root", "root/", "ROOT", "./root", "CONTROL", "versions", "versions/", "versions/\(segment)",
    "frames/\(digest.hex)", "frames/../\(segment)", "segments/\(segment)/", "segments//\(segment)",
    "other/\(segment)", "versions/\(digest.hex.uppercased())", "versions/\(digest.hex)x", "segments/\(segment)\n",
    "roots/", "roots/live", "roots/Beta", "roots/..", "roots/a/b", "attributes/\(segment)",
  ])
  func nothingElseIsAFileOfASite(_ text: String) { #expect(SitePath(text) == nil) }
}
