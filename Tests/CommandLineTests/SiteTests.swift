import Foundation
import Testing

/// `packstore site`, and sites that are named by URLs.
@Suite struct SiteTests {
  let playground = try! Playground()

  private func publish() throws {
    try playground.write("one", to: "source/file")
    try playground.succeed("add", "store", "source", "--pack", "P", "-q")
    try playground.succeed("publish", "store", "site", "--key", "key", "-q")
  }

  @Test func mirrorServesDevicesAndRefusesPublications() throws {
    try publish()
    try playground.succeed("site", "copy", "site", "mirror", "-q")
    try playground.succeed("pull", "device", "mirror", "-q")
    #expect(try playground.packstore("cat", "device", "file").output == "one")
    try playground.succeed("status", "mirror", "-q")
    let refused = try playground.packstore("publish", "store", "mirror", "--key", "key")
    #expect(refused.status != 0 && refused.errors.contains("a mirror of 'site'"), "\(refused.errors)")
  }

  @Test func movedSiteRefusesChanges() throws {
    try publish()
    let url = "https://127.0.0.1:1/packs"
    let partial = try playground.packstore("site", "move", "site", "new", "--url", url, "--key", "key")
    #expect(partial.status == 4 && partial.errors.contains("a release key cannot sign a move"), "\(partial.errors)")
    try playground.succeed("site", "move", "site", "new", "--url", url, "--key", "key", "--root-key", "key-root", "-q")
    for command in [["publish", "store", "site"], ["promote", "site", "P@1", "--channel", "beta"]] {
      let refused = try playground.packstore(command + ["--key", "key"])
      #expect(refused.status != 0 && refused.errors.contains("moved to '\(url)'"), "\(refused.errors)")
    }
    try playground.succeed("refresh", "site", "--key", "key", "-q")
    try playground.succeed("promote", "new", "P@1", "--channel", "beta", "--key", "key", "-q")
  }

  /// The folder `http:/...` was named in errors, with one slash.
  @Test func commandsForPublishersNameAURLAsItIs() throws {
    let url = "http://127.0.0.1:1/packs"
    for command in [
      ["channels", url], ["policy", url], ["promote", url, "P@1"], ["demote", url, "P@1"], ["refresh", url],
      ["unpublish", url, "P"], ["deltas", url], ["policy", url, "--keep", "3"],
      ["site", "move", url, "new", "--url", url],
    ] {
      let run = try playground.packstore(command)
      #expect(run.status == 2 && run.errors.contains("'\(url)': a URL"), "\(command): \(run.errors)")
    }
    #expect(!playground.exists("http:"))
  }

  @Test func commandsThatReadServersAcceptCertificates() throws {
    try publish()
    for command in [["status", "site"], ["site", "copy", "site", "mirror"]] {
      #expect(
        try playground.packstore(command + ["--ca", "none.pem", "-q"]).status == 0, "a folder needs no certificates")
    }
    #expect(try playground.packstore("check-served", "site", "https://127.0.0.1:1/packs", "--ca", "").status == 2)
    for command in ["status", "verify"] {
      let run = try playground.packstore(command, "https://127.0.0.1:1/packs", "--ca", "none.pem")
      #expect(run.errors.contains("'none.pem': not a PEM file of trusted certificates"), "\(run.errors)")
    }
  }
}
