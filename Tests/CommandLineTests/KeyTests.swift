import Foundation
import Testing

/// Root keys and release keys: delegated, replaced, rotated, stolen.
@Suite struct KeyTests {
  let playground = try! Playground()

  init() throws {
    try add("one")
    try playground.succeed("keygen", "root.key")
    try playground.succeed("delegate", "root.key", "release.key")
  }

  private func add(_ content: String) throws {
    try playground.write(content, to: "folder/file")
    try playground.succeed("add", "author", "folder", "--pack", "P")
  }

  private func publish(_ site: String = "site", key: String = "release.key") throws {
    try playground.succeed("publish", "author", site, "--key", key, "--deltas", "0", "-q")
  }

  private func pull(_ device: String = "device") throws -> Run {
    try playground.packstore("pull", device, "site", "-q")
  }

  private func file(_ device: String = "device") throws -> String {
    try playground.packstore("cat", device, "file").output
  }

  @Test func clientsTrustTheRootKey() throws {
    let root = try playground.succeed("keygen", "root.key").lines[0]
    let release = try playground.succeed("keygen", "release.key").lines[0]
    #expect(root == release, "what clients are told to trust")
    let published = try playground.succeed("publish", "author", "site", "--key", "release.key", "--json").json
    #expect(published["public_key"] as? String == root)
    try playground.succeed("pull", "device", "site", "--trust", root, "-q")
    #expect(try file() == "one")
    #expect(try playground.succeed("trust", "device").output.contains(root))
  }

  /// A build job has the key in a variable or a pipe, and none is ever made there.
  @Test func keysComeFromElsewhere() throws {
    let script = #"packstore publish author site -q --deltas 0 --key "#
    let run = try playground.shell(
      """
      set -e
      \(script) - < release.key
      KEY="$(cat release.key)" packstore refresh site -q --key env:KEY
      packstore refresh site -q --key fd:3 3< release.key
      cat release.key | packstore promote site P@1 --channel beta -q --key -
      """)
    #expect(run.status == 0, "\(run.errors)")
    #expect(try pull().status == 0)
    #expect(try file() == "one")
    for (key, finding) in [
      ("env:NONE", "variable 'NONE': does not contain a key"), ("-", "'file descriptor 0': not a secret key"),
      ("fd:99", "cannot read the secret key"), ("fd:x", ": not an open file"), ("fd:-1", ": not an open file"),
    ] {
      for command in ["refresh site", "publish author other"] {
        let refused = try playground.shell("packstore \(command) --key \(key) </dev/null")
        #expect(refused.status != 0 && refused.errors.contains(finding), "\(command) \(key): \(refused.errors)")
      }
    }
    #expect(!playground.exists("other") && !playground.exists("env:NONE") && !playground.exists("-"))
    // An invalid key is never shown.
    let wrong = try playground.shell("KEY=hunter2 packstore refresh site --key env:KEY")
    #expect(wrong.status != 0 && !wrong.errors.contains("hunter2"), "\(wrong.errors)")
  }

  /// The thief of a release key can sign a version with any number: the next key makes those signatures invalid.
  @Test func aStolenReleaseKeyIsReplaced() throws {
    try publish()
    #expect(try pull().status == 0)
    // The thief publishes a version of the highest number that there is.
    _ = try playground.shell("cp -R site stolen")
    try playground.write("stolen", to: "theirs/file")
    try playground.succeed("add", "thief", "theirs", "--pack", "P", "--version", "9007199254740991")
    try playground.succeed("publish", "thief", "stolen", "--key", "release.key", "--deltas", "0", "-q")
    _ = try playground.shell("mv site good && mv stolen site")
    #expect(try pull().status == 0)
    #expect(try file() == "stolen")

    try playground.succeed("delegate", "root.key", "new.key", "--revoke")
    _ = try playground.shell("mv site stolen && mv good site")
    try add("two")
    try publish(key: "new.key")
    #expect(try pull().status == 0)
    #expect(try file() == "two", "the numbers of the old key count no more")

    // The thief's site again, with newer roots than ever.
    try playground.write("stolen again", to: "theirs/file")
    try playground.succeed("add", "thief", "theirs", "--pack", "P", "--version", "4000", "--downgrade")
    try playground.succeed("publish", "thief", "stolen", "--key", "release.key", "--deltas", "0", "-q")
    _ = try playground.shell("mv site good && mv stolen site")
    let stale = try playground.packstore("pull", "device", "site", "--json")
    #expect(try file() == "two")
    #expect(try stale.json["stale"] as? Bool == true, "\(stale.output)")
    // The site itself takes the old key no more, either.
    _ = try playground.shell("mv site stolen && mv good site")
    try add("three")
    let refused = try playground.packstore("publish", "author", "site", "--key", "release.key")
    #expect(refused.status == 4 && refused.errors.contains("signed by a later key than this key"), "\(refused.errors)")
  }

