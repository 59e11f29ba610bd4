import Foundation
import PackStore
import Testing

/// Selected files of a folder, under other paths.
@Suite struct SelectionTests {
  private static func files() -> [String: Data] {
    var files = variedFiles()
    for number in 0..<300 { files["many/\(number % 7)/\(number)"] = text(number * 3, seed: UInt64(number)) }
    return files
  }

  @Test func equalsTheFolderLaidOutSo() async throws {
    let folder = TemporaryFolder()
    let files = Self.files()
    let plain = try folder.makeFolder("plain", files)
    let shelves = Dictionary(
      uniqueKeysWithValues: files.keys.sorted().enumerated().map { ($1, "shelf \($0 % 9)/\($0)") })
    let moved = try folder.makeFolder(
      "moved", Dictionary(uniqueKeysWithValues: files.map { (shelves[$0.key]!, $0.value) }))
    let entries = shelves.map { Store.Selection.Entry(path: $0.key, source: $0.value) }  // in any order
    let one = try folder.store("one"), other = try folder.store("other")
    let options = Store.InstallOptions(mappedPaths: ["many/3/*"])
    let whole = try await one.install(folder: FilePath(plain), as: "P", options: options)
    let selected = try await other.install(.init(from: FilePath(moved), entries), as: "P", options: options)
    #expect(selected.version.catalog == whole.version.catalog && selected.version.layout == whole.version.layout)
    #expect(selected.mappedCount == whole.mappedCount && whole.mappedCount > 30)
    for (path, bytes) in files { #expect(try other.contents(of: path) == bytes, "\(path)") }
    let again = try await other.install(.init(from: FilePath(moved), entries), as: "P", options: options)
    #expect(again.isUnchanged)
  }

  @Test(
    arguments: [
      [], [("a", "f"), ("a", "f")], [("a", "f"), ("a/b", "f")], [("../a", "f")], [("a", "../source/f")], [("a", "/f")],
      [("a\0b", "f")], [("a", "f\0")], [("", "f")], [("a", "")],
    ] as [[(String, String)]])
  func badLists(_ entries: [(String, String)]) async throws {
    let folder = TemporaryFolder()
    let source = try folder.makeFolder("source", ["f": "1"]), store = try folder.store()
    let selection = Store.Selection(from: FilePath(source), entries.map { .init(path: $0.0, source: $0.1) })
    await #expect { try await store.install(selection, as: "P") } throws: {
      ($0 as? PackStoreError)?.code == .invalidArgument
    }
    #expect(try store.packs().isEmpty)
  }

  @Test func whatIsNotThereIsNamed() async throws {
    let folder = TemporaryFolder()
    let source = try folder.makeFolder("source", ["f": "1", "d/g": "2"]), store = try folder.store()
    try folder.makeLink("source/link", to: "d")
    let selection = Store.Selection(
      from: FilePath(source),
      [.init(path: "a", source: "f"), .init(path: "b", source: "none"), .init(path: "c", source: "link/g")])
    do {
      try await store.install(selection, as: "P")
      Issue.record("installed what is not there")
    } catch let error as PackStoreError where error.code == .refused {
      #expect(error.notices.map(\.path) == ["none", "link/g"])
    }
  }
}
