import BackgroundAssets
import Foundation
import PackStore
import Testing

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#endif

/// U1 to U4: an app and an extension with downloads of their own, written to Apple's talks, with a web server on this machine. Of the same
/// suite as the others, since all read the variable that names the property list.
extension SnippetTests {
  /// Python's `http.server` over a folder.
  final class Server {
    let url: String
    private let process = Process()

    init(serving folder: String) throws {
      let output = Pipe()
      process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
      process.arguments = ["python3", "-u", "-m", "http.server", "0", "--bind", "127.0.0.1", "--directory", folder]
      process.standardOutput = output
      process.standardError = FileHandle.nullDevice
      try process.run()
      // Serving HTTP on 127.0.0.1 port 12345 ...
      let line = String(decoding: output.fileHandleForReading.availableData, as: UTF8.self)
      let port = try #require(line.firstMatch(of: /port ([0-9]+)/)?.output.1)
      url = "http://127.0.0.1:\(port)"
    }

    deinit {
      kill(process.processIdentifier, SIGKILL)
      process.waitUntilExit()
    }
  }

  private func downloadList(_ place: Place, _ server: Server, _ more: String = "") -> String {
    """
    <?xml version="1.0" encoding="UTF-8"?>
    <plist version="1.0"><dict>
      <key>BAAppGroupID</key><string>group.com.example.player</string>
      <key>BAHasManagedAssetPacks</key><false/>
      <key>BAManifestURL</key><string>\(server.url)/manifest</string>
      <key>BAMaxInstallSize</key><integer>1000</integer>
      <key>BAEssentialMaxInstallSize</key><integer>1000</integer>
      <key>BAInitialDownloadRestrictions</key><dict>
        <key>BADownloadAllowance</key><integer>1000</integer>
        <key>BAEssentialDownloadAllowance</key><integer>1000</integer>
        <key>BADownloadDomainAllowList</key><array><string>127.0.0.1</string></array>
      </dict>
      <key>PackStoreGroupFolder</key><string>\(place.folder)/group</string>
      <key>CFBundleIdentifier</key><string>com.example.player</string>\(more)
    </dict></plist>
    """
  }

  /// U4: the agent fetches the manifest, calls the extension, downloads the essential files in a batch, then the
  /// others, and reports each; it also reports failures, including a failure of the manifest.
  @Test func downloadsOfAnExtension() async throws {
    umask(0o022)
    let place = Place()
    try FileManager.default.createDirectory(atPath: place.folder, withIntermediateDirectories: true)
    let server = try Server(serving: place.folder)
    let program = "\(place.folder)/program"
    let built = URL(fileURLWithPath: CommandLine.arguments[0]).deletingLastPathComponent()
    try FileManager.default.copyItem(atPath: built.appendingPathComponent("snippet-downloads").path, toPath: program)
    for path in [program, place.folder] { chmod(path, 0o755) }
    try place.write("a film", to: "one")
    try place.write("two", to: "two")
    try place.write("one 6 \(server.url)/one\ntwo 4 \(server.url)/two\nnone 5 \(server.url)/none\n", to: "manifest")
    try place.write(
      downloadList(place, server, "<key>PackStoreExtension</key><string>\(program)</string>"), to: "Player.plist")
    let configuration = try ManagedConfiguration(contentsOf: FilePath("\(place.folder)/Player.plist"))
    let group = try GroupFolder(of: configuration, environment: [:])
    try JournalFile(in: group).register(configuration)
    var options = GroupAgent.Options()
    let lines = Lines()
    options.tell = { lines.append($0.text) }
    options.manager.environment = ["PLAYER": "\(group.path)", "PATH": "/usr/bin:/bin"]
    let agent = GroupAgent(of: group, options: options)
    #expect(try await agent.handle(.install, app: "com.example.player").isEmpty)
    _ = try await agent.finishRequests()
    let log = try String(contentsOfFile: "\(group.path)/log", encoding: .utf8).split(separator: "\n").map(String.init)
    // "two" has another length than in the manifest; the extension requests it again with any size.
    #expect(log.contains("finished one") && log.contains("failed two") && log.contains("finished two"), "\(log)")
    #expect(log.filter { $0 == "failed none" }.count == 2 && log.contains("terminates"), "\(log) \(lines.all)")
    #expect(try String(contentsOfFile: "\(group.path)/one", encoding: .utf8) == "a film")
    #expect(try DownloadFolder(ofApp: "com.example.player", in: group).list().downloads.isEmpty)
    // It had time of its own for that, and not all.
    #expect(try JournalFile(in: group).read().extensionTimes["com.example.player"] != nil)

    try FileManager.default.removeItem(atPath: "\(place.folder)/manifest")
    #expect(try await agent.handle(.periodic, app: nil).isEmpty)
    _ = try await agent.finishRequests()
    #expect(try String(contentsOfFile: "\(group.path)/log", encoding: .utf8).contains("no manifest"))
  }

  /// U1: the app's side, with the shared manager in a program of its own: this process has the manager of managed
  /// packs.
  @Test func downloadsOfAnApp() async throws {
    let place = Place()
    try FileManager.default.createDirectory(atPath: place.folder, withIntermediateDirectories: true)
    let server = try Server(serving: place.folder)
    try place.write("a film", to: "one")
    try place.write(downloadList(place, server), to: "Player.plist")
    // `shared` reads the list at its first use, as the one of packs does.
    let old = ProcessInfo.processInfo.environment[ManagedConfiguration.environmentVariable]
    setenv(ManagedConfiguration.environmentVariable, "\(place.folder)/Player.plist", 1)
    let films = URL(fileURLWithPath: "\(place.folder)/group")
    let manager = SessionManager(folder: films)
    setenv(ManagedConfiguration.environmentVariable, old ?? "", 1)
    let url = try #require(URL(string: "\(server.url)/one"))
    manager.startDownload(of: "one", at: url, fileSize: 6)
    for await _ in manager.ends { break }
    #expect(manager.log == ["began one", "6 of 6", "finished one"])
    #expect(try String(contentsOf: films.appendingPathComponent("one"), encoding: .utf8) == "a film")
    #expect(try await manager.cancel("later", at: url) == 0)
  }
}
