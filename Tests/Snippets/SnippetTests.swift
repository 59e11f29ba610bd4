import BackgroundAssets
import Foundation
import PackAuthoring
import PackFormats
import PackStore
import Synchronization
import Testing

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#endif

/// Code written for Apple's documentation runs with a site of this machine. The other files of this folder use no names
/// of this module except through `import BackgroundAssets`.
@Suite(.serialized) struct SnippetTests {
  /// A published site, and a property list that names it: what `AssetPackManager.shared` finds.
  final class Place: Sendable {
    let folder = "\(NSTemporaryDirectory())/snippets-\(UInt64.random(in: 0 ... .max))"
    let key = SiteKey()

    deinit { try? FileManager.default.removeItem(atPath: folder) }

    func write(_ text: String, to file: String) throws {
      let url = URL(fileURLWithPath: "\(folder)/\(file)")
      try FileManager.default.createDirectory(at: url.deletingLastPathComponent(), withIntermediateDirectories: true)
      try Data(text.utf8).write(to: url)
    }

    func publish(_ pack: PackID, _ files: [String: String], _ attributes: Attributes) async throws {
      for (path, text) in files { try write(text, to: "\(pack)/\(path)") }
      let origin = try Store(at: FilePath("\(folder)/origin"))
      var options = Store.InstallOptions()
      options.attributes = attributes
      try await origin.install(folder: FilePath("\(folder)/\(pack)"), as: pack, options: options)
      try await Site(at: FilePath("\(folder)/site")).publish(from: origin, signedBy: key)
    }

    func publishAll() async throws {
      try await publish("Tutorial", ["Videos/Introduction.m4v": "a film"], Attributes())
      try await publish("Level1", ["Levels/1": "one"], Attributes())
      try await publish("Level2", ["Levels/2": "two"], Attributes())
      try await publish("Bonus", ["Levels/bonus": "more"], Attributes())
      try await publish("Later", ["Levels/later": "later"], Attributes())
      try await publish("English", ["greeting.txt": "hello"], Attributes(language: LanguageTag("en")))
      try await publish("German", ["greeting.txt": "hallo"], Attributes(language: LanguageTag("de")))
      let installed = DownloadPolicy.prefetch(on: [.firstInstallation])
      try await publish("Music", ["music": "la"], Attributes(downloadPolicy: installed))
      try await publish("Unwanted", ["unwanted": "no"], Attributes(downloadPolicy: installed))
    }

    func list(group: String) -> String {
      """
      <?xml version="1.0" encoding="UTF-8"?>
      <plist version="1.0"><dict>
        <key>BAAppGroupID</key><string>group.com.example.game</string>
        <key>BAHasManagedAssetPacks</key><true/>
        <key>BAUsesAppleHosting</key><false/>
        <key>BAManifestURL</key><string>file://\(folder)/site</string>
        <key>PackStoreTrustedKey</key><string>\(key.publicKey)</string>
        <key>PackStoreGroupFolder</key><string>\(folder)/\(group)</string>
        <key>CFBundleIdentifier</key><string>com.example.game</string>
        <key>CFBundleShortVersionString</key><string>1.0</string>
      </dict></plist>
      """
    }
  }

  final class Lines: Sendable {
    private let lines: Mutex<[String]> = Mutex([])
    var all: [String] { lines.withLock { $0 } }
    func append(_ line: String) { lines.withLock { $0.append(line) } }
  }

  /// Set up once: the shared manager reads the list at its first use.
  private static let place = Task {
    let place = Place()
    try await place.publishAll()
    try place.write(place.list(group: "group"), to: "Info.plist")
    setenv(ManagedConfiguration.environmentVariable, "\(place.folder)/Info.plist", 1)
    return place
  }

  private func setUp() async throws { _ = try await Self.place.value }

