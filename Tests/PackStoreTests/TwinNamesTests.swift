import Foundation
import Testing

@testable import PackStore

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#elseif canImport(Darwin)
  import Darwin
#endif

/// Paths of an extraction that a disk may take for one. An extraction to a disk that ignores case used to replace `A.txt` by `a.txt`,
/// and reported two files.
@Suite struct TwinNamesTests {
  private func twins(_ paths: [String]) -> TwinNames {
    let twins = TwinNames()
    for path in paths.sorted(by: { $0.utf8.lexicographicallyPrecedes($1.utf8) }) { twins.add(Array(path.utf8)[...]) }
    return twins
  }

  private func found(_ twins: TwinNames, _ path: String) -> [String] {
    twins.twins(of: Array(path.utf8)[...]).map { String(decoding: $0, as: UTF8.self) }
  }

  @Test func siblingsAreFoundFromEachOther() {
    let twins = twins([
      "A.txt", "a.txt", "b", "Dir/x", "dir/y", "dir.txt", "dir/sub/Z", "dir/sub/z/w", "caf\u{e9}", "cafe\u{301}",
      "CAF\u{c9}", "other/a.txt",
    ])
    #expect(found(twins, "A.txt") == ["a.txt"] && found(twins, "a.txt") == ["A.txt"])
    #expect(found(twins, "Dir") == ["dir"] && found(twins, "dir") == ["Dir"])
    #expect(found(twins, "dir/sub/Z") == ["z"] && found(twins, "dir/sub/z") == ["Z"])
    #expect(found(twins, "caf\u{e9}").count == 2 && found(twins, "CAF\u{c9}").count == 2)
    for path in ["b", "Dir/x", "dir/y", "dir.txt", "dir/sub", "other", "other/a.txt", "none"] {
      #expect(found(twins, path).isEmpty, "\(path)")
    }
  }

  /// A sibling such as "a.txt" is between a folder "a" and the paths below it.
  @Test func foldersThatComeAgainAreNoTwins() {
    let twins = twins(["a/1", "a.txt", "a/2", "a", "a0/x"])
    for path in ["a", "a/1", "a/2", "a.txt", "a0"] { #expect(found(twins, path).isEmpty, "\(path)") }
  }

  @Test func oneName() {
    func isOne(_ name: String, _ twin: String, found: [String], listed: [String]) -> Bool {
      isOneName(
        Array(name.utf8), Array(twin.utf8), found: found.map { Array($0.utf8) }, listed: listed.map { Array($0.utf8) })
    }
    let both = ["a.txt", "A.txt"]
    #expect(isOne("a.txt", "A.txt", found: both, listed: ["A.txt"]))
    #expect(isOne("a.txt", "A.txt", found: both, listed: ["a.txt", "b"]))
    #expect(!isOne("a.txt", "A.txt", found: both, listed: ["A.txt", "a.txt"]))
    #expect(!isOne("a.txt", "A.txt", found: ["a.txt"], listed: ["a.txt"]))
    let forms = ["caf\u{e9}", "cafe\u{301}"]
    #expect(isOne(forms[0], forms[1], found: forms, listed: [forms[0]]))
    #expect(isOne(forms[0], forms[1], found: forms, listed: [forms[1]]))
    #expect(!isOne(forms[0], forms[1], found: forms, listed: forms))
    // A disk that stores one normal form, and distinguishes case.
    let cases = ["\u{e9}", "\u{c9}"]
    #expect(!isOne(cases[0], cases[1], found: cases, listed: ["e\u{301}", "E\u{301}"]))
    #expect(isOne(cases[0], cases[1], found: cases, listed: ["E\u{301}"]))
  }

  /// A disk that distinguishes names gets all of them, also if they exist already.
  @Test func otherDisksGetAllNames() async throws {
    let folder = TemporaryFolder()
    let files = [("A.txt", "1"), ("a.txt", "2"), ("D/x", "3"), ("d/x", "4"), ("caf\u{e9}", "5"), ("cafe\u{301}", "6")]
    let store = try folder.store()
    for (path, text) in files { try folder.makeFolder("source", [path: text]) }
    try await store.install(folder: FilePath(folder.path("source")), as: "P")
    var options = Store.ExtractOptions()
    for _ in 0..<2 {
      let result = try await store.extract(to: FilePath(folder.path("out")), options: options)
      #expect(result.fileCount == files.count)
      for (path, text) in files { #expect(folder.contents("out/\(path)") == Data(text.utf8), "\(path)") }
      options.overwrites = true
    }
  }

  /// A name that this disk distinguishes from a similar name of the extraction is not in the way.
  @Test func otherDisksHaveNoTwins() throws {
    let folder = TemporaryFolder()
    try folder.makeFolder("out/in", ["A.txt": "1"])
    let twins = twins(["in/A.txt", "in/a.txt"])
    let descriptor = try openFolder(FilePath(folder.path("out/in")))
    defer { close(descriptor) }
    try twins.check(Array("in/a.txt".utf8)[...], in: descriptor)
    try twins.check(Array("in/other".utf8)[...], in: descriptor)
  }
}
