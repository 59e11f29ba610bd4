import Testing

/// Archives that go through pipes: `-` in the place of a file.
@Suite struct PipeTests {
  private let playground = try! Playground()

  init() throws {
    for name in ["one", "sub/two"] {
      try playground.write(noise(100_000, seed: UInt64(name.count)), to: "source/\(name)")
    }
    try playground.succeed("add", "store", "source", "--pack", "P", "-q")
    try playground.succeed("keygen", "key", "-q")
    try playground.makeFolder("tmp")
  }

  private func shell(_ script: String) throws -> Run {
    try playground.shell("export TMPDIR=\"$PWD/tmp\"; \(script)")
  }

  private func expectContent(_ store: String) throws {
    try playground.succeed("extract", store, "out", "-q")
    #expect(playground.tree("out") == playground.tree("source"))
    for file in ["one", "sub/two"] { #expect(try playground.read("out/\(file)") == playground.read("source/\(file)")) }
    try playground.remove("out")
    #expect(playground.tree("tmp").isEmpty, "nothing stays behind")
  }

  @Test func archivesOfPacks() throws {
    let run = try shell("packstore export store P -o - --key key | packstore import other - -q")
    #expect(run.status == 0 && run.errors.hasPrefix("the output is P@1\n"), "\(run.errors)")
    try expectContent("other")
    try playground.write(
      #"{"assetPackID": "P", "downloadPolicy": {"onDemand": {}}, "platforms": [], "sourceRoot": "source","#
        + #" "fileSelectors": [{"filePattern": "**"}]}"#, to: "Manifest.json")
    let package = try shell(
      "packstore package Manifest.json -o - --key key --json >piped.pack && packstore package Manifest.json -o a.pack --key key -q"
    )
    #expect(package.status == 0 && package.errors.contains(#""outcome":"written""#), "\(package.errors)")
    #expect(try playground.read("piped.pack") == playground.read("a.pack"))
    let dry = try shell("packstore package Manifest.json -o - --key key --dry-run >dry")
    #expect(try dry.status == 0 && playground.read("dry").isEmpty && playground.tree("tmp").isEmpty)
  }

  @Test(arguments: ["tar c", "tar cz"]) func otherArchives(_ command: String) throws {
    let run = try shell("\(command) -C source . | packstore import other - --pack Q")
    #expect(run.status == 0 && run.output.contains("Q is at version 1: 2 files"), "\(run.errors)")
    try expectContent("other")
  }

  @Test func whatIsNoArchive() throws {
    for (script, status) in [
      ("packstore import other - --pack Q </dev/null", 1),
      ("head -c 5000 source/one | packstore import other - --pack Q", 1),
      ("packstore export store P -o - --key key -q | head -c 3000 | packstore import other -", 7),
    ] {
      let run = try shell(script)
      #expect(
        run.status == status && run.errors.hasPrefix("packstore: "), "\(script) \(status): \(run.status) \(run.errors)")
      #expect(!playground.exists("other") && playground.tree("tmp").isEmpty, "\(script)")
    }
  }

  @Test(arguments: ["--token-file", "--header-file"]) func unreadableSecrets(_ option: String) throws {
    let run = try shell("packstore pull other http://127.0.0.1:1/site \(option) - <tmp")
    #expect(run.status == 1 && run.errors.hasPrefix("packstore: standard input: cannot read: "), "\(run.errors)")
  }
}