  @Test func query() async throws {
    try await setUp()
    #expect(
      try await namesOfPacks() == [
        "Bonus", "English", "German", "Later", "Level1", "Level2", "Music", "Tutorial", "Unwanted",
      ])
    #expect(try await label(ofPack: "Later").hasSuffix("bytes"))
    await #expect(throws: ManagedBackgroundAssetsError.assetPackNotFound(withID: "None")) {
      try await label(ofPack: "None")
    }
  }

  @Test func ensureReadAndRemove() async throws {
    try await setUp()
    let log = Lines(), shown = Lines()
    let delegate = ManagedAssetPackDownloadDelegate { shown.append($0) }
    AssetPackManager.shared.delegate = delegate
    #expect(AssetPackManager.shared.delegate === delegate)
    if AssetPackManager.shared.assetPackIsAvailableLocally(withID: "Tutorial") { _ = try await finishTutorial() }
    try await prepareLevel("Tutorial") { log.append($0) }
    let lines = log.all
    #expect(lines.first == "Tutorial begins" && lines.last == "Tutorial is here")
    #expect(try await label(ofPack: "Tutorial") == "version 1")
    #expect(try film() == Data("a film".utf8) && film(inPack: "Tutorial") == film())
    #expect(try beginningOfFilm() == Array("a fi".utf8))
    #expect(try FileManager.default.contentsOfDirectory(atPath: folderOfFilms().path) == ["Introduction.m4v"])
    #expect(try await update() == ([], []))
    #expect(try await finishTutorial() == 6)
    #expect(throws: ManagedBackgroundAssetsError.fileNotFound(at: "Videos/Introduction.m4v")) { try film() }
  }

  @Test func severalAtOnce() async throws {
    try await setUp()
    let packs = try await AssetPackManager.shared.allAssetPacks.filter { $0.id.hasPrefix("Level") }
    #expect(try await prepareLevels(packs) == [])
    #expect(packs.allSatisfy { AssetPackManager.shared.assetPackIsAvailableLocally(withID: $0.id) })
  }

  @Test func cancel() async throws {
    try await setUp()
    #expect(try await changeOnesMind(about: "Bonus"))
  }

  @Test func languages() async throws {
    try await setUp()
    let greetings = try await greetings(forGuestSpeaking: Locale.Language(identifier: "de"))
    #expect(greetings.count == 2 && greetings.last == "hallo")
  }

  /// Each name of the list occurs, with its labels in their order, in code that these tests run.
  @Test func everyName() throws {
    let folder = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
    let folders =
      [folder]
      + ["SnippetExtension", "SnippetDownloads"].map { folder.deletingLastPathComponent().appendingPathComponent($0) }
    let files = try folders.flatMap {
      try FileManager.default.contentsOfDirectory(at: $0, includingPropertiesForKeys: nil)
    }
    let code = try files.filter { $0.pathExtension == "swift" }
      .map { try String(contentsOf: $0, encoding: .utf8) }.joined(separator: "\n")
    let list = try String(contentsOf: folder.appendingPathComponent("AppleNames.txt"), encoding: .utf8)
    let names = list.split(separator: "\n").filter { !$0.hasPrefix("#") }
    #expect(names.count > 60)
    for name in names { #expect(try Self.occurs(name, in: code), "\(name)") }
    // In parts, for this file is looked at as well.
    for missing in ["AssetPackManager" + ".nothing", "assetPack" + "(withName:)", "contents" + "(options:at:)"] {
      #expect(try !Self.occurs(missing[...], in: code), "\(missing)")
    }
  }

  /// Whether a call or a declaration occurs, with its labels soon after the parenthesis; an underscore is not a label.
  private static func occurs(_ name: Substring, in code: String) throws -> Bool {
    func quoted(_ text: some StringProtocol) -> String { NSRegularExpression.escapedPattern(for: String(text)) }
    let parts = name.split(separator: "(", maxSplits: 1)
    var pattern = (name.first?.isLetter == true ? "\\b" : "") + quoted(parts[0])
    if parts.count == 2 {
      pattern += "\\("
      for label in parts[1].dropLast().split(separator: ":") where label != "_" {
        pattern += "[^{}]{0,120}?\\b\(quoted(label)):?"
      }
    } else {
      pattern += "\\b"
    }
    return code.range(of: pattern, options: .regularExpression) != nil
  }

  /// The extension of Apple's template, as a program: it fetches the packs that policies request, except the packs that
  /// its filter refuses.
  @Test func downloaderExtension() async throws {
    let place = try await Self.place.value
    try place.write(place.list(group: "extension"), to: "Extension.plist")
    func run(_ arguments: [String], list: String) throws -> Int32 {
      let process = try start(arguments, list: "\(place.folder)/\(list)")
      process.waitUntilExit()
      return process.terminationStatus
    }
    #expect(try run([], list: "Extension.plist") == 0)
    let store = try Store(at: FilePath("\(place.folder)/extension/store"))
    #expect(try store.packs().map(\.id) == ["Music"])
    #expect(try run(["periodic"], list: "Extension.plist") == 0)
    #expect(try run(["never"], list: "Extension.plist") == 2)
    #expect(try run([], list: "None.plist") == 1)
  }

  /// C13: the agent asks the same program which packs to fetch, and fetches these itself.
  @Test func extensionOfAnAgent() async throws {
    let place = try await Self.place.value
    // Wherever the tests were built, others may write.
    let program = "\(place.folder)/program"
    try FileManager.default.copyItem(atPath: programURL.path, toPath: program)
    for path in [program, place.folder] { chmod(path, 0o755) }
    umask(0o022)
    try place.write(
      place.list(group: "agent").replacing(
        "</dict>", with: "<key>PackStoreExtension</key><string>\(program)</string></dict>"), to: "Agent.plist")
    let configuration = try ManagedConfiguration(contentsOf: FilePath("\(place.folder)/Agent.plist"))
    let group = try GroupFolder(of: configuration, environment: [:])
    try JournalFile(in: group).register(configuration)
    var options = GroupAgent.Options()
    let lines = Lines()
    options.tell = { lines.append($0.text) }
    let agent = GroupAgent(of: group, options: options)
    #expect(try await agent.handle(.install, app: "com.example.game") == ["Music"])
    #expect(try await agent.finishRequests().finished == ["Music"])
    #expect(lines.all.contains("the extension accepts 1 packs and refuses 1"), "\(lines.all)")
    #expect(try Store(at: FilePath("\(place.folder)/agent/store")).packs().map(\.id) == ["Music"])
  }

  /// C15: several concurrent processes of one group, and one is killed: the others end normally, and all see the
  /// downloaded packs.
  @Test func severalProcesses() async throws {
    let place = try await Self.place.value
    try place.write(place.list(group: "many"), to: "Many.plist")
    let processes = try (0..<4).map { _ in try start([], list: "\(place.folder)/Many.plist") }
    kill(processes[0].processIdentifier, SIGKILL)
    for process in processes { process.waitUntilExit() }
    #expect(processes.dropFirst().allSatisfy { $0.terminationStatus == 0 })
    let last = try start(["periodic"], list: "\(place.folder)/Many.plist")
    last.waitUntilExit()
    #expect(last.terminationStatus == 0)
    let store = try Store(at: FilePath("\(place.folder)/many/store"))
    #expect(try store.packs().map(\.id) == ["Music"])
    #expect(try await store.verify(deep: true).faults.isEmpty)
  }

  /// The program, in the folder of the built tests.
  private var programURL: URL {
    URL(fileURLWithPath: CommandLine.arguments[0]).deletingLastPathComponent()
      .appendingPathComponent("snippet-extension")
  }

  /// Starts the extension.
  private func start(_ arguments: [String], list: String) throws -> Process {
    let process = Process()
    process.executableURL = programURL
    process.arguments = arguments
    process.environment = ["PATH": "/usr/bin", ManagedConfiguration.environmentVariable: list]
    process.standardError = FileHandle.nullDevice
    try process.run()
    return process
  }
}