  @Test func clientsFollowRotationsThatTheyMissed() throws {
    try publish()
    #expect(try pull("early").status == 0)
    try playground.succeed("rotate", "root.key", "second.key")
    try playground.succeed("delegate", "second.key", "release.key")
    try add("two")
    try publish()
    #expect(try pull("middle").status == 0)
    try playground.succeed("rotate", "second.key", "third.key")
    try playground.succeed("delegate", "third.key", "release.key")
    try add("three")
    try publish()
    for device in ["early", "middle", "late"] {
      #expect(try pull(device).status == 0, "\(device)")
      #expect(try file(device) == "three")
    }
    // The first root key leads nowhere else.
    try playground.succeed("rotate", "root.key", "their.key")
    try playground.succeed("delegate", "their.key", "their-release.key")
    let refused = try playground.packstore("publish", "author", "site", "--key", "their-release.key")
    #expect(refused.status == 4 && refused.errors.contains("another key"), "\(refused.errors)")
    try playground.succeed("publish", "author", "other", "--key", "their-release.key", "--deltas", "0", "-q")
    _ = try playground.shell("mv site ours && mv other site")
    for device in ["early", "middle", "late"] {
      let run = try pull(device)
      #expect(run.status == 4 && run.errors.contains("another key"), "\(device) \(run.errors)")
    }
  }

  /// Archives and deltas are also accepted by a delegation of the root key.
  @Test func filesAreOfTheRootKeysOrigin() throws {
    try publish()
    #expect(try pull().status == 0)
    try add("two")
    try playground.succeed("rotate", "root.key", "second.key")
    try playground.succeed("delegate", "second.key", "release.key")
    try playground.succeed("delta", "author", "P@1", "@2", "-o", "P.delta", "--key", "release.key")
    try playground.succeed("apply", "device", "P.delta")
    #expect(try file() == "two")
    try add("three")
    try playground.succeed("export", "author", "P", "-o", "P.pack", "--key", "release.key")
    try playground.succeed("import", "device", "P.pack", "-q")
    #expect(try file() == "three")
    // A key that was replaced signs neither.
    try playground.succeed("delegate", "second.key", "new.key")
    try add("four")
    try publish(key: "new.key")
    #expect(try pull().status == 0)
    try add("five")
    try playground.succeed("export", "author", "P", "-o", "old.pack", "--key", "release.key")
    let refused = try playground.packstore("import", "device", "old.pack")
    #expect(refused.status == 4, "\(refused.errors)")
    try playground.succeed("delta", "author", "P@4", "@5", "-o", "old.delta", "--key", "release.key")
    #expect(try playground.packstore("apply", "device", "old.delta").status == 4)
    // Nor does a root key that was followed by another.
    try playground.succeed("export", "author", "P", "-o", "first.pack", "--key", "root.key")
    #expect(try playground.packstore("import", "device", "first.pack").status == 4)
    #expect(try file() == "four")
  }

