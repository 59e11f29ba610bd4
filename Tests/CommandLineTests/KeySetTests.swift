import Foundation
import Testing

/// Root keys of several holders, and secret keys that are not on the publishing machine.
@Suite struct KeySetTests {
  let playground = try! Playground()

  private static let package = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
    .appendingPathComponent("../..").standardizedFileURL

  /// The drill of Docs/RootKeys.md prints the recorded output.
  @Test func drillPrintsTheRecordedOutput() throws {
    let script = Self.package.appendingPathComponent("Scripts/drill-keys").path
    let run = try playground.shell("'\(script)' '\(packstoreURL.path)'")
    #expect(run.status == 0, "\(run.output)\(run.errors)")
    let recorded = try String(contentsOf: Self.package.appendingPathComponent("Docs/root-keys.txt"), encoding: .utf8)
    #expect(run.output == recorded)
  }

  private func keys(_ names: [String]) throws -> [String] {
    try names.map { try playground.packstore("keygen", "\($0).key", "-q").lines[0] }
  }

  @Test func faultsAreNamed() throws {
    let keys = try keys(["anna", "ben", "carl"])
    func fails(_ arguments: [String], _ status: Int32, _ text: String) throws {
      let run = try playground.packstore(["keyset"] + arguments)
      #expect(run.status == status && run.errors.contains(text), "\(arguments): \(run.status) \(run.errors)")
    }
    try fails(["create", "s", "--need", "3", keys[0], keys[1]], 2, "from 1 to the number of its keys, 2")
    try fails(["create", "s", "--need", "1", keys[0]], 2, "at least two keys")
    try fails(["create", "s", keys[0], keys[1]], 2, "--need")
    try fails(["create", "s", "--need", "1", "hello", keys[1]], 2, "hello")
    #expect(!playground.exists("s"))
    try playground.packstore(["keyset", "create", "s", "--need", "2"] + keys)
    try fails(["create", "s", "--need", "2"] + keys, 1, "exists already")
    try fails(["request", "s", "r"], 2, "neither a new key set nor a release key")
    try fails(["request", "s", "r", "--next", "1"], 2, "--next needs the public keys")
    try fails(["request", "s", "r", "--release", "release.key", "--days", "0"], 2, "--days")
    try playground.packstore("keyset", "request", "s", "r", "--release", "release.key", "-q")
    try fails(["sign", "r", "a", "--key", "release.key"], 4, "does not belong to the key sets")
    try fails(["sign", "s", "a", "--key", "anna.key"], 7, "first line")
    try playground.packstore("keyset", "sign", "r", "a", "--key", "anna.key", "-q")
    try fails(["complete", "s", "r", "a"], 4, "did not sign")
    for name in ["ben", "carl"] { try playground.packstore("keyset", "sign", "r", name, "--key", "\(name).key", "-q") }
    try fails(
      ["complete", "s", "r", "a", "ben", "carl", "--release", "anna.key"], 4, "not a release key of the request")
    let before = try playground.text("s")
    try playground.succeed("keyset", "complete", "s", "r", "a", "ben", "carl", "--release", "release.key", "--dry-run")
    #expect(try playground.text("s") == before)
    try playground.succeed("keyset", "complete", "s", "r", "a", "ben", "carl", "--release", "release.key")
  }

  // MARK: - Signing elsewhere

  /// A key service: a program that has the secret key, and signs its standard input.
  private func service() throws -> String {
    let reader = Self.package.appendingPathComponent("Tests/Reader").path
    try playground.write(
      """
      import base64, sys
      sys.path.insert(0, "\(reader)")
      import ed25519
      seed = base64.b64decode(open("service.key").read().split()[-1])
      sys.stdout.buffer.write(ed25519.sign(seed, sys.stdin.buffer.read()))
      """, to: "service.py")
    return "python3 service.py"
  }

  private static let manifest =
    #"{"assetPackID":"Q","downloadPolicy":{"onDemand":{}},"sourceRoot":"folder","fileSelectors":[{"directory":"."}]}"#

