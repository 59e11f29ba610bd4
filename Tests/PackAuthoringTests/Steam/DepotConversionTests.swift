import Foundation
import PackStore
import Testing

@testable import PackAuthoring

@Suite struct DepotConversionTests {
  private func convert(_ text: String) -> DepotConversion { DepotConversion(Array(text.utf8)) }

  private func depot(_ entries: String) -> String { "\"DepotBuild\" { \"DepotID\" \"7\" \(entries) }" }

  /// The selectors of the manifest that comes of it, which a manifest's reader takes without a complaint.
  private func selectors(_ text: String) throws -> [String] {
    let conversion = convert(text)
    let manifest = try #require(conversion.manifest, "\(conversion.problems)")
    let reading = ManifestReader.read(Array(manifest.utf8))
    #expect(reading.problems.sorted.allSatisfy { $0.message.contains("Apple's packager") })
    #expect(reading.selectors.count == conversion.selectorCount)
    return reading.selectors.map(\.description)
  }

  @Test(arguments: [
    (#""*" "DepotPath" "." "Recursive" "1""#, "filePattern '**'"),
    (#""./*" "DepotPath" ".\" "recursive" "1""#, "filePattern '**'"),
    (#""*.*" "recursive" "1""#, "filePattern '**'"),
    (#""*" "DepotPath" ".""#, "filePattern '/*'"),
    (#""*" "DepotPath" "." "Recursive" "0""#, "filePattern '/*'"),
    (#""*" "DepotPath" "game\data\" "Recursive" "1""#, "directory '.' as 'game/data'"),
    (#""bin\*" "DepotPath" "." "Recursive" "1""#, "directory 'bin'"),
    (#""bin\win\*" "DepotPath" "exe" "Recursive" "1""#, "directory 'bin/win' as 'exe'"),
    (#""bin\" "DepotPath" ".""#, "directory 'bin'"), (#""bin\*" "DepotPath" ".""#, "filePattern 'bin/*'"),
    (#""*.txt" "DepotPath" "." "Recursive" "1""#, "filePattern '*.txt'"),
    (#""*.txt" "DepotPath" ".""#, "filePattern '/*.txt'"),
    (#""docs/*.txt" "DepotPath" "." "Recursive" "1""#, "filePattern 'docs/**/*.txt'"),
    (#""docs\a?.txt" "DepotPath" ".""#, "filePattern 'docs/a?.txt'"),
    (#""[x]\*.txt" "DepotPath" ".""#, #"filePattern '\[x]/*.txt'"#),
    (#""readme.txt" "DepotPath" ".""#, "file 'readme.txt'"), (#""docs\readme.txt""#, "file 'docs/readme.txt'"),
    (#""docs\readme.txt" "DepotPath" "help\""#, "file 'docs/readme.txt' as 'help/readme.txt'"),
    (#""docs\readme.txt" "DepotPath" "help\a.txt""#, "file 'docs/readme.txt' as 'help/a.txt'"),
  ])
  func mappings(_ mapping: String, _ selector: String) throws {
    #expect(try selectors(depot(#""FileMapping" { "LocalPath" \#(mapping) }"#)) == [selector])
  }

  @Test(arguments: [
    ("*.pdb", "*.pdb"), ("bin\\tools*", "bin/tools*"), ("bin\\*", "bin/**"), ("bin\\", "bin/**"), ("./a.txt", "a.txt"),
    ("**/*_DoNotShip/*", "**/*_DoNotShip/**"), ("a[1].txt", "a\\[1].txt"),
  ])
  func exclusions(_ text: String, _ pattern: String) throws {
    let mapping = #""FileMapping" { "LocalPath" "*" "DepotPath" "." "Recursive" "1" }"#
    #expect(
      try selectors(depot("\(mapping) \"FileExclusion\" \"\(text)\"")) == [
        "filePattern '**'", "fileExclusion '\(pattern)'",
      ])
  }

  @Test func textsAsTheyAreWritten() throws {
    let text =
      "\u{feff}// head\r\nDepotBuildConfig\r\n{ // é\r\n DEPOTID 12 \"contentroot\" \"..\\out\\\"\r\n filemapping{localpath *\nRECURSIVE 1}\t}\n// end"
    let conversion = convert(text)
    #expect(conversion.problems == [] && conversion.assetPackID == "Depot-12")
    #expect(conversion.manifest?.contains(#""sourceRoot": "../out""#) == true)
    #expect(try selectors(text) == ["filePattern '**'"])
  }

  @Test func whatOnlySteamNeedsIsLeftOut() throws {
    let marked = MarkedText(
      depot(
        #""FileMapping" { "LocalPath" "a" } §"InstallScript" "x" §"FileProperties" { "LocalPath" "b" } "ContentRoot" §"D:\game""#
      ))
    let conversion = convert(marked.text)
    #expect(
      conversion.problems.map(\.description)
        == marked.descriptions([
          "warning: 'InstallScript' has no equivalent in a manifest and is skipped",
          "warning: 'FileProperties' has no equivalent in a manifest and is skipped",
          "warning: the absolute path of 'ContentRoot' is skipped; run 'packstore evaluate' in that folder, or add a 'sourceRoot'",
        ]))
    #expect(conversion.manifest?.contains("sourceRoot") == false)
  }

  @Test(
    arguments: [
      ("§", ["error: the script is empty"]), ("// a\n§", ["error: the script is empty"]),
      (
        #"§"AppBuild" { "AppID" "1" }"#,
        ["error: the script does not contain 'Depots'; convert the script of a depot"]
      ),
      (
        #"§"AppBuild" { "Depots" { "1" { } "2" "d.vdf" } }"#,
        ["error: the script has the depots 1, 2; choose one: --depot 1"]
      ),
      (
        #""AppBuild" { "Depots" { "1001" §"depot_1001.vdf" } }"#,
        ["error: the script of the depot 1001 is a separate file; convert 'depot_1001.vdf'"]
      ),
      (#""AppBuild" { "Depots" { §"x" { } } }"#, ["error: 'x' is not a depot number; use only digits"]),
      (
        #""AppBuild" { "Depots" { §"7" { } } }"#,
        ["error: the script lacks 'FileMapping'; map the files of the pack"]
      ),
      (#"§"Depot" { }"#, [#"error: 'Depot' is not a depot build script; use a script that begins with "DepotBuild""#]),
      (
        #"§"DepotBuild" "x""#,
        [#"error: 'DepotBuild' is not a depot build script; use a script that begins with "DepotBuild""#]
      ),
      (
        #"§"DepotBuild" { "DepotID" "1" }"#,
        ["error: the script lacks 'FileMapping'; map the files of the pack"]
      ),
      (
        #"§"DepotBuild" { "FileMapping" { "LocalPath" "a" } }"#,
        ["error: the script lacks 'DepotID', so the pack has no name; set the pack's name"]
      ),
      (
        #""DepotBuild" { "DepotID" "1" "FileMapping" { "LocalPath" "a" } §"#,
        ["error: expected '}', not the end of the text"]
      ),
      (
        #""DepotBuild" § "#.replacing(" § ", with: " §"),
        ["error: expected a value of 'DepotBuild', not the end of the text"]
      ),
      (#""DepotBuild" { "DepotID" §}"#, ["error: expected a value of 'DepotID', not '}'"]),
      (#""DepotBuild" { §{ } }"#, ["error: expected a key, not '{'"]), ("§}", ["error: expected a key, not '}'"]),
      (#""DepotBuild" { } §"More" { }"#, ["error: extra text after the end of the script: 'More'"]),
      (
        "\"DepotBuild\" { \"DepotID\" §\"1\n\" }",
        ["error: a string is not closed on its line; add a double quote at its end"]
      ),
      (
        #""DepotBuild" { "DepotID" §"1 }"#, ["error: a string is not closed on its line; add a double quote at its end"]
      ),
      (
        #""DepotBuild" { "DepotID" "1" §[$WIN32] }"#,
        ["error: conditions in brackets are not supported; remove the condition or its entry"]
      ),
      ("§#include \"other.vdf\"", ["error: included scripts are not supported; insert the content of the script"]),
      ("\"é\" §\u{0}", ["error: 'é' is not a depot build script; use a script that begins with \"DepotBuild\""]),
      (
        String(repeating: "a{", count: 15) + "a§{" + String(repeating: "a{", count: 100_000),
        ["error: blocks are nested more than 16 deep"]
      ),
    ].filter { !$0.0.contains("\u{0}") })
  func scriptsThatAreNone(_ marked: String, _ problems: [String]) {
    let marked = MarkedText(marked)
    let conversion = convert(marked.text)
    #expect(conversion.manifest == nil && conversion.problems.map(\.description) == marked.descriptions(problems))
  }

  @Test(arguments: [
    (
      #"§"DepotIDs" "1" "FileMapping" { "LocalPath" "a" }"#,
      ["error: unknown key 'DepotIDs' in a depot build script; did you mean 'DepotID'?"]
    ),
    (#""FileMapping" §"*""#, ["error: 'FileMapping' must be a block, not a string"]),
    (#"§"FileMapping" { }"#, ["error: a 'FileMapping' lacks 'LocalPath'; add one"]),
    (
      #""FileMapping" { §"LocalPaths" "*" "LocalPath" "a" }"#,
      ["error: unknown key 'LocalPaths' in a 'FileMapping'; did you mean 'LocalPath'?"]
    ),
    (#""FileMapping" { "LocalPath" "a" §"localpath" "b" }"#, ["error: 'localpath' occurs twice; keep one of them"]),
    (
      #""FileMapping" { "LocalPath" §{ } }"#.replacing("§", with: "§").replacing(
        #""FileMapping" {"#, with: #"§"FileMapping" {"#),
      ["error: a 'FileMapping' lacks 'LocalPath'; add one", "error: 'LocalPath' must be a string, not a block"]
    ),
    (#""FileMapping" { "LocalPath" "*" "Recursive" §"yes" }"#, ["error: 'Recursive' must be 0 or 1"]),
    (
      #""FileMapping" { "LocalPath" §"C:\a\*" }"#,
      [#"error: 'C:\a\*' is an absolute path; write it relative to 'ContentRoot'"#]
    ),
    (
      #""FileMapping" { "LocalPath" §"..\a" }"#,
      [#"error: '..\a' has the part '..'; write it relative to 'ContentRoot'"#]
    ),
    (
      #""FileMapping" { "LocalPath" "a" "DepotPath" §"../b" }"#,
      ["error: '../b' has the part '..'; write it relative to 'ContentRoot'"]
    ),
    (
      #"§"FileMapping" { "LocalPath" "a*/b" }"#,
      ["error: a wildcard in a folder's name cannot be mapped; map each folder"]
    ),
    (
      #"§"FileMapping" { "LocalPath" "*.txt" "DepotPath" "docs" "Recursive" "1" }"#,
      [
        "error: a manifest cannot move files that match a wildcard; map the whole folder, or each file"
      ]
    ),
    (
      #"§"FileMapping" { "LocalPath" "a" "DepotPath" "b" }"#,
      ["warning: 'b' is used as the file's path in the pack; if it is a folder, end 'DepotPath' with a slash"]
    ),
    (#""FileMapping" { "LocalPath" "a" } "FileExclusion" §"" "#, ["error: 'FileExclusion' is empty; remove it"]),
    (
      #""FileMapping" { "LocalPath" "a" } "FileExclusion" §{ }"#,
      ["error: 'FileExclusion' must be a string, not a block"]
    ),
  ])
  func entriesThatAreWrong(_ entries: String, _ problems: [String]) {
    let marked = MarkedText(depot(entries))
    let conversion = convert(marked.text)
    #expect(conversion.problems.map(\.description) == marked.descriptions(problems))
    #expect((conversion.manifest == nil) == problems.contains { $0.hasPrefix("error") })
  }

  private static let app = #"""
    "appbuild" { "AppID" "1000" "Desc" "x" "ContentRoot" "src" "Depots" {
      "1001" { "FileMapping" { "LocalPath" "*" "DepotPath" "." "recursive" "1" } }
      "1002" { "ContentRoot" "other" "FileMapping" { "LocalPath" "a.txt" } "FileExclusion" "*.pdb" }
      "1003" "depot_1003.vdf"
    } }
    """#

  @Test func depotsOfApps() throws {
    for (depot, root, selectors) in [
      ("1001", "src", #"{ "filePattern": "**" }"#),
      ("1002", "other", "{ \"file\": \"a.txt\" },\n    { \"fileExclusion\": \"*.pdb\" }"),
    ] {
      let conversion = DepotConversion(Array(Self.app.utf8), options: .init(depot: depot))
      #expect(conversion.problems.isEmpty && conversion.assetPackID?.name == "Depot-\(depot)")
      let manifest = try #require(conversion.manifest)
      #expect(manifest.contains(#""sourceRoot": "\#(root)""#) && manifest.contains(selectors), "\(manifest)")
    }
    func finding(_ text: String, _ depot: String?) -> [String] {
      DepotConversion(Array(text.utf8), options: .init(depot: depot)).problems.map(\.message)
    }
    #expect(finding(Self.app, nil) == ["the script has the depots 1001, 1002, 1003"])
    #expect(finding(Self.app, "1003") == ["the script of the depot 1003 is a separate file"])
    #expect(finding(Self.app, "9") == ["the script lacks the depot 9; it has 1001, 1002, 1003"])
    let one = #""AppBuild" { "Depots" { "7" { "FileMapping" { "LocalPath" "a" } } } }"#
    #expect(finding(one, nil).isEmpty && finding(one, "7").isEmpty && !finding(one, "8").isEmpty)
    let depot = self.depot(#""FileMapping" { "LocalPath" "a" }"#)
    #expect(finding(depot, "7").isEmpty && finding(depot, "8") == ["the script is for the depot 7, not for 8"])
  }

  /// Steam's own programs write a zero behind the last brace.
  @Test func zerosAtTheEnd() {
    let script = depot(#""FileMapping" { "LocalPath" "a" }"#)
    for end in ["\0", "\n\0", "\0\0\0\n", "\r\n\0\r\n"] { #expect(convert(script + end).problems.isEmpty) }
    #expect(convert(script + "\0x").problems.count == 1)
    #expect(convert("\0" + script).problems.count == 1)
  }

  @Test(arguments: [
    String.Encoding.utf16, .utf16LittleEndian, .utf16BigEndian, .utf32, .utf32LittleEndian, .utf32BigEndian,
  ])
  func wideEncodingsAreNamed(_ encoding: String.Encoding) throws {
    let name = "\(encoding)".contains("32") ? "UTF-32" : "UTF-16"
    for text in [depot(#""FileMapping" { "LocalPath" "a" }"#), "// x"] {
      let bytes = try #require(text.data(using: encoding))
      let problems = DepotConversion(Array(bytes)).problems
      #expect(problems.map(\.message) == ["the file is \(name)"], "\(encoding)")
    }
    let manifest = try #require(#"{"assetPackID":"T"}"#.data(using: encoding))
    let problems = ManifestReader.read(Array(manifest)).problems.sorted
    #expect(
      problems.map(\.description) == [
        "1:1: error: the file is \(name); save it as UTF-8 (PowerShell: Out-File -Encoding utf8)"
      ], "\(encoding)")
  }

  @Test func whatIsWrongInAManifestIsWrongInAScript() {
    let name = String(repeating: "a", count: 256)
    let conversion = convert(depot("\"FileMapping\" { \"LocalPath\" \"\(name)\" }"))
    #expect(conversion.manifest == nil)
    #expect(
      conversion.problems.map(\.description) == [
        "1:1: error: the manifest would be wrong: a name in a path has more than 255 bytes; shorten it"
      ])
  }

  @Test func wrongNumbersOfDepots() {
    let marked = MarkedText(#""DepotBuild" { "DepotID" §"x1" "FileMapping" { "LocalPath" "a" } }"#)
    #expect(
      convert(marked.text).problems.map(\.description)
        == marked.descriptions(["error: 'x1' is not a depot number; use only digits"]))
  }
}