  /// A key that was replaced by a root that brought no new version is replaced all the same.
  @Test(arguments: [["refresh", "site"], ["publish", "author", "site"]])
  func aNewRootIsEnoughToReplaceAKey(_ command: [String]) throws {
    try publish()
    #expect(try pull().status == 0)
    try playground.succeed("delegate", "root.key", "new.key")
    let signed = try playground.packstore(command + ["--key", "new.key", "-q"])
    #expect(signed.status == 0, "\(signed.errors)")
    #expect(try pull().status == 0)
    try add("two")
    try playground.succeed("export", "author", "P", "-o", "P.pack", "--key", "release.key")
    #expect(try playground.packstore("import", "device", "P.pack").status == 4)
    try playground.succeed("delta", "author", "P@1", "@2", "-o", "P.delta", "--key", "release.key")
    #expect(try playground.packstore("apply", "device", "P.delta").status == 4)
    #expect(try file() == "one")
  }

  @Test func aKeyForOneChannelOrProductSignsNoOther() throws {
    try playground.succeed("delegate", "root.key", "beta.key", "--channel", "beta")
    try playground.succeed("delegate", "root.key", "levels.key", "--product", "levels")
    for key in ["beta.key", "levels.key"] {
      let refused = try playground.packstore("publish", "author", "site", "--key", key)
      #expect(refused.status == 4 && refused.errors.contains("the key "), "\(refused.errors)")
    }
    #expect(try playground.shell("test -e site/root").status == 1, "nothing was signed")
    try playground.succeed("publish", "author", "levels", "--key", "levels.key", "--product", "levels", "-q")
    // An archive is of no channel.
    try playground.succeed("export", "author", "P", "-o", "P.pack", "--key", "beta.key", "-q")
    try playground.succeed("import", "device", "P.pack", "-q")
    // Omitted options keep their values; given options replace them.
    let again = try playground.succeed("delegate", "root.key", "levels.key", "--json").json
    #expect(again["product"] as? String == "levels" && again["channels"] as? [String] == [])
    try playground.succeed("delegate", "root.key", "beta.key", "--all-channels", "--product", "default")
    try publish(key: "beta.key")
  }

  @Test func keysEnd() throws {
    let kept = try playground.succeed("delegate", "root.key", "release.key", "--days", "30", "--json").json
    let ends = try #require(kept["ends"] as? String)
    #expect(try #require(ISO8601DateFormatter().date(from: ends)).timeIntervalSinceNow < 31 * 86_400)
    let endless = try playground.succeed("delegate", "root.key", "release.key", "--no-end", "--json").json
    #expect(endless["ends"] == nil)
    let (first, second) = (kept["serial"] as? NSNumber, endless["serial"] as? NSNumber)
    #expect(try #require(first).compare(try #require(second)) == .orderedAscending)
    #expect(
      try playground.succeed("publish", "author", "site", "--key", "release.key").errors.contains("until") == false)
    try playground.succeed("delegate", "root.key", "release.key", "--days", "20")
    let warned = try playground.succeed("refresh", "site", "--key", "release.key")
    #expect(warned.errors.contains("warning: the key may sign until"), "\(warned.errors)")
  }

  @Test(arguments: [
    (["delegate", "release.key", "other.key"], 2, "a release key cannot delegate"),
    (["delegate", "root.key", "root.key"], 2, "contains a root key"),
    (["delegate", "none.key", "other.key"], 1, "none.key"), (["rotate", "release.key", "other.key"], 2, "release key"),
    (["rotate", "root.key", "release.key"], 1, "already"),
    (["delegate", "root.key", "other.key", "--channel", "A"], 2, "invalid name of a channel"),
    (["delegate", "root.key", "other.key", "--channel", "a", "--all-channels"], 2, "exclude each other"),
    (["delegate", "root.key", "other.key", "--days", "0"], 2, "--days"),
  ])
  func mistakes(_ arguments: [String], _ status: Int32, _ text: String) throws {
    let before = try playground.shell("cat release.key root.key").output
    let run = try playground.packstore(arguments)
    #expect(run.status == status && run.errors.contains(text), "\(run.status) \(run.errors)")
    #expect(try playground.shell("cat release.key root.key").output == before, "no key was touched")
    #expect(!playground.exists("other.key"), "and none was made")
  }
}
