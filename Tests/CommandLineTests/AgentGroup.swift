import Foundation
import Testing

#if canImport(Darwin)
  import Darwin
#elseif canImport(Musl)
  import Musl
#else
  import Glibc
#endif

/// A group of one app in a playground. A server has its packs, and `Game.plist` configures it.
struct AgentGroup {
  let playground: Playground
  let server: WebServer
  let key: String

  /// Publishes packs of a playground's folders `packs/NAME`, each with its attributes in `packs/NAME.json`.
  ///
  /// - Parameter heldAfter: the number of bytes of packs that the server sends before it waits for ``WebServer/openGate()``; `nil` if it never waits.
  init(_ playground: Playground, _ directives: String = "", heldAfter: Int? = nil) throws {
    umask(0o022)  // the agent refuses files that others can read
    self.playground = playground
    try playground.makeFolder("web")
    key = try playground.succeed("keygen", "key").output.trimmingCharacters(in: .whitespacesAndNewlines)
    for name in playground.tree("packs") where name.hasSuffix(".json") {
      let pack = String(name.dropLast(".json".count))
      try playground.succeed("add", "origin", "packs/\(pack)", "--pack", pack, "-q")
      try playground.succeed("attributes", "origin", pack, "--set", "packs/\(name)", "-q")
    }
    try playground.succeed("publish", "origin", "web/site", "--key", "key", "-q")
    server =
      try heldAfter.map { try WebServer.gated(playground, serving: "web", byteCount: $0) }
      ?? WebServer.nginx(playground, serving: "web", directives)
    try writeList()
  }

  func writeList(_ more: String = "", to file: String = "Game.plist", app: String = "com.example.game") throws {
    try playground.write(
      """
      {"BAAppGroupID": "com.example", "BAManifestURL": "\(server.url)/site", "CFBundleIdentifier": "\(app)",
       "PackStoreTrustedKey": "\(key)", "PackStoreGroupFolder": "\(playground.path)/group"\(more)}
      """, to: file)
  }

  /// A public key that signs nothing.
  static let exampleKey = "11qYAYKxCrfVS/7TyWQHOg7hcvPapiMlrwIaaPcHURo="

  /// Attributes of a pack that comes by itself.
  static func attributes(_ policy: String, _ events: String = #""firstInstallation""#) -> String {
    #"{"downloadPolicy":{"\#(policy)":{"installationEventTypes":[\#(events)]}}}"#
  }

  /// Bytes of packs that the server has sent.
  var sentByteCount: Int {
    server.requests.filter { $0.path.hasPrefix("/site/segments/") }.reduce(0) { $0 + $1.byteCount }
  }

  /// Starts the program, with its output in a file of the playground.
  func start(_ arguments: [String], output: String) throws -> Process {
    try playground.write("", to: output)
    let file = try #require(FileHandle(forWritingAtPath: "\(playground.path)/\(output)"))
    return try playground.start(arguments, output: file, errors: file)
  }

  /// Starts an agent, and returns when it is elected.
  func startAgent(_ options: String...) throws -> Process {
    let process = try start(["agent", "Game.plist"] + options, output: "agent.log")
    try wait(for: "is the agent of the group", while: process)
    let log = try playground.text("agent.log")
    try #require(process.isRunning, "\(log)")
    return process
  }

  /// Waits until a line of a log has a text.
  func wait(for text: String, in log: String = "agent.log", while process: Process) throws {
    try waitForChange(of: "\(playground.path)/\(log)") {
      try !process.isRunning || playground.text(log).contains(text)
    }
    #expect(try playground.text(log).contains(text))
  }
}
