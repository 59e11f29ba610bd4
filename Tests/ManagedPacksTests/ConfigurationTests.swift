import Foundation
import PackStore
import Testing

@testable import ManagedPacks

/// The configuration of an app: each mistake is an error with its remedy.
@Suite struct ConfigurationTests {
  private static let key = "11qYAYKxCrfVS/7TyWQHOg7hcvPapiMlrwIaaPcHURo="

  @Test func everyKey() throws {
    let json = """
      {"BAAppGroupID": "group.com.example.game", "BAHasManagedAssetPacks": true, "BAManifestURL": "https://example.com/packs",
       "PackStoreChannel": "beta", "PackStoreTrustedKey": "\(Self.key)", "CFBundleIdentifier": "com.example.game",
       "CFBundleShortVersionString": "1.2", "BAEssentialMaxInstallSize": 1000, "PackStoreGroupFolder": "/tmp/group",
       "PackStoreSites": [{"URL": "/srv/mods", "AllowsUnsigned": true}]}
      """
    let configuration = try ManagedConfiguration(propertyList: Data(json.utf8))
    var expected = try ManagedConfiguration(
      appGroupID: "group.com.example.game",
      sites: [
        .init("https://example.com/packs", channel: SiteChannel("beta"), trustedKey: SitePublicKey(Self.key)),
        .init("/srv/mods", allowsUnsigned: true),
      ],
      appID: "com.example.game", appVersion: AppVersion("1.2"), essentialByteCount: 1000, groupFolder: "/tmp/group")
    expected.essentialMaxInstallByteCount = 1000
    #expect(configuration == expected)
    let list = try JSONSerialization.jsonObject(with: Data(json.utf8))
    let data = try PropertyListSerialization.data(fromPropertyList: list, format: .xml, options: 0)
    #expect(try ManagedConfiguration(propertyList: data) == expected)
    let binary = try PropertyListSerialization.data(fromPropertyList: list, format: .binary, options: 0)
    #expect(try ManagedConfiguration(propertyList: binary) == expected)
  }

