/// Manifests and their errors. `§` marks each place that an error names, in the order of the text; it is not part of
/// the manifest.
enum ManifestTable {
  /// Members of a manifest that is right otherwise: the three that it must have are added where they are not there.
  static let members: [(text: String, problems: [String])] =
    accepted.map { ($0, []) } + ids + policies + platforms
    + roots + languages + extras + selectors + paths

  private static let levelError =
    "error: 'level' must be an integer from 1 to 22, or from -1 to -7; 1 is fast, 22 is small, -7 is fast to read"

  static let accepted = [
    "", #""assetPackID":"Tutorial""#, #""assetPackID":"level-1""#, #""assetPackID":"9""#,
    #""downloadPolicy":{"onDemand":{}}"#,
    #""downloadPolicy":{"prefetch":{"installationEventTypes":["firstInstallation"]}}"#,
    #""downloadPolicy":{"essential":{"installationEventTypes":["subsequentUpdate","firstInstallation"]}}"#,
    #""platforms":[]"#, #""platforms":["iOS","macOS","tvOS","visionOS"]"#, #""sourceRoot":".""#,
    #""sourceRoot":"../../Assets""#, #""language":"en""#, #""language":"zh-hant-tw""#, #""userInfo":null"#,
    #""userInfo":{"a":[1e400,"é",null]}"#, #""userInfo":"text""#, #""toolsVersion":"2.0""#, #""packstore":{}"#,
    #""packstore":{"placement":"purgeable","priority":-3,"map":["*.mesh"],"level":22,"layout":"sequential","appVersions":"2.0..<3"}"#,
    #""packstore":{"placement":"durable","priority":2147483647,"map":[],"level":-7,"layout":"random","appVersions":"..<3"}"#,
    #""fileSelectors":[{"file":"Videos/Introduction.m4v"},{"directory":"Textures"},{"directory":"Shaders/"}]"#,
    #""fileSelectors":[{"filePattern":"**/*.[mM]4v"},{"fileExclusion":"*.psd"}]"#,
    #""fileSelectors":[{"fileSource":"a","fileDestination":"b/c"},{"directoryDestination":".","directorySource":"d"}]"#,
    #""fileSelectors":[{"file":"a b/é/\ud83d\ude00"},{"file":"..a/b..."},{"file":"[a]"}]"#,
    "// one\n\"assetPackID\" // two\n : // three\n \"P\" // four\n",
    "\"platforms\":[//\n\"iOS\"//]\n,//\n\"macOS\"]",
    "\"fileSelectors\":[ // { \"file\": \"x\" },\n{\"file\":\"a\"}//\n]",
  ]

