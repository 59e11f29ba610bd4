import Testing

/// A web server is another user: it can read the served files of a site with any umask of the publisher, and no others.
@Suite struct ServedFilesTests {
  let playground = try! Playground()

  @Test(arguments: ["077", "027", "022"]) func servedFilesAreReadable(umask: String) throws {
    try playground.write("one", to: "folder/a")
    try playground.succeed("add", "store", "folder", "--pack", "P", "-q")
    let publish = "umask \(umask); packstore publish store site --key site.key -q"
    #expect(try playground.shell("\(publish) --new-key && \(publish) --channel beta").status == 0)
    try playground.write("two", to: "folder/a")
    try playground.succeed("add", "store", "folder", "--pack", "P", "-q")
    #expect(try playground.shell(publish).status == 0)
    try expectReadable("site")
    #expect(!playground.tree("site/deltas").isEmpty && !playground.tree("site/roots").isEmpty)
    let keys = try playground.shell("stat -c %a site.key site-root.key")
    #expect(keys.output == "600\n600\n")
    // Existing files of an earlier publication, with other permissions.
    _ = try playground.shell("chmod 600 site/segments/*")
    #expect(try playground.shell(publish).status == 0)
    try expectReadable("site")
  }

  private func expectReadable(_ site: String) throws {
    let served = ["root", "roots", "versions", "frames", "deltas", "changes", "attributes", "segments"]
      .map { "\(site)/\($0)" }
    let closed = try playground.shell(
      "find \(site) -maxdepth 0 ! -perm -755; find \(served.joined(separator: " ")) "
        + "\\( -type f ! -perm -644 -o -type d ! -perm -755 \\)")
    #expect(closed.status == 0 && closed.output.isEmpty, "\(closed.output)\(closed.errors)")
  }

  /// The rights of a folder that was there are its owner's choice.
  @Test func aFolderThatWasThereStaysAsItIs() throws {
    try playground.write("one", to: "folder/a")
    try playground.succeed("add", "store", "folder", "--pack", "P", "-q")
    _ = try playground.shell("mkdir -m 700 site")
    try playground.succeed("publish", "store", "site", "--key", "site.key", "-q")
    #expect(try playground.shell("stat -c %a site").output == "700\n")
  }
}
