import Foundation
import Testing

/// Dry runs where nothing can be written, and commands that fail for lack of room: nothing is left behind.
@Suite struct DryRunTests {
  let playground = try! Playground()

  init() throws {
    for index in 0..<12 { try playground.write(noise(50_000, seed: UInt64(index)), to: "source/\(index)") }
    try playground.succeed("add", "store", "source", "--pack", "P", "-q")
    try playground.succeed("publish", "store", "site", "--key", "key", "-q")
    try playground.succeed("pull", "device", "site", "-q")
    try playground.makeFolder("tmp")
  }

  /// Runs commands with folders that cannot be written to.
  private func readOnly(_ folders: [String], _ commands: String) throws -> Run {
    let mounts = folders.map { "mount --bind \($0) \($0) && mount -o remount,ro,bind \($0)" }.joined(separator: " && ")
    return try playground.shell("TMPDIR=$PWD/tmp unshare -rm sh -c '\(mounts) && \(commands)'")
  }

  @Test func anAddIsPlanned() throws {
    try playground.write(noise(20_000, seed: 99), to: "source/new")
    let before = playground.tree("store")
    let planned = try playground.packstore("add", "store", "source", "--pack", "P", "--dry-run", "--json")
    #expect(planned.status == 0 && playground.tree("store") == before, "\(planned.errors)")
    let text = try playground.packstore("add", "store", "source", "--pack", "P", "--dry-run")
    #expect(text.lines.first == "P would be at version 2")
    let made = try playground.packstore("add", "store", "source", "--pack", "P", "--json")
    for field in ["new_bytes", "new_chunks", "new_stored_bytes", "version", "catalog", "unchanged"] {
      #expect(try planned.json[field] as? NSObject == made.json[field] as? NSObject, "\(field)")
    }
    #expect(try planned.json["dry_run"] as? Bool == true && made.json["dry_run"] as? Bool == false)
    let none = try playground.packstore("add", "none", "source", "--pack", "P", "--dry-run", "-q")
    #expect(none.status == 0 && !playground.exists("none"))
  }