  private static let ids: [(String, [String])] = [
    (#""assetPackID":§1"#, ["error: 'assetPackID' must be a string, not a number"]),
    (#""assetPackID":§null"#, ["error: 'assetPackID' must be a string, not null"]),
    (#""assetPackID":§["P"]"#, ["error: 'assetPackID' must be a string, not a list"]),
    (#""assetPackID":§"""#, ["error: '': invalid name of a pack; \(name)"]),
    (#""assetPackID":§"a/b""#, ["error: 'a/b': invalid name of a pack; \(name)"]),
    (#""assetPackID":§"a b""#, ["error: 'a b': invalid name of a pack; \(name)"]),
    (#""assetPackID":§"-a""#, ["error: '-a': invalid name of a pack; \(name)"]),
    (#""assetPackID":§".a""#, ["error: '.a': invalid name of a pack; \(name)"]),
    (#""assetPackID":§"é""#, ["error: 'é': invalid name of a pack; \(name)"]),
    (#""assetPackID":§"a\u0000""#, ["error: 'a\0': invalid name of a pack; \(name)"]),
    (
      "\"assetPackID\":§\"" + String(repeating: "a", count: 129) + "\"",
      ["error: '" + String(repeating: "a", count: 129) + "': invalid name of a pack; \(name)"]
    ),
    (
      #""assetPackID":§"a_b""#,
      [
        "warning: App Store Connect does not accept '_' and '.' in the name of a pack; for App Store Connect, use letters, digits and hyphens"
      ]
    ),
    (
      #""assetPackID":§"a.b""#,
      [
        "warning: App Store Connect does not accept '_' and '.' in the name of a pack; for App Store Connect, use letters, digits and hyphens"
      ]
    ),
    (
      #""assetPackID":§"[Asset-Pack ID]""#,
      ["error: '[Asset-Pack ID]' is a placeholder; replace it with your assetPackID"]
    ),
    (
      #""assetPackID":"P",§"assetPackID":"Q""#,
      ["error: 'assetPackID' occurs twice: first in line 1, column 2; keep one of them"]
    ),
    (
      #"§"assetPackId":"P","assetPackID":"P""#,
      ["error: unknown key 'assetPackId'; did you mean 'assetPackID'?"]
    ),
    (#"§"name":"P""#, ["error: unknown key 'name'; remove it"]),
    (#"§"":1"#, ["error: unknown key ''; remove it"]),
  ]
  private static let name = "use 1 to 128 letters, digits, '-', '_' and '.', beginning with a letter, a digit or '_'"

  private static let events = #"write { "installationEventTypes": [ "firstInstallation", "subsequentUpdate" ] }"#
  private static let policies: [(String, [String])] = [
    (
      #""downloadPolicy":§"onDemand""#,
      [
        #"error: 'downloadPolicy' must be an object, not a string; write { "onDemand": {} }, or another policy in place of onDemand"#
      ]
    ),
    (
      #""downloadPolicy":§[]"#,
      [
        #"error: 'downloadPolicy' must be an object, not a list; write { "onDemand": {} }, or another policy in place of onDemand"#
      ]
    ),
    (#""downloadPolicy":§{}"#, ["error: 'downloadPolicy' is empty; use essential, prefetch or onDemand"]),
    (
      #""downloadPolicy":{§"ondemand":{}}"#, ["error: unknown download policy 'ondemand'; did you mean 'onDemand'?"]
    ),
    (
      #""downloadPolicy":{§"Essential":{}}"#,
      ["error: unknown download policy 'Essential'; did you mean 'essential'?"]
    ),
    (
      #""downloadPolicy":{§"eager":{}}"#,
      ["error: unknown download policy 'eager'; use essential, prefetch or onDemand"]
    ),
    (#""downloadPolicy":{"onDemand":§null}"#, ["error: 'onDemand' must be an empty object, not null; write {}"]),
    (#""downloadPolicy":{"onDemand":§true}"#, ["error: 'onDemand' must be an empty object, not a boolean; write {}"]),
    (
      #""downloadPolicy":{"onDemand":{§"installationEventTypes":[]}}"#,
      ["error: 'onDemand' must be an empty object; remove 'installationEventTypes', or use another policy"]
    ),
    (
      #""downloadPolicy":{"onDemand":{},§"prefetch":{}}"#,
      ["error: a second download policy; keep one of them"]
    ),
    (
      #""downloadPolicy":{"onDemand":{},§"onDemand":{}}"#,
      ["error: 'onDemand' occurs twice: first in line 1, column 20; keep one of them"]
    ),
    (#""downloadPolicy":{"essential":§{}}"#, ["error: 'essential' lacks 'installationEventTypes'; \(events)"]),
    (#""downloadPolicy":{"essential":§null}"#, ["error: 'essential' must be an object, not null; \(events)"]),
    (
      #""downloadPolicy":{"essential":§["firstInstallation"]}"#,
      ["error: 'essential' must be an object, not a list; \(events)"]
    ),
    (
      #""downloadPolicy":{"prefetch":{"installationEventTypes":§"firstInstallation"}}"#,
      ["error: 'installationEventTypes' must be a list, not a string"]
    ),
    (
      #""downloadPolicy":{"prefetch":{"installationEventTypes":§[]}}"#,
      ["error: 'installationEventTypes' is empty; add firstInstallation or subsequentUpdate, or use onDemand"]
    ),
    (
      #""downloadPolicy":{"prefetch":{"installationEventTypes":[§"firstInstall"]}}"#,
      ["error: unknown installation event 'firstInstall'; did you mean 'firstInstallation'?"]
    ),
    (
      #""downloadPolicy":{"prefetch":{"installationEventTypes":[§"never"]}}"#,
      ["error: unknown installation event 'never'; use firstInstallation or subsequentUpdate"]
    ),
    (
      #""downloadPolicy":{"prefetch":{"installationEventTypes":[§1,"subsequentUpdate"]}}"#,
      ["error: 'an entry of installationEventTypes' must be a string, not a number"]
    ),
    (
      #""downloadPolicy":{"prefetch":{"installationEventTypes":["subsequentUpdate",§"subsequentUpdate"]}}"#,
      ["warning: 'subsequentUpdate' is in 'installationEventTypes' twice; keep one of them"]
    ),
    (
      #""downloadPolicy":{"prefetch":§{§"installationEventType":["subsequentUpdate"]}}"#,
      [
        "error: 'prefetch' lacks 'installationEventTypes'; \(events)",
        "error: unknown key 'installationEventType' in 'prefetch'; did you mean 'installationEventTypes'?",
      ]
    ),
    (
      #""downloadPolicy":{"prefetch":{"installationEventTypes":["subsequentUpdate"],§"more":1}}"#,
      ["error: unknown key 'more' in 'prefetch'; remove it"]
    ),
    (
      #"§"installationEventTypes":[]"#,
      [#"error: unknown key 'installationEventTypes'; move it into the object of "downloadPolicy""#]
    ),
    (#"§"essential":{}"#, [#"error: unknown key 'essential'; move it into the object of "downloadPolicy""#]),
    (#"§"onDemand":{}"#, [#"error: unknown key 'onDemand'; move it into the object of "downloadPolicy""#]),
  ]

  private static let platforms: [(String, [String])] = [
    (#""platforms":§"iOS""#, ["error: 'platforms' must be a list, not a string"]),
    (#""platforms":§null"#, ["error: 'platforms' must be a list, not null"]),
    (#""platforms":[§"watchOS"]"#, ["error: unknown platform 'watchOS'; remove it: watches do not support packs"]),
    (#""platforms":[§"iPadOS"]"#, ["error: unknown platform 'iPadOS'; use iOS for iPads"]),
    (#""platforms":["iOS",§"ios"]"#, ["error: unknown platform 'ios'; did you mean 'iOS'?"]),
    (#""platforms":[§"MacOS"]"#, ["error: unknown platform 'MacOS'; did you mean 'macOS'?"]),
    (
      #""platforms":[§"xrOS"]"#,
      ["error: unknown platform 'xrOS'; use iOS, macOS, tvOS or visionOS, or an empty list for all"]
    ),
    (
      #""platforms":[§"Linux"]"#,
      ["error: unknown platform 'Linux'; use iOS, macOS, tvOS or visionOS, or an empty list for all"]
    ),
    (
      #""platforms":[§"Windows",§"Android"]"#,
      [
        "error: unknown platform 'Windows'; use iOS, macOS, tvOS or visionOS, or an empty list for all",
        "error: unknown platform 'Android'; use iOS, macOS, tvOS or visionOS, or an empty list for all",
      ]
    ),
    (#""platforms":[§1]"#, ["error: 'an entry of platforms' must be a string, not a number"]),
    (#""platforms":["tvOS",§"tvOS"]"#, ["warning: 'tvOS' is in 'platforms' twice; keep one of them"]),
    (
      #""platforms":[],§"platforms":[]"#,
      ["error: 'platforms' occurs twice: first in line 1, column 2; keep one of them"]
    ),
    (#"§"platform":"iOS""#, ["error: unknown key 'platform'; did you mean 'platforms'?"]),
  ]

  private static let roots: [(String, [String])] = [
    (#""sourceRoot":§1"#, ["error: 'sourceRoot' must be a string, not a number"]),
    (#""sourceRoot":§"""#, ["error: 'sourceRoot' is empty; write it relative to the folder of the manifest"]),
    (
      #""sourceRoot":§"/Assets""#,
      ["error: 'sourceRoot' is an absolute path; write it relative to the folder of the manifest"]
    ),
    (
      #""sourceRoot":§"C:\\Assets""#,
      ["error: 'sourceRoot' is an absolute path; write it relative to the folder of the manifest"]
    ),
    (
      #""sourceRoot":§"a\u0000b""#,
      ["error: 'sourceRoot' contains a NUL; write it relative to the folder of the manifest"]
    ),
    (
      #""sourceRoot":§"[Path to Source Root]""#,
      ["error: '[Path to Source Root]' is a placeholder; replace it with your sourceRoot"]
    ),
    (#"§"sourceroot":".""#, ["error: unknown key 'sourceroot'; did you mean 'sourceRoot'?"]),
  ]

  private static let languages: [(String, [String])] = [
    (#""language":§1"#, ["error: 'language' must be a string, not a number"]),
    (#""language":§"""#, ["error: '': invalid language tag; write it as BCP 47 has it, such as en, pt-BR or zh-Hant"]),
    (
      #""language":§"en_US""#,
      ["error: 'en_US': invalid language tag; write it as BCP 47 has it, such as en, pt-BR or zh-Hant"]
    ),
    (
      #""language":§"English language""#,
      ["error: 'English language': invalid language tag; write it as BCP 47 has it, such as en, pt-BR or zh-Hant"]
    ),
    (#""userInfo":{"a":1,§"a":2}"#, ["error: 'a' occurs twice: first in line 1, column 14; keep one of them"]),
    (#"§"userinfo":1"#, ["error: unknown key 'userinfo'; did you mean 'userInfo'?"]),
  ]

  private static let extras: [(String, [String])] = [
    (#""packstore":§1"#, ["error: 'packstore' must be an object, not a number"]),
    (#""packstore":§null"#, ["error: 'packstore' must be an object, not null"]),
    (
      #"§"placement":"purgeable""#, [#"error: unknown key 'placement'; move it into the object of "packstore""#]
    ),
    (#"§"priority":1"#, [#"error: unknown key 'priority'; move it into the object of "packstore""#]),
    (#"§"map":[]"#, [#"error: unknown key 'map'; move it into the object of "packstore""#]),
    (#"§"level":1"#, [#"error: unknown key 'level'; move it into the object of "packstore""#]),
    (#"§"layout":1"#, [#"error: unknown key 'layout'; move it into the object of "packstore""#]),
    (#"§"appVersions":1"#, [#"error: unknown key 'appVersions'; move it into the object of "packstore""#]),
    (#"§"packStore":{}"#, ["error: unknown key 'packStore'; did you mean 'packstore'?"]),
    (
      #""packstore":{§"placment":"durable"}"#,
      ["error: unknown key 'placment' in 'packstore'; did you mean 'placement'?"]
    ),
    (#""packstore":{§"colour":1}"#, ["error: unknown key 'colour' in 'packstore'; remove it"]),
    (
      #""packstore":{§"platforms":[]}"#,
      ["error: unknown key 'platforms' in 'packstore'; move it next to 'packstore', not into it"]
    ),
    (
      #""packstore":{§"userInfo":1}"#,
      ["error: unknown key 'userInfo' in 'packstore'; move it next to 'packstore', not into it"]
    ),
    (#""packstore":{"placement":§1}"#, ["error: 'placement' must be a string, not a number"]),
    (#""packstore":{"placement":§"Durable"}"#, ["error: unknown placement 'Durable'; did you mean 'durable'?"]),
    (#""packstore":{"placement":§"cache"}"#, ["error: unknown placement 'cache'; use durable or purgeable"]),
    (#""packstore":{"layout":§"seq"}"#, ["error: unknown layout 'seq'; did you mean 'sequential'?"]),
    (#""packstore":{"layout":§"tape"}"#, ["error: unknown layout 'tape'; use random or sequential or compact"]),
    (#""packstore":{"layout":§null}"#, ["error: 'layout' must be a string, not null"]),
    (
      #""packstore":{"priority":§"1"}"#,
      ["error: 'priority' must be an integer from -2147483648 to 2147483647, not a string"]
    ),
    (
      #""packstore":{"priority":§1.5}"#,
      ["error: 'priority' must be an integer from -2147483648 to 2147483647, not a number"]
    ),
    (
      #""packstore":{"priority":§2147483648}"#,
      ["error: 'priority' must be an integer from -2147483648 to 2147483647, not a number"]
    ),
    (#""packstore":{"level":§0}"#, [levelError]),
    (#""packstore":{"level":§-8}"#, [levelError]),
    (#""packstore":{"level":§23}"#, [levelError]),
    (#""packstore":{"level":§"12"}"#, [levelError]),
    (#""packstore":{"level":§1e1}"#, [levelError]),
    (#""packstore":{"map":§"*.mesh"}"#, ["error: 'map' must be a list, not a string"]),
    (#""packstore":{"map":[§1]}"#, ["error: 'an entry of map' must be a string, not a number"]),
    (#""packstore":{"map":[§""]}"#, ["error: pattern '': the length is not in 1 to 1024 bytes"]),
    (
      #""packstore":{"map":[§"[a"]}"#,
      ["error: pattern '[a': a '[' lacks its ']'; write a backslash before it for the character"]
    ),
    (#""packstore":{"map":["a",§"a"]}"#, ["warning: 'a' is in 'map' twice; keep one of them"]),
    (#""packstore":{"appVersions":§2}"#, ["error: 'appVersions' must be a string, not a number"]),
    (
      #""packstore":{"appVersions":§"2"}"#,
      ["error: '2': invalid range of app versions; write '2.0..<3', '2.0...' or '..<3', the lower version first"]
    ),
    (
      #""packstore":{"appVersions":§"3..<2"}"#,
      ["error: '3..<2': empty range of app versions; write '2.0..<3', '2.0...' or '..<3', the lower version first"]
    ),
    (
      #""packstore":{"appVersions":§"2.x..."}"#,
      [
        "error: '2.x': invalid version of an app; write 1 to 8 numbers of at most 9 digits with dots between them, such as 2.0.1"
      ]
    ),
    (
      #""packstore":{"level":1,§"level":2}"#,
      ["error: 'level' occurs twice: first in line 1, column 15; keep one of them"]
    ),
  ]

  private static let selectors: [(String, [String])] = [
    (#""fileSelectors":§{}"#, ["error: 'fileSelectors' must be a list, not an object"]),
    (#""fileSelectors":§"a""#, ["error: 'fileSelectors' must be a list, not a string"]),
    (
      #""fileSelectors":§[]"#,
      [#"error: 'fileSelectors' is empty; add a selector, such as { "directory": "Textures" }"#]
    ),
    (
      #""fileSelectors":[§"a"]"#,
      [#"error: a file selector must be an object, not a string; write { "file": "a" }, or { "directory": "a" }"#]
    ),
    (#""fileSelectors":[§null]"#, ["error: a file selector must be an object, not null"]),
    (#""fileSelectors":[§{}]"#, ["error: a file selector is empty; name a file or a directory in it"]),
    (#""fileSelectors":[{§"folder":"a"}]"#, ["error: unknown key 'folder' in a file selector; remove it"]),
    (
      #""fileSelectors":[{§"File":"a"}]"#,
      ["error: unknown key 'File' in a file selector; did you mean 'file', 'fileDestination' or 'fileExclusion'?"]
    ),
    (
      #""fileSelectors":[{§"directorySorce":"a","directoryDestination":"b"}]"#.replacing("[{§", with: "[§{§"),
      [
        "error: 'directoryDestination' needs 'directorySource'; add 'directorySource' to the same selector",
        "error: unknown key 'directorySorce' in a file selector; did you mean 'directorySource'?",
      ]
    ),
    (
      #""fileSelectors":[{"file":"a",§"directory":"b"}]"#,
      ["error: a file selector has 'file' and 'directory'; split it into two selectors"]
    ),
    (
      #""fileSelectors":[{"file":"a",§"fileDestination":"b"}]"#,
      ["error: a file selector has 'file' and 'fileDestination'; split it into two selectors"]
    ),
    (
      #""fileSelectors":[{"file":"a",§"platforms":[]}]"#,
      ["error: unknown key 'platforms' in a file selector; remove it"]
    ),
    (
      #""fileSelectors":[§{"fileSource":"a"}]"#,
      ["error: 'fileSource' needs 'fileDestination'; add 'fileDestination' to the same selector"]
    ),
    (
      #""fileSelectors":[§{"fileDestination":"a"}]"#,
      ["error: 'fileDestination' needs 'fileSource'; add 'fileSource' to the same selector"]
    ),
    (
      #""fileSelectors":[§{"directorySource":"a"}]"#,
      ["error: 'directorySource' needs 'directoryDestination'; add 'directoryDestination' to the same selector"]
    ),
    (
      #""fileSelectors":[§{"fileSource":"a",§"directoryDestination":"b"}]"#,
      [
        "error: 'fileSource' needs 'fileDestination'; add 'fileDestination' to the same selector",
        "error: a file selector has 'fileSource' and 'directoryDestination'; split it into two selectors",
      ]
    ),
    (#""fileSelectors":[{"file":§1}]"#, ["error: 'file' must be a string, not a number"]),
    (#""fileSelectors":[{"directory":§["a"]}]"#, ["error: 'directory' must be a string, not a list"]),
    (
      #""fileSelectors":[{"fileSource":§null,"fileDestination":"a"}]"#,
      ["error: 'fileSource' must be a string, not null"]
    ),
    (
      #""fileSelectors":[{"file":"a","file":"b"}]"#.replacing(#","file""#, with: #",§"file""#),
      ["error: 'file' occurs twice: first in line 1, column 20; keep one of them"]
    ),
    (
      #""fileSelectors":[{"file":§"[Path to File]"},{"directory":§"[Path to Directory]"}]"#,
      [
        "error: '[Path to File]' is a placeholder; replace it with a path, or remove the selector",
        "error: '[Path to Directory]' is a placeholder; replace it with a path, or remove the selector",
      ]
    ),
    (
      #""fileSelectors":§[{"fileExclusion":"*.psd"}]"#,
      ["error: 'fileSelectors' only excludes files; add a selector for the files of the pack"]
    ),
    (#""fileSelectors":[{"filePattern":§""}]"#, ["error: pattern '': the length is not in 1 to 1024 bytes"]),
    (
      #""fileSelectors":[{"filePattern":§"a["}]"#,
      ["error: pattern 'a[': a '[' lacks its ']'; write a backslash before it for the character"]
    ),
    (
      #""fileSelectors":[{"filePattern":§"a\\"}]"#,
      ["error: pattern 'a\\': ends in a backslash; write two for the character"]
    ),
    (#""fileSelectors":[{"fileExclusion":§"a\u0000"},{"file":"a"}]"#, ["error: pattern 'a\0': contains a NUL"]),
    (
      #""fileSelectors":[{"filePattern":§"../*.png"}]"#,
      ["error: pattern '../*.png': the part '..' matches no path; write it relative to the source root"]
    ),
    (
      #""fileSelectors":[{"filePattern":§"./*.png"}]"#,
      ["error: pattern './*.png': the part '.' matches no path; write it relative to the source root"]
    ),
    (#"§"file":"a""#, [#"error: unknown key 'file'; move it into an object of the list "fileSelectors""#]),
    (
      #"§"directory":"a""#,
      [#"error: unknown key 'directory'; move it into an object of the list "fileSelectors""#]
    ),
    (#"§"fileSelector":[]"#, ["error: unknown key 'fileSelector'; did you mean 'fileSelectors'?"]),
  ]

  private static func longPath(_ count: Int) -> String { String(repeating: "a/", count: count - 1) + "a" }
  private static let rootRemedy = "write a path below the source root; 'sourceRoot' can be any folder"
  private static let paths: [(String, [String])] = [
    (#""fileSelectors":[{"file":§""}]"#, ["error: the path of 'file' is empty; name a file"]),
    (
      #""fileSelectors":[{"directory":§""}]"#,
      ["error: the path of 'directory' is empty; write '.' for the source root"]
    ),
    (
      #""fileSelectors":[{"directorySource":"a","directoryDestination":§""}]"#,
      ["error: the path of 'directoryDestination' is empty; write '.' for the root of the pack"]
    ),
    (
      #""fileSelectors":[{"file":§"/etc/passwd"}]"#,
      ["error: '/etc/passwd' is an absolute path; write it relative to the source root"]
    ),
    (
      #""fileSelectors":[{"file":§"C:\\a"}]"#,
      [#"error: 'C:\a' is an absolute path; write it relative to the source root"#]
    ),
    (
      #""fileSelectors":[{"file":§"\\\\server\\a"}]"#,
      [#"error: '\\server\a' is an absolute path; write it relative to the source root"#]
    ),
    (
      #""fileSelectors":[{"fileSource":"a","fileDestination":§"/b"}]"#,
      ["error: '/b' is an absolute path; write it relative to the root of the pack"]
    ),
    (#""fileSelectors":[{"file":§"../a"}]"#, ["error: '../a' has the part '..'; \(rootRemedy)"]),
    (#""fileSelectors":[{"file":§"a/../b"}]"#, ["error: 'a/../b' has the part '..'; \(rootRemedy)"]),
    (#""fileSelectors":[{"directory":§".."}]"#, ["error: '..' has the part '..'; \(rootRemedy)"]),
    (#""fileSelectors":[{"directory":§"a/../"}]"#, ["error: 'a/../' has the part '..'; \(rootRemedy)"]),
    ("\"fileSelectors\":[{\"file\":§\"../\u{301}a\"}]", ["error: '../\u{301}a' has the part '..'; \(rootRemedy)"]),
    (
      #""fileSelectors":[{"fileSource":"a","fileDestination":§"../b"}]"#,
      ["error: '../b' has the part '..'; write a path below the root of the pack; 'sourceRoot' can be any folder"]
    ),
    (
      #""fileSelectors":[{"directorySource":§"../s","directoryDestination":"b"}]"#,
      ["error: '../s' has the part '..'; \(rootRemedy)"]
    ),
    (#""fileSelectors":[{"file":§"./a"}]"#, ["error: './a' has the part '.'; did you mean 'a'?"]),
    (#""fileSelectors":[{"file":§"a//b"}]"#, ["error: 'a//b' has an empty part; did you mean 'a/b'?"]),
    (#""fileSelectors":[{"file":§"a/"}]"#, ["error: 'a/' has an empty part; did you mean 'a'?"]),
    (#""fileSelectors":[{"file":§"."}]"#, ["error: '.' has the part '.'"]),
    (
      #""fileSelectors":[{"directory":§"."}]"#,
      [
        #"warning: Apple's packager does not accept '.' as a directory; for Apple's packager, write { "filePattern": "**" }"#
      ]
    ),
    (#""fileSelectors":[{"directory":§"a//"}]"#, ["error: 'a//' has an empty part; did you mean 'a'?"]),
    (#""fileSelectors":[{"file":§"a\u0000b"}]"#, ["error: a path contains a NUL; shorten it"]),
    (
      "\"fileSelectors\":[{\"file\":§\"" + String(repeating: "a", count: 256) + "\"}]",
      ["error: a name in a path has more than 255 bytes; shorten it"]
    ),
    (
      "\"fileSelectors\":[{\"file\":§\"" + longPath(2_001) + "\"}]",
      ["error: a path has more than 2000 parts; shorten it"]
    ),
    (
      "\"fileSelectors\":[{\"file\":§\"" + longPath(2_049) + "\"}]",
      ["error: a path has more than 4095 bytes; shorten it"]
    ),
    ("\"fileSelectors\":[{\"file\":\"" + longPath(2_000) + "\"}]", []),
  ]

  /// Whole texts.
  static let texts: [(text: String, problems: [String])] = [
    ("§", ["error: there is no JSON in the text"]), ("// nothing\n§", ["error: there is no JSON in the text"]),
    ("§[]", ["error: a manifest must be an object, not a list; 'packstore template' prints one"]),
    ("§null", ["error: a manifest must be an object, not null; 'packstore template' prints one"]),
    (
      "§§§{}",
      [
        "error: 'assetPackID' is missing; \(add)", "error: 'downloadPolicy' is missing; \(add)",
        "error: 'fileSelectors' is missing; \(add)",
      ]
    ),
    (
      #"\#n§{"downloadPolicy":{"onDemand":{}},"fileSelectors":[{"file":"a"}]}"#,
      ["error: 'assetPackID' is missing; \(add)"]
    ),
    (#"§{"assetPackID":"P","fileSelectors":[{"file":"a"}]}"#, ["error: 'downloadPolicy' is missing; \(add)"]),
    (#"§{"assetPackID":"P","downloadPolicy":{"onDemand":{}}}"#, ["error: 'fileSelectors' is missing; \(add)"]),
    (
      #"{"assetPackID":"P","downloadPolicy":{"onDemand":{}},"fileSelectors":[{"file":"a"}§"#,
      ["error: ',' or ']' is expected after a value, not the end of the text"]
    ),
    (
      #"{"assetPackID":"P","fileSelectors":[{"file":"a"},§]}"#,
      ["error: a value is expected after a comma, not ']'; remove the comma"]
    ),
    (#"{"assetPackID":§'P'}"#, ["error: a value is expected, not '''; write strings in double quotes"]),
    (#"{§assetPackID:"P"}"#, ["error: a name in double quotes is expected, not 'a'"]),
    ("{§/* a */}", ["error: a single '/' begins no comment; begin each of its lines with '//'"]),
    ("{} §{}", ["error: there is more after the end of the JSON: '{'"]),
    (
      "\u{feff}// mark\r\n{\"assetPackID\":\"P\",\"downloadPolicy\":{\"onDemand\":{}},\"fileSelectors\":[{\"file\":\"a\"}]}",
      []
    ),
    (
      "{\"assetPackID\":\"P\",//\r\"downloadPolicy\":{\"onDemand\":{}},\"platforms\":[§\"é\"],\r\n\"fileSelectors\":[{\"file\":§1}]}",
      [
        "error: unknown platform 'é'; use iOS, macOS, tvOS or visionOS, or an empty list for all",
        "error: 'file' must be a string, not a number",
      ]
    ),
  ]
  private static let add = "add it; 'packstore template' shows how"
  private static let n = "\n"
}
