import Foundation
import Testing

/// The cost of a repeated request to a web server.
@Suite struct RepeatedPullTests {
  let playground = try! Playground()

  init() throws {
    try FileManager.default.createDirectory(atPath: "\(playground.path)/web", withIntermediateDirectories: true)
  }

  /// - Parameter age: how long ago its root changed, as the server sees it, in seconds. Its tags are made of that and of
  ///   the root's length.
  private func publish(_ content: String, age: Double) throws {
    try playground.write(content, to: "folder/file")
    try playground.write(#"{"language":"de"}"#, to: "attributes.json")
    #expect(try playground.packstore("add", "author", "folder", "--pack", "P", "-q").status == 0)
    #expect(try playground.packstore("attributes", "author", "P", "--set", "attributes.json", "-q").status == 0)
    #expect(try playground.packstore("publish", "author", "web/site", "--key", "key", "-q").status == 0)
    try FileManager.default.setAttributes(
      [.modificationDate: Date(timeIntervalSinceNow: -age)], ofItemAtPath: "\(playground.path)/web/site/root")
  }

  @Test func nothingToDoIsOneRequest() throws {
    try publish("one", age: 600)
    let server = try WebServer.nginx(playground, serving: "web")
    func pull() throws -> [WebServer.Request] {
      let before = server.requests.count
      let run = try playground.packstore("pull", "store", "\(server.url)/site", "--platform", "macOS", "--json")
      #expect(run.status == 0, "\(run.errors)")
      return Array(server.requests.dropFirst(before))
    }
    #expect(try pull().contains { $0.path.hasPrefix("/site/attributes/") })
    for _ in 0..<2 {
      let requests = try pull()
      #expect(requests.map(\.path) == ["/site/root"] && requests.map(\.status) == [304])
      #expect(requests.reduce(0) { $0 + $1.byteCount } < 1_000)
    }
    try publish("two", age: 300)
    let update = try pull()
    #expect(update.first?.path == "/site/root" && update.first?.status == 206)
    #expect(try playground.packstore("cat", "store", "file").output == "two")
    #expect(try pull().map(\.status) == [304])
  }
}
