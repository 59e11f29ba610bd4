import Foundation
import Testing

/// Runs the commands of `Docs/Publishing.md`.
@Suite(.enabled(if: StorageServer.python != nil, "Tests/Storage/setup could not install moto"))
struct PublishingPageTests {
  private let playground = try! Playground()

  private static let page = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
    .appendingPathComponent("../../Docs/Publishing.md").standardizedFileURL

  /// The commands of the page under a word.
  private static func commands(_ word: String) throws -> String {
    try String(contentsOf: page, encoding: .utf8).components(separatedBy: "```sh \(word)\n").dropFirst()
      .map { String($0.prefix(upTo: $0.range(of: "```")?.lowerBound ?? $0.endIndex)) }.joined()
  }

  /// A machine with the build, the manifest, and the inputs of a build job; it is deleted afterwards.
  private func job(_ word: String, _ server: StorageServer, build: Int, previous: Int = 0) throws {
    try playground.makeFolder("job/home")
    let setting = """
      set -e; cd '\(playground.path)/job'; cp -R ../Build ../Manifest.json . 2>/dev/null || true
      export HOME="$PWD/home" SITE=s3://assets/packs BUILD=\(build) LABEL=1.\(build) PREVIOUS=\(previous) KEY="$(cat ../release.key)"
      export PATH='\(packstoreURL.deletingLastPathComponent().path)':"$PATH"
      \(server.environment.map { "export \($0)='\($1)'" }.joined(separator: "; "))

      """
    let run = try playground.shell(setting + Self.commands(word))
    #expect(run.status == 0, "\(word): \(run.errors)")
    #expect(!run.errors.contains("error") && !playground.exists("job/home/.config"), "\(run.errors)")
    try playground.remove("job")
  }

  /// The build that a device shows after it followed its channel; all its bytes are compared.
  private func build(_ device: String, _ server: StorageServer, _ channel: String? = nil) throws -> Int? {
    let following = channel.map { ["--channel", $0] } ?? []
    _ = try playground.run(["pull", device, "\(server.url)/assets/packs", "-q"] + following, [:])
    _ = try playground.packstore("extract", device, "out", "-q")
    defer { try? playground.remove("out") }
    guard playground.exists("out/build.txt") else { return nil }
    let build = try #require(Int(playground.text("out/build.txt").split(separator: "\n")[0]))
    #expect(playground.tree("out") == playground.tree("builds/\(build)").filter { $0 != "source.psd" })
    for file in playground.tree("out") where !file.hasSuffix("/") {
      #expect(try playground.read("out/\(file)") == playground.read("builds/\(build)/\(file)"), "\(device): \(file)")
    }
    return build
  }

  /// The recording that the page links is of its commands: `Scripts/record-release` makes it again.
  @Test func theRecordingIsOfThisPage() throws {
    let text = try String(
      contentsOf: Self.page.deletingLastPathComponent().appendingPathComponent("release.txt"), encoding: .utf8)
    for word in ["once", "release", "share", "all", "back", "withdraw"] {
      let commands = try Self.commands(word).split(separator: "\n").filter { $0.hasPrefix("packstore ") }
      #expect(!commands.isEmpty)
      for command in commands { #expect(text.contains("$ \(command)\n"), "\(command)") }
    }
  }

  private func make(_ build: Int) throws {
    for folder in ["Build", "builds/\(build)"] {
      try playground.write("\(build)\n", to: "\(folder)/build.txt")
      try playground.write(noise(200_000, seed: 1), to: "\(folder)/levels/same.map")
      try playground.write(noise(20_000, seed: UInt64(build)), to: "\(folder)/levels/new.map")
      try playground.write("for authors", to: "\(folder)/source.psd")
    }
  }

  @Test func aRelease() throws {
    let server = try StorageServer()
    let once = try playground.shell(
      """
      set -e; export SITE=s3://assets/packs PATH='\(packstoreURL.deletingLastPathComponent().path)':"$PATH"
      \(server.environment.map { "export \($0)='\($1)'" }.joined(separator: "; "))

      """ + Self.commands("once"))
    #expect(once.status == 0, "\(once.errors)")
    func builds() throws -> [Int?] {
      try [build("Tester", server, "beta"), build("One", server), build("Two", server)]
    }

    try make(101)
    try job("release", server, build: 101)
    #expect(try builds() == [101, nil, nil], "testers first")
    try job("all", server, build: 101)
    #expect(try builds() == [101, 101, 101])

    try make(102)
    try job("release", server, build: 102)
    #expect(try builds() == [102, 101, 101])
    try job("share", server, build: 102)
    let shared = try builds()
    #expect(shared[0] == 102 && shared.dropFirst().allSatisfy { [101, 102].contains($0) })
    try job("all", server, build: 102)
    #expect(try builds() == [102, 102, 102])

    try job("back", server, build: 102, previous: 101)
    #expect(try builds() == [102, 101, 101], "testers keep it")
    try job("withdraw", server, build: 102)
    #expect(try builds() == [102, 101, 101], "devices keep what they have")
    #expect(try build("Three", server) == nil)
    #expect(try server.verify("packs").hasPrefix("whole: 2 roots"))
  }
}