  private func makeKeys() throws {
    let key = try keys(["root", "service"])[1]
    try playground.succeed("delegate", "root.key", "release.pub", "--for", key)
    #expect(try playground.text("release.pub").hasPrefix("packstore public key 1\n\(key)\ndelegation "))
    try playground.write("one", to: "folder/file")
    try playground.succeed("add", "author", "folder", "--pack", "P")
  }

  @Test func commandsSignEverything() throws {
    let command = try service()
    try makeKeys()
    let signing = ["--key", "release.pub", "--sign-command", command, "-q"]
    try playground.write(Self.manifest, to: "Manifest.json")
    for arguments in [
      ["publish", "author", "site", "--deltas", "0"], ["promote", "site", "P@1", "--channel", "beta"],
      ["refresh", "site"],
      ["unpublish", "site", "P", "--channel", "beta"], ["package", "Manifest.json", "-o", "Q.pack"],
    ] {
      let bare = try playground.packstore(arguments + ["--key", "release.pub"])
      #expect(
        bare.status == 4 && bare.errors.contains("does not contain its secret half"), "\(arguments): \(bare.errors)")
      let run = try playground.packstore(arguments + signing)
      #expect(run.status == 0, "\(arguments): \(run.errors)")
    }
    let root = try playground.packstore("keygen", "root.key").lines[0]
    try playground.succeed("pull", "device", "site", "--trust", root, "-q")
    try playground.succeed("pull", "device", "Q.pack", "--trust", root, "-q")
    let failed = try playground.packstore(["refresh", "site", "--key", "release.pub", "--sign-command", "exit 3"])
    #expect(failed.status == 1 && failed.errors.contains("failed with the status 3"), "\(failed.errors)")
    let wrong = try playground.packstore(
      "refresh", "site", "--key", "release.pub", "--sign-command", "head -c 64 /dev/zero")
    #expect(wrong.status == 4 && wrong.errors.contains("not valid for the request"), "\(wrong.errors)")
    for options in [["--sign-command", "x", "--sign-request", "y"], ["--signature", "y"]] {
      #expect(try playground.packstore(["refresh", "site", "--key", "release.pub"] + options).status == 2)
    }
  }

  /// The bytes to sign leave the machine in a file, and the signature comes back in another one.
  @Test func requestsAreSignedElsewhere() throws {
    let command = try service()
    try makeKeys()
    // Each attempt to create a site has another id, so the first publication needs the service.
    try playground.succeed(
      "publish", "author", "site", "--deltas", "0", "-q", "--key", "release.pub", "--sign-command", command)
    try playground.write("two", to: "folder/file")
    try playground.succeed("add", "author", "folder", "--pack", "P")
    func sign() throws {
      let script =
        "sed -n 's/^sign .* //p' request | python3 -c 'import sys; sys.stdout.buffer.write(bytes.fromhex(sys.stdin.read()))'"
      let run = try playground.shell("\(script) | \(command) > signature")
      #expect(run.status == 0, "\(run.errors)")
    }
    /// Runs a command until it needs no more signatures, and returns their number.
    func complete(_ arguments: [String]) throws -> Int {
      var count = 0
      var run = try playground.packstore(arguments + ["--key", "release.pub", "--sign-request", "request"])
      while run.status == 4, run.errors.contains("is needed"), count < 9 {
        try sign()
        count += 1
        run = try playground.packstore(
          arguments + ["--key", "release.pub", "--sign-request", "request", "--signature", "signature"])
      }
      #expect(run.status == 0, "\(arguments): \(run.errors)")
      try playground.remove("request")
      return count
    }
    try playground.write(Self.manifest, to: "Manifest.json")
    for (arguments, count) in [
      (["publish", "author", "site", "--deltas", "0"], 1), (["promote", "site", "P@1", "--channel", "beta"], 1),
      (["refresh", "site"], 2), (["unpublish", "site", "P", "--channel", "beta"], 1),
      (["package", "Manifest.json", "-o", "Q.pack"], 1),
    ] { #expect(try complete(arguments) == count, "\(arguments)") }
    let root = try playground.packstore("keygen", "root.key").lines[0]
    for source in ["site", "Q.pack"] { try playground.succeed("pull", "device", source, "--trust", root, "-q") }
  }
}