  /// Binary lists by Foundation, and lists that contain themselves, expand without bound, or have wrong lengths.
  @Test func binaryLists() throws {
    let values: [String: Any] = [
      "text": "plain", "größe": "Ünïcödé 😀", "yes": true, "no": false, "small": 7, "large": 1 << 40, "negative": -3,
      "list": ["a", ["b": 1]] as [Any], "long": String(repeating: "x", count: 300),
    ]
    let data = try PropertyListSerialization.data(fromPropertyList: values, format: .binary, options: 0)
    let read = try #require(BinaryPropertyList.value(of: data, limit: 100) as? [String: Any])
    #expect(read["text"] as? String == "plain" && read["größe"] as? String == "Ünïcödé 😀")
    #expect(read["yes"] as? Bool == true && read["no"] as? Bool == false && read["small"] as? Int == 7)
    #expect(read["large"] as? Int == 1 << 40 && read["negative"] as? Int == -3 && read.count == values.count)
    #expect((read["list"] as? [Any])?.count == 2 && (read["long"] as? String)?.count == 300)
    #expect(BinaryPropertyList.value(of: data, limit: 5) == nil)
    #expect(BinaryPropertyList.isOne(data) && !BinaryPropertyList.isOne(Data("<plist>".utf8)))

    /// Objects with their table and trailer, of one byte for each offset and number.
    func list(_ objects: [[UInt8]], top: UInt8 = 0, count: UInt8? = nil) -> Data {
      var bytes = Array("bplist00".utf8), offsets: [UInt8] = []
      for object in objects {
        offsets.append(UInt8(bytes.count))
        bytes += object
      }
      let table = UInt8(bytes.count)
      bytes += offsets + [0, 0, 0, 0, 0, 0, 1, 1]
      for number in [count ?? UInt8(objects.count), top, table] { bytes += [0, 0, 0, 0, 0, 0, 0, number] }
      return Data(bytes)
    }
    #expect(BinaryPropertyList.value(of: list([[0x51, 0x61]]), limit: 9) as? String == "a")
    let twice = (0..<60).map { [0xa2, UInt8(min($0 + 1, 60)), UInt8(min($0 + 1, 60))] as [UInt8] } + [[0x09]]
    let hostile: [(what: String, data: Data)] = [
      ("itself", list([[0xa1, 0]])), ("itself as its key", list([[0xd1, 0, 0]])), ("two of two of two", list(twice)),
      ("no such object", list([[0xa1, 9]])), ("top that is none", list([[0x09]], top: 3)),
      ("text beyond the end", list([[0x5f, 0x11, 0xff, 0xff]])), ("length that is none", list([[0xaf, 0x51]])),
      ("huge length", list([[0xaf, 0x13, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff]])),
      ("a key twice", list([[0xd2, 1, 1, 2, 2], [0x51, 0x61], [0x09]])),
      ("a key that is no text", list([[0xd1, 1, 1], [0x09]])),
      ("more objects than there is room for", list([[0x09]], count: 200)), ("nothing", Data("bplist00".utf8)),
      ("a trailer of zeros", Data("bplist00".utf8) + Data(count: 32)),
      ("nothing but ones", Data("bplist00".utf8) + Data(repeating: 255, count: 32)),
    ]
    for (what, data) in hostile { #expect(BinaryPropertyList.value(of: data, limit: 512) == nil, "\(what)") }
    // Damage anywhere, of any kind, from one seed.
    var state: UInt64 = 1
    func random(_ bound: Int) -> Int {
      state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
      return Int(state >> 33) % bound
    }
    for _ in 0..<20_000 {
      var damaged = data
      for _ in 0...random(4) {
        // The trailer and the table are the shortest and matter most.
        let place = random(2) == 0 ? random(damaged.count) : damaged.count - 1 - random(60)
        damaged[place] = UInt8(random(256))
      }
      _ = BinaryPropertyList.value(of: damaged, limit: 512)
    }
  }

  @Test(arguments: [
    ("", "noConfiguration"), ("{", "noConfiguration"), ("[]", "noConfiguration"), ("<plist>", "noConfiguration"),
    ("nonsense", "noConfiguration"), (#"{"BAManifestURL": "x"}"#, "BAAppGroupID"),
    (#"{"BAAppGroupID": "g"}"#, "BAManifestURL"),
    (#"{"BAAppGroupID": "g", "BAUsesAppleHosting": false}"#, "BAManifestURL"),
    (#"{"BAAppGroupID": "../g", "BAManifestURL": "x"}"#, "BAAppGroupID"),
    (#"{"BAAppGroupID": "", "BAManifestURL": "x"}"#, "BAAppGroupID"),
    (#"{"BAAppGroupID": 7, "BAManifestURL": "x"}"#, "BAAppGroupID"),
    (#"{"BAAppGroupID": "g", "BAManifestURL": ""}"#, "BAManifestURL"),
    (#"{"BAAppGroupID": "g", "BAManifestURL": "x", "BAHasManagedAssetPacks": false}"#, "BAManifestURL"),
    (#"{"BAAppGroupID": "g", "BAManifestURL": "x", "PackStoreChannel": "Ä"}"#, "PackStoreChannel"),
    (#"{"BAAppGroupID": "g", "BAManifestURL": "x", "PackStoreTrustedKey": "short"}"#, "PackStoreTrustedKey"),
    (
      #"{"BAAppGroupID": "g", "BAManifestURL": "x", "CFBundleShortVersionString": "one"}"#, "CFBundleShortVersionString"
    ),
    (#"{"BAAppGroupID": "g", "BAManifestURL": "x", "BAEssentialMaxInstallSize": -1}"#, "BAEssentialMaxInstallSize"),
    (#"{"BAAppGroupID": "g", "BAManifestURL": "x", "BAEssentialMaxInstallSize": "big"}"#, "BAEssentialMaxInstallSize"),
    (#"{"BAAppGroupID": "g", "BAManifestURL": "x", "PackStoreSites": [7]}"#, "PackStoreSites"),
    (#"{"BAAppGroupID": "g", "BAManifestURL": "x", "PackStoreSites": [{}]}"#, "URL"),
    (
      #"{"BAAppGroupID": "g", "BAManifestURL": "x", "BAInitialDownloadRestrictions": 3}"#,
      "BAInitialDownloadRestrictions"
    ),
  ])
  func mistakes(text: String, word: String) throws {
    do {
      _ = try ManagedConfiguration(propertyList: Data(text.utf8))
      Issue.record("'\(text)' cannot be right")
    } catch let error as ManagedPacksError {
      #expect(error.code.rawValue == word || error.reason.contains(word), "\(error)")
      #expect(!error.remedy.isEmpty && error.errorDescription == "\(error)")
    }
  }

  /// Lists that are damaged in any place, too long or nested too deep: an error, and no trap.
  @Test func hostileLists() throws {
    let good = Data(#"{"BAAppGroupID": "g", "BAManifestURL": "x", "PackStoreSites": [{"URL": "y"}]}"#.utf8)
    let list = try JSONSerialization.jsonObject(with: good)
    for format in [PropertyListSerialization.PropertyListFormat.xml, .binary] {
      let bytes = try PropertyListSerialization.data(fromPropertyList: list, format: format, options: 0)
      for index in bytes.indices {
        for bit in [0x01, 0x10, 0x80] as [UInt8] {
          var damaged = bytes
          damaged[index] ^= bit
          _ = try? ManagedConfiguration(propertyList: damaged)
        }
        _ = try? ManagedConfiguration(propertyList: bytes.prefix(index))
      }
    }
    for text in [
      String(repeating: "[", count: 65_000), String(repeating: #"{"a":"#, count: 13_000),
      String(repeating: "<array>", count: 9000),
    ] {
      #expect(throws: ManagedPacksError.self) { try ManagedConfiguration(propertyList: Data(text.utf8)) }
    }
    #expect(throws: ManagedPacksError.self) {
      try ManagedConfiguration(propertyList: Data(count: ManagedConfiguration.byteCountLimit + 1))
    }
  }

  /// The list in the environment, otherwise the first one next to the program.
  @Test func whereItIs() throws {
    let folder = TestFolder()
    let program = folder.path.appending("game")
    func list(_ group: String) -> String { #"{"BAAppGroupID": "\#(group)", "BAManifestURL": "x"}"# }
    func group(_ environment: [String: String] = [:]) throws -> String {
      try ManagedConfiguration.main(environment: environment, program: program).appGroupID.name
    }
    #expect(throws: ManagedPacksError.self) { try group() }
    for (file, name) in [("Info.plist", "a"), ("game.json", "b"), ("game.plist", "c"), ("other.json", "d")] {
      try folder.write(list(name), to: file)
      if name != "d" { #expect(try group() == name) }
    }
    #expect(try group([ManagedConfiguration.environmentVariable: "\(folder.path)/other.json"]) == "d")
    #expect(throws: ManagedPacksError.self) { try group([ManagedConfiguration.environmentVariable: "/nowhere"]) }
  }

  @Test func groupFolder() throws {
    let folder = TestFolder()
    let configuration = try ManagedConfiguration(appGroupID: "group.a", sites: [.init("x")])
    func make(_ environment: [String: String]) throws -> FilePath {
      try GroupFolder(of: configuration, environment: environment).path
    }
    #expect(try make(["XDG_DATA_HOME": "\(folder.path)/data"]) == folder.path.appending("data/packstore/group.a"))
    #expect(
      try make(["XDG_DATA_HOME": "data", "HOME": "\(folder.path)"])
        == folder.path.appending(".local/share/packstore/group.a"))
    #expect(throws: ManagedPacksError.self) { try make([:]) }
    let made = folder.path.appending("data/packstore/group.a").string
    let mode = try FileManager.default.attributesOfItem(atPath: made)[.posixPermissions] as? Int
    #expect(mode == 0o700)
    try FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: made)
    #expect(throws: ManagedPacksError.self) { try make(["XDG_DATA_HOME": "\(folder.path)/data"]) }
    try folder.write("", to: "file/packstore/group.a")
    #expect(throws: ManagedPacksError.self) { try make(["XDG_DATA_HOME": "\(folder.path)/file"]) }
  }

  // MARK: - Journal

  static func full() throws -> Journal {
    var journal = Journal()
    journal.apps["com.example"] = Journal.App(version: "1.0")
    journal.chosenLanguage = try LanguageTag("de-AT")
    journal.language = try LanguageTag("en")
    journal.packs["A"] = Journal.Source(
      origin: .unsigned(.standard), channel: .live, root: RootNumber(serial: 1, sequence: 2))
    journal.requests["B"] = Journal.Request(urgency: .prefetch, isPaused: true)
    journal.seen = ["A", "B"]
    journal.essential = ["A"]
    journal.registrations["com.example"] = .init(version: "1.0", propertyList: "/usr/share/game/Game.plist")
    journal.extensionTimes["com.example"] = .init(day: 20_000, milliseconds: 1500)
    return journal
  }

  /// C15: the journal of one process is readable by others; any other content counts as lost, and does not trap.
  @Test func journal() throws {
    let journal = try Self.full(), bytes = try journal.encode()
    #expect(try Journal(decoding: bytes) == journal)
    for index in bytes.indices {
      _ = try? Journal(decoding: Array(bytes.prefix(index)))
      for bit in [0x01, 0x20, 0x80] as [UInt8] {
        var damaged = bytes
        damaged[index] ^= bit
        _ = try? Journal(decoding: damaged)
      }
    }
  }

  @Test(arguments: [
    "", "{}", "[]", "null", #"{"format": 1"#, #"{"format": "1"}"#, #"{"format": 1.0}"#, #"{"format": -1e99}"#,
    #"{"format": 1, "apps": 3}"#, #"{"format": 1, "packs": {"../x": {}}}"#, #"{"format": 1, "seen": ["a/b"]}"#,
    #"{"format": 1, "requests": {"A": {"urgency": "now", "isPaused": false}}}"#, #"{"format": 1, "language": "12"}"#,
    #"{"format": 1, "format": 1}"#, #"{"format": 1, "packs": {"A": {"origin": {"kind": "signed"}}}}"#,
    #"{"format": 1, "registrations": {"a": 3}}"#, #"{"format": 1, "registrations": {"a": {"propertyList": 3}}}"#,
    #"{"format": 1, "extensionTimes": {"a": {"day": 1e99, "milliseconds": 0}}}"#,
    #"{"format": 1, "extensionTimes": {"a": {"day": 0, "milliseconds": 99999999999999999999}}}"#,
    String(repeating: "[", count: 100_000), #"{"format": 99999999999999999999}"#,
  ])
  func noJournal(text: String) throws { #expect(try Journal(decoding: Array(text.utf8)) == nil) }

  /// A written journal can be read again with the maximum number of entries and the longest names, and with no more.
  @Test func largestJournal() throws {
    let folder = TestFolder()
    let configuration = try ManagedConfiguration(
      appGroupID: "g", sites: [.init("x")], groupFolder: folder.path.appending("group"))
    let file = JournalFile(in: try GroupFolder(of: configuration, environment: [:]))
    let names = try (0...Journal.countLimit).map { number in
      try PackID(validating: "\(number)" + String(repeating: "n", count: 123))
    }
    let journal = try file.update { journal in
      for name in names.dropLast() {
        journal.seen.insert(name)
        journal.essential.insert(name)
        journal.requests[name] = .init(urgency: .essential)
        journal.registrations[name.name] = .init(version: "1", propertyList: "/" + String(repeating: "p", count: 400))
      }
      return journal
    }
    #expect(try file.read() == journal)
    #expect {
      try file.update { $0.seen.insert(names[Journal.countLimit]) }
    } throws: { ($0 as? ManagedPacksError)?.code == .groupFolder }
    #expect(try file.read() == journal)
  }

  @Test func newerJournal() throws {
    #expect(throws: ManagedPacksError.self) { try Journal(decoding: Array(#"{"format": 2}"#.utf8)) }
    #expect(try Journal(decoding: Array(#"{"format": 1}"#.utf8)) == Journal())
    #expect(try Journal(decoding: Array(#"{"format": 1, "other": [1]}"#.utf8)) == Journal())
  }

  /// C15: changes of several writers at once are all there.
  @Test func journalOfManyWriters() async throws {
    let folder = TestFolder()
    let configuration = try ManagedConfiguration(
      appGroupID: "g", sites: [.init("x")], groupFolder: folder.path.appending("group"))
    let group = try GroupFolder(of: configuration, environment: [:])
    try await withThrowingTaskGroup { tasks in
      for number in 0..<20 {
        tasks.addTask {
          _ = try JournalFile(in: group).update { $0.seen.insert(try PackID(validating: "P\(number)")) }
        }
      }
      try await tasks.waitForAll()
    }
    #expect(try JournalFile(in: group).read().seen.count == 20)
    try folder.write("damaged", to: "group/journal")
    #expect(try JournalFile(in: group).read() == Journal())
    try JournalFile(in: group).update { $0 = try Self.full() }
    #expect(try JournalFile(in: group).read() == Self.full())
  }

  // MARK: - Manifests

  @Test func downloadManifest() throws {
    let json = """
      {"assetPacks": [{"id": "Tutorial", "version": 3, "url": "https://example.com/Tutorial", "downloadSize": 123,
        "downloadPolicy": {"prefetch": {"installationEventTypes": ["firstInstallation"]}}, "userInfo": {"level": 1},
        "language": "de"}, {"id": "Other", "version": 1, "downloadSize": 0, "downloadPolicy": {"onDemand": {}}}]}
      """
    let manifest = try AssetPackManifest(from: Data(json.utf8), appGroupID: "g")
    let tutorial = try manifest.assetPack(withID: "Tutorial")
    #expect(tutorial.version == 3 && tutorial.downloadSize == 123 && tutorial.userInfo == Data(#"{"level": 1}"#.utf8))
    #expect(tutorial.downloadPolicy == .prefetch(on: [.firstInstallation]))
    #expect(manifest.availableLanguages == [Locale.Language(identifier: "de")])
    #expect(manifest.localizedAssetPacks(for: Locale.Language(identifier: "de-AT")) == [tutorial])
    #expect(manifest.localizedAssetPacks(for: Locale.Language(identifier: "fr")) == [])
    let folder = TestFolder()
    try folder.write(json, to: "manifest.json")
    #expect(
      try AssetPackManifest(contentsOf: URL(fileURLWithPath: "\(folder.path)/manifest.json"), appGroupID: "g")
        == manifest)
    #expect(throws: ManagedBackgroundAssetsError.assetPackNotFound(withID: "X")) { try manifest.assetPack(withID: "X") }
  }

  @Test(arguments: [
    "", "{}", "[]", #"{"assetPacks": 3}"#, #"{"assetPacks": [3]}"#,
    #"{"assetPacks": [{"id": "a/b", "version": 1, "downloadSize": 1}]}"#,
    #"{"assetPacks": [{"id": "A", "version": -1, "downloadSize": 1}]}"#,
    #"{"assetPacks": [{"id": "A", "version": 99999999999999999999, "downloadSize": 1}]}"#,
    #"{"assetPacks": [{"id": "A", "version": 1, "downloadSize": -1}]}"#,
    #"{"assetPacks": [{"id": "A", "version": 1}]}"#,
    #"{"assetPacks": [{"id": "A", "version": 1, "downloadSize": 1, "downloadPolicy": {"essential": {}}}]}"#,
    #"{"assetPacks": [{"id": "A", "version": 1, "downloadSize": 1, "downloadPolicy": {"other": {}}}]}"#,
    #"{"assetPacks": [{"id": "A", "version": 1, "downloadSize": 1}, {"id": "A", "version": 2, "downloadSize": 1}]}"#,
  ])
  func noManifest(text: String) {
    #expect { try AssetPackManifest(from: Data(text.utf8), appGroupID: "g") } throws: {
      ($0 as? PackStoreError)?.code == .corrupt
    }
  }

  /// C14: the codes are Apple's.
  @Test func errorCodes() {
    let errors: [any Error] = [
      ManagedBackgroundAssetsError.assetPackNotFound(withID: "A"), ManagedBackgroundAssetsError.fileNotFound(at: "x"),
      AssetPackManager.LocalAvailabilityError(successes: [], failures: [:]),
    ]
    #expect(errors.map { ($0 as NSError).code } == [0, 1, 2])
    #expect(errors.allSatisfy { ($0 as NSError).domain == BAManagedErrorDomain })
    #expect((errors[0] as NSError).userInfo[BAAssetPackIdentifierErrorKey] as? String == "A")
  }
}
