/// A key is a publisher's identity: once, a mistyped `--key` or exchanged operands made another one, and the command succeeded.

import Testing

@Suite struct NewKeyTests {
  let playground: Playground

  init() throws {
    playground = try Playground()
    playground.makesKeys = false
    try playground.write("one", to: "folder/a")
    try playground.succeed("add", "Store", "folder", "--pack", "P", "-q")
    try playground.write(
      #"{"assetPackID": "P", "downloadPolicy": {"onDemand": {}}, "platforms": [], "sourceRoot": "folder","#
        + #" "fileSelectors": [{"filePattern": "**"}]}"#, to: "Manifest.json")
  }

  private static let signing = [
    ["publish", "Store", "Site"], ["publish", "Manifest.json", "Site"], ["publish", "Store", "Site", "--dry-run"],
    ["publish", "Store", "Site", "--no-offer"], ["export", "Store", "P", "-o", "P.pack"],
    ["export", "Store", "P", "-o", "P.pack", "--dry-run"], ["package", "Manifest.json", "-o", "P.pack"],
  ]

  @Test(arguments: signing) func missingKeyIsRefused(_ command: [String]) throws {
    let before = playground.tree("")
    let run = try playground.packstore(command + ["--key", "sitee.key"])
    #expect(run.status == 4, "\(run.errors)")
    #expect(
      run.errors == """
        packstore: 'sitee.key': the key file does not exist; check the name given with --key; for a new publisher, add \
        --new-key or run 'packstore keygen sitee.key'

        """)
    #expect(playground.tree("") == before, "neither a key nor a site is made")
  }

  @Test func missingDefaultKeyIsRefused() throws {
    let run = try playground.run(
      ["publish", "Store", "Site"], ["HOME": "\(playground.path)/home", "XDG_CONFIG_HOME": ""])
    #expect(
      run.status == 4 && run.errors.contains("/home/.config/packstore/site.key': the key file does not exist"),
      "\(run.errors)")
    #expect(!playground.exists("home") && !playground.exists("Site"))
  }

  @Test func newKeyMakesReleaseAndRootKey() throws {
    let run = try playground.packstore("publish", "Store", "Site", "--key", "site.key", "--new-key")
    #expect(run.status == 0 && run.errors.contains("created a release key in 'site.key'"), "\(run.errors)")
    #expect(playground.exists("site.key") && playground.exists("site-root.key"))
    try playground.succeed("publish", "Store", "Site", "--key", "site.key", "--channel", "beta")
  }

  @Test func keygenMakesKeyThatPublishes() throws {
    try playground.succeed("keygen", "root.key")
    try playground.succeed("publish", "Store", "Site", "--key", "root.key")
  }

  @Test func newKeyNeverReplacesOrJoinsAKey() throws {
    try playground.succeed("publish", "Store", "Site", "--key", "site.key", "--new-key")
    let key = try playground.read("site.key")
    let again = try playground.packstore("publish", "Store", "Other", "--key", "site.key", "--new-key")
    #expect(again.status == 1 && again.errors.contains("'site.key': the key file exists already; leave out --new-key"))
    for name in ["site.key", "other.key"] {
      let signed = try playground.packstore("publish", "Store", "Site", "--key", name, "--new-key")
      #expect(signed.status == 4 && signed.errors.contains("the site is already signed"), "\(signed.errors)")
    }
    let variable = try playground.packstore("publish", "Store", "Other", "--key", "env:KEY", "--new-key")
    #expect(variable.status == 2 && variable.errors.contains("--new-key needs a key file"), "\(variable.errors)")
    #expect(try playground.read("site.key") == key && !playground.exists("other.key") && !playground.exists("Other"))
  }

  @Test func exchangedOperandsAreRefused() throws {
    try playground.succeed("publish", "Store", "Site", "--key", "site.key", "--new-key")
    try playground.succeed("export", "Store", "P", "-o", "P.pack", "--key", "site.key")
    let before = playground.tree("")
    for (site, source) in [
      ("Site", "Store"), ("NewSite", "Store"), ("Site", "Manifest.json"), ("Site", "P.pack"), ("NewSite", "P.pack"),
      ("s3://bucket/site", "Store"), ("s3://bucket/site", "Manifest.json"),
    ] {
      let run = try playground.packstore("publish", site, source, "--key", "site.key")
      #expect(run.status == 2, "\(run.errors)")
      #expect(run.errors.contains("write 'packstore publish \(source) \(site)'"), "\(run.errors)")
    }
    #expect(playground.tree("") == before)
  }
}