  @Test(.enabled(if: canMountPrivately, "needs user namespaces")) func readOnlyStores() throws {
    try playground.write(noise(20_000, seed: 99), to: "source/new")
    let writable = try playground.packstore("add", "device", "source", "--pack", "Q", "--dry-run", "--json")
    let run = try readOnly(["device"], "packstore add device source --pack Q --dry-run --json")
    #expect(run.status == 0, "\(run.errors)")
    for field in ["new_bytes", "new_chunks", "version", "catalog"] {
      #expect(try run.json[field] as? NSObject == writable.json[field] as? NSObject, "\(field)")
    }
    try playground.succeed("add", "store", "source", "--pack", "P", "-q")
    try playground.succeed("publish", "store", "site", "--key", "key", "-q", "--deltas", "0")
    let expected = try playground.packstore("pull", "device", "site", "--dry-run", "--json")
    let pull = try readOnly(["device"], "packstore pull device site --dry-run --json")
    #expect(pull.status == 0, "\(pull.errors)")
    func pack(_ run: Run) throws -> NSDictionary { try #require((run.json["packs"] as? [NSDictionary])?.first) }
    for field in ["outcome", "from", "to", "total_bytes", "remaining_bytes", "new_chunks"] {
      #expect(try pack(pull)[field] as? NSObject == pack(expected)[field] as? NSObject, "\(field)")
    }
    #expect(try pull.json["first_contact"] as? Bool == false, "the key that the store trusts counts")
    #expect(playground.tree("tmp").isEmpty, "\(playground.tree("tmp"))")
  }

  /// A dry run of a release computes the downloads of devices that have the currently offered version.
  @Test func whatDevicesWouldFetch() throws {
    try playground.write(noise(20_000, seed: 99), to: "source/new")
    try playground.succeed("add", "store", "source", "--pack", "P", "-q")
    func update(_ arguments: String...) throws -> NSDictionary {
      let run = try playground.packstore(arguments + ["--key", "key", "--dry-run", "--json"])
      return try #require((run.json["updates"] as? [NSDictionary])?.first, "\(run.errors)")
    }
    let publish = try update("publish", "store", "site")
    let bytes = try #require(publish["range_bytes"] as? Int)
    #expect(publish["from"] as? Int == 1 && publish["to"] as? Int == 2 && (19_000..<40_000).contains(bytes))
    #expect(publish["delta_bytes"] == nil)
    let text = try playground.succeed("publish", "store", "site", "--key", "key", "--dry-run").output
    #expect(text.contains("devices at P@1 would fetch about ") && text.contains(" by ranges\n"), "\(text)")

    try playground.succeed("publish", "store", "site", "--key", "key", "-q", "--deltas", "1")
    try playground.succeed("promote", "site", "P@1", "--channel", "beta", "--key", "key", "-q")
    let promote = try update("promote", "site", "P@2", "--channel", "beta")
    #expect(promote["from"] as? Int == 1 && promote["to"] as? Int == 2)
    #expect((promote["range_bytes"] as? Int).map { (19_000..<40_000).contains($0) } == true, "\(promote)")
    #expect((promote["delta_bytes"] as? Int).map { (19_000..<30_000).contains($0) } == true, "\(promote)")
    let words = try playground.succeed("promote", "site", "P@2", "--channel", "beta", "--key", "key", "--dry-run")
      .output
    #expect(words.contains("devices at P@1 would fetch about ") && words.contains(", or a delta of "), "\(words)")
    let pull = try playground.succeed("pull", "device", "site", "--dry-run", "--json").json
    #expect(((pull["packs"] as? [NSDictionary])?.first?["remaining_bytes"] as? Int ?? 0) > 19_000)
  }

  /// A pack that is held stays where it is.
  @Test(.enabled(if: canMountPrivately, "needs user namespaces")) func heldPacks() throws {
    try playground.write("two", to: "source/new")
    try playground.succeed("add", "store", "source", "--pack", "P", "-q")
    try playground.succeed("publish", "store", "site", "--key", "key", "-q")
    try playground.succeed("pull", "device", "site", "-q")
    try playground.succeed("rollback", "device", "P", "-q")
    let pull = try readOnly(["device"], "packstore pull device site --dry-run --json")
    #expect(pull.status == 0 && pull.output.contains("\"outcome\":\"held\""), "\(pull.output) \(pull.errors)")
  }

  @Test(.enabled(if: canMountPrivately, "needs user namespaces")) func readOnlySites() throws {
    try playground.write(noise(20_000, seed: 99), to: "source/new")
    try playground.succeed("add", "store", "source", "--pack", "P", "-q")
    let expected = try playground.packstore("publish", "store", "site", "--key", "key", "--dry-run", "--json")
    let run = try readOnly(["site", "store"], "packstore publish store site --key key --dry-run --json")
    #expect(run.status == 0, "\(run.errors)")
    for field in ["new_bytes", "changed_channels", "channel", "packs", "unchanged"] {
      #expect(try run.json[field] as? NSObject == expected.json[field] as? NSObject, "\(field)")
    }
    #expect(playground.tree("tmp").isEmpty)
  }

  /// A failed import on a full disk, or on a disk that becomes full, is undone.
  @Test(.enabled(if: canMountPrivately, "needs user namespaces"), arguments: ["source.pack", "source.tar", "source"])
  func importsOntoAFullDisk(_ name: String) throws {
    try playground.write(noise(5_000_000, seed: 5), to: "source/large")
    try playground.succeed("add", "store", "source", "--pack", "P", "-q")
    try playground.succeed("export", "store", "P", "-o", "source.pack", "--key", "key", "-q")
    _ = try playground.shell("tar cf source.tar -C source .; mkdir disk")
    let option = name.hasSuffix(".pack") ? "" : "--pack P"
    for size in ["3m", "16k"] {
      let run = try playground.shell(
        """
        TMPDIR=$PWD/tmp unshare -rm sh -c 'mount -t tmpfs -o size=\(size) none disk
        packstore import disk/store \(name) \(option) -q; echo $?; ls -A disk'
        """)
      #expect(run.output == "5\n", "\(size): \(run.output) \(run.errors)")
    }
  }

  /// A dry run works on a full disk.
  @Test(.enabled(if: canMountPrivately, "needs user namespaces")) func plansOnAFullDisk() throws {
    let run = try playground.shell(
      """
      mkdir disk; TMPDIR=$PWD/tmp unshare -rm sh -c 'mount -t tmpfs -o size=3m none disk
      cp -r device disk/device; head -c 9000000 /dev/zero >disk/fill 2>/dev/null
      packstore add disk/device source --pack Q --dry-run --json'
      """)
    #expect(run.status == 0, "\(run.errors)")
    #expect(try run.json["new_chunks"] as? Int == 0)
  }

  /// A dry run works for a site and for a device on a full disk.
  @Test(.enabled(if: canMountPrivately, "needs user namespaces"))
  func releasesArePlannedOnAFullDisk() throws {
    try playground.write(noise(20_000, seed: 99), to: "source/new")
    try playground.succeed("add", "store", "source", "--pack", "P", "-q")
    try playground.succeed("publish", "store", "newer", "--key", "key", "-q")
    let run = try playground.shell(
      """
      mkdir disk; TMPDIR=$PWD/tmp unshare -rm sh -c 'mount -t tmpfs -o size=4m none disk
      cp -r device disk/device && cp -r site disk/site; head -c 9000000 /dev/zero >disk/fill 2>/dev/null
      for command in "publish store disk/site --key key" "promote disk/site P@1 --key key" "pull disk/device site"
      do packstore $command --dry-run --json || echo failed: $command; done'
      """)
    #expect(run.status == 0 && run.lines.count == 3 && !run.output.contains("failed"), "\(run.output)\(run.errors)")
    #expect(run.output.contains(#""range_bytes":"#) && playground.tree("tmp").isEmpty, "\(run.output)")
  }
}

/// Whether `unshare -rm` may mount.
let canMountPrivately: Bool = {
  let process = Process()
  process.executableURL = URL(fileURLWithPath: "/bin/sh")
  process.arguments = ["-c", "unshare -rm mount -t tmpfs none /mnt"]
  process.standardError = FileHandle.nullDevice
  try? process.run()
  process.waitUntilExit()
  return process.terminationStatus == 0
}()
