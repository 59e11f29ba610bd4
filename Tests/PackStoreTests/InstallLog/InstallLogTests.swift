import Foundation
import Testing

@testable import PackStore

/// The store's own records of its versions.
@Suite final class InstallLogTests {
  private let folder = TemporaryFolder()

  private func log(_ store: Store) throws -> InstallLog.Content { try InstallLog(inStore: store.path).read() }

  private func install(_ store: Store, _ text: String, note: String? = nil, published: Bool = false) async throws {
    let options = Store.InstallOptions(note: try note.map { try VersionNote($0) }, publishesNote: published)
    try await store.install(
      folder: FilePath(folder.makeFolder(UUID().uuidString, ["file": text])), as: "P", options: options)
  }

  @Test func notesStayWithTheirVersions() async throws {
    let store = try folder.store()
    try await install(store, "one", note: "first")
    try await install(store, "two", note: "second")
    let versions = try store.versions(of: "P")
    #expect(try versions.map { try log(store).installation(of: $0)?.note?.text } == ["second", "first"])
    #expect(try store.makeSnapshot().attributes(of: versions[0]).isEmpty, "nothing of it is in the version")
    // The same content again is not a new version, and another note becomes the version's note.
    try await install(store, "two", note: "second, reviewed")
    #expect(try store.versions(of: "P") == versions)
    #expect(try log(store).installation(of: versions[0])?.note?.text == "second, reviewed")
    // Two are kept.
    try await install(store, "three")
    let content = try log(store)
    #expect(content.installations.count == 1 && content.installation(of: versions[1]) == nil)
    try await store.change { try $0.remove("P") }
    #expect(!FileManager.default.fileExists(atPath: store.path.appending("installs").string))
  }

  @Test func publishedNotesAreAttributes() async throws {
    let store = try folder.store()
    try await install(store, "one", note: "for everybody", published: true)
    let version = try #require(try store.versions(of: "P").first)
    #expect(try store.makeSnapshot().attributes(of: version).note?.text == "for everybody")
    #expect(try log(store).installations.isEmpty)
    try await install(store, "two")
    let next = try #require(try store.versions(of: "P").first)
    #expect(try store.makeSnapshot().attributes(of: next).note == nil, "it is of one version")
  }

  /// With any content of the file, commits work, and its complete lines count.
  @Test func damagedFilesStopNothing() async throws {
    let store = try folder.store()
    try await install(store, "one", note: "first")
    let path = store.path.appending("installs").string
    let line = try Data(contentsOf: URL(fileURLWithPath: path))
    for junk in ["\u{0}\u{1}", "{}\n", "[1]\n", "{\"pack\":\"P\"}\n", String(repeating: "x", count: 1000)] {
      try (line + Data(junk.utf8)).write(to: URL(fileURLWithPath: path))
      let content = try log(store)
      #expect(content.isDamaged && content.installations.count == 1)
      try await install(store, junk, note: "next")
      #expect(try !log(store).isDamaged)
      try line.write(to: URL(fileURLWithPath: path))
    }
  }

  @Test func linesAreWhatTheyWereWrittenAs() throws {
    let key = try #require(SitePublicKey([UInt8](repeating: 7, count: 32)))
    let sources: [Installation.Source?] = [
      nil, .init(location: "/a b/\u{e9}\n\"", channel: nil, key: nil),
      .init(location: "https://example.com/packs", channel: .live, key: key),
    ]
    let catalog = try #require(CatalogID(String(repeating: "ab", count: 32)))
    for source in sources {
      for note in [nil, try VersionNote("it's \"50 %\" \u{202e}off\\")] {
        var installation = try #require(
          Installation(
            line: Array(
              #"{"catalog":"\#(catalog)","date":"-1","pack":"P","version":9007199254740991}"#.utf8)))
        (installation.source, installation.note) = (source, note)
        let line = installation.line
        #expect(!line.contains(10) && Installation(line: line) == installation)
        // A changed line is another one, or none.
        for index in line.indices {
          var damaged = line
          damaged[index] ^= 1
          #expect(Installation(line: damaged) != installation)
        }
      }
    }
  }

  @Test(arguments: [
    "", "a\nb", "a\rb", "tab\t", "\u{1b}[31m", "\u{7f}", "\u{85}", "\u{2028}", String(repeating: "x", count: 1001),
  ])
  func noNotes(_ text: String) {
    #expect(throws: PackStoreError.self) { try VersionNote(text) }
  }

  @Test func notesAreTexts() throws {
    for text in ["git 3fa9c", "Wächter: \u{1f600}", String(repeating: "x", count: 1000)] {
      #expect(try VersionNote(text).text == text)
      #expect(try JSONDecoder().decode(VersionNote.self, from: JSONEncoder().encode(VersionNote(text))).text == text)
    }
  }
}
