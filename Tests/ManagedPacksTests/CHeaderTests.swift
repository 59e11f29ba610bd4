import Foundation
import PackAuthoring
import PackStore
import Testing

@testable import ManagedPacks

/// `packmanaged.h`, as a program in C sees it: Tests/ManagedC.
@Suite struct CHeaderTests {
  let folder = TestFolder()

  @Test func aProgramInC() async throws {
    let publisher = SiteTests.Publisher(folder: folder, name: "a")
    try await publisher.publish(
      [
        "One": ["Films/a.txt": "one", "empty": ""],
        "Two": ["Films/b.txt": "two", "large.bin": String(repeating: "x", count: 300_000)],
        "German": ["greeting.txt": "hallo"], "Later": ["a": "b"],
      ],
      attributes: [
        "One": Attributes(userInfo: UserInfo(json: #"{"level":7}"#)),
        "Two": Attributes(mappedPaths: ["*.bin"]),
        "German": Attributes(language: LanguageTag("de")), "Later": Attributes(appVersions: AppVersionRange("2...")),
      ])
    let list = """
      {"BAAppGroupID": "group.c", "BAManifestURL": "\(publisher.site)", "PackStoreGroupFolder": "\(folder.path)/group",
       "PackStoreTrustedKey": "\(publisher.key.publicKey)", "CFBundleIdentifier": "org.example.c",
       "CFBundleShortVersionString": "1.0"}
      """
    try folder.write(list, to: "app.json")
    let process = Process(), errors = Pipe()
    process.executableURL = URL(fileURLWithPath: CommandLine.arguments[0])
      .deletingLastPathComponent().appendingPathComponent("managed-c")
    process.arguments = ["\(folder.path)/app.json"]
    process.environment = ["PATH": "/usr/bin"]
    process.standardOutput = FileHandle.nullDevice
    process.standardError = errors
    try process.run()
    let said = String(decoding: try errors.fileHandleForReading.readToEnd() ?? Data(), as: UTF8.self)
    process.waitUntilExit()
    #expect(process.terminationStatus == 0 && said == "", "\(said)")
    let store = try Store(at: folder.path.appending("group/store"))
    #expect(try store.packs().map(\.id.name).sorted() == ["German", "Two"])
  }
}
