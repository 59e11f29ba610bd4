import Foundation
import PackDelivery
import PackStore
import Testing

@testable import packstore_cli

#if canImport(Darwin)
  import Darwin
#elseif canImport(Musl)
  import Musl
#else
  import Glibc
#endif

/// How commands fail, as scripts see it: exit statuses, and the error object on standard error.
@Suite struct FailureTests {
  let playground = try! Playground()

  init() throws {
    try playground.write(noise(90_000), to: "folder/a")
    try playground.write("text", to: "folder/b")
    try playground.packstore("add", "store", "folder", "--pack", "P", "-q")
  }

  /// Runs a command with `--json` and without; both have to end alike.
  ///
  /// - Returns: the error object.
  @discardableResult
  func fail(_ arguments: String..., status: ProgramStatus, code: String) throws -> NSDictionary {
    try fail(arguments, status: status, code: code)
  }

  @discardableResult
  func fail(_ arguments: [String], status: ProgramStatus, code: String) throws -> NSDictionary {
    let plain = try playground.packstore(arguments)
    #expect(plain.status == status.rawValue, "\(arguments): \(plain.errors)")
    #expect(plain.errors.hasPrefix("packstore: "))
    let run = try playground.packstore(arguments + ["--json"])
    #expect(run.status == status.rawValue, "\(arguments): \(run.errors)")
    let object = try error(of: run)
    #expect(object["code"] as? String == code, "\(run.errors)")
    let message = try #require(object["message"] as? String)
    #expect(plain.errors.contains(message), "both say the same: \(plain.errors)")
    return object
  }

  /// The last line of standard error. Each line must be an object.
  func error(of run: Run) throws -> NSDictionary {
    let objects = try run.errors.split(separator: "\n").map {
      try #require(JSONSerialization.jsonObject(with: Data($0.utf8)) as? NSDictionary, "\($0)")
    }
    for warning in objects.dropLast() { #expect(warning["level"] as? String == "warning") }
    let object = try #require(objects.last)
    #expect(object["level"] as? String == "error")
    #expect(object["exit"] as? Int32 == run.status)
    let code = try #require((object["code"] as? String).flatMap(FailureCode.init))
    // Some conflicts need a person, whereas the same command can succeed after most of them.
    #expect(object["retry"] as? Bool == code.canRetry || (code == .conflict && object["detail"] != nil))
    return object
  }

  // MARK: - Each exit status

  @Test func failed() throws {
    let asset = try fail("cat", "store", "nothing", status: .failed, code: "not_found")
    #expect(asset["path"] as? String == "nothing" && asset["store"] as? String == "store")
    #expect(asset["retry"] as? Bool == false)
    try fail("ls", "nowhere", status: .failed, code: "not_a_store")
    try playground.write("x", to: "deep/down/x")
    try playground.packstore("add", "store", "deep", "--pack", "Deep", "-q")
    try fail("cat", "store", "down", status: .failed, code: "wrong_kind")
    try playground.makeFolder("out/a")
    let exists = try fail("extract", "store", "out", status: .failed, code: "exists")
    #expect(exists["path"] as? String == "a")
    try playground.packstore("add", "store", "folder", "--pack", "Q", "-q")
    try playground.write("new", to: "folder/c")
    try playground.packstore("add", "store", "folder", "--pack", "Q", "-q")
    try playground.packstore("rollback", "store", "Q", "-q")
    let held = try fail("add", "store", "folder", "--pack", "Q", status: .failed, code: "held")
    #expect(held["pack"] as? String == "Q")
  }

  @Test func refusedNamesAreListed() throws {
    try playground.link("folder/up", to: "../../elsewhere")
    let object = try fail(
      "add", "store", "folder", "--pack", "R", "--links", "follow", status: .failed, code: "refused")
    #expect(object["notices"] as? [NSDictionary] == [["kind": "link_out", "path": "up"]])
    #expect(object["path"] as? String == "folder" && object["pack"] as? String == "R")
  }

  @Test func usage() throws {
    let value = try fail("add", "store", "folder", "--pack", "P", "--level", "77", status: .usage, code: "usage")
    #expect(value["message"] as? String == "--level must be from 1 to 22, or from -1 to -7, not 77")
    #expect((value["remedy"] as? String)?.hasPrefix("Usage: packstore add ") == true)
    try fail("add", "store", status: .usage, code: "usage")
    try fail("frobnicate", status: .usage, code: "usage")
    try fail("ls", "store", "--frobnicate", status: .usage, code: "usage")
    try fail("cat", "store", "/a", status: .usage, code: "invalid_argument")
    try fail("pull", "device", "gopher://example.org/", status: .usage, code: "invalid_location")
    for (site, status) in [("http://me:secret@127.0.0.1:1/", 3), ("ftp://me:secret@127.0.0.1/", 2)] {
      let run = try playground.packstore("pull", "device", site, "--json")
      #expect(run.status == status && !run.errors.contains("secret"), "\(run.errors)")
    }
    // An argument after '--' is a name, not an option.
    let name = try playground.packstore("cat", "store", "--", "--json")
    #expect(name.status == 1 && name.errors.hasPrefix("packstore: "))
  }

  @Test func network() throws {
    let unreachable = try fail(
      "pull", "device", "http://127.0.0.1:1/site", "--answer-limit", "1", status: .network, code: "unreachable")
    #expect((unreachable["url"] as? String)?.hasPrefix("http://127.0.0.1:1/site") == true)
    #expect(unreachable["retry"] as? Bool == true && unreachable["site"] as? String == "http://127.0.0.1:1/site")
    let none = try fail("pull", "device", "folder", status: .network, code: "no_site")
    #expect(none["retry"] as? Bool == false && none["path"] is String)
  }

  @Test func trust() throws {
    try playground.packstore("publish", "store", "site", "--key", "key", "-q")
    try playground.packstore("keygen", "other", "-q")
    let other = try playground.packstore("keygen", "other", "-q").lines[0]
    try fail("pull", "device", "site", "--trust", other, status: .trust, code: "other_key")
    try fail("publish", "store", "site", "--key", "none", status: .trust, code: "no_key")
    try fail("publish", "store", "site", "--key", "other", status: .trust, code: "untrusted")
    let pack = try fail("pull", "store", "site", status: .trust, code: "other_origin")
    #expect(pack["pack"] as? String == "P")
    var root = try playground.read("site/root")
    root[root.count - 10] ^= 1
    try playground.write(root, to: "site/root")
    try fail("pull", "device", "site", status: .trust, code: "bad_signature")
  }

  /// The report lists the completed work even so.
  @Test func packsThatWereLeftAlone() throws {
    try playground.packstore("add", "device", "folder", "--pack", "P", "-q")
    try playground.packstore("add", "store", "folder", "--pack", "Q", "-q")
    try playground.packstore("publish", "store", "site", "--key", "key", "-q")
    let run = try playground.packstore("pull", "device", "site", "--json")
    #expect(try error(of: run)["code"] as? String == "other_origin")
    let outcomes = try #require(run.json["packs"] as? [NSDictionary]).map { $0["outcome"] as? String }
    #expect(outcomes == ["other_origin", "updated"])
    let quiet = try playground.packstore("pull", "device", "site", "--quiet")
    #expect(
      quiet.status == 4 && quiet.errors.hasPrefix("packstore: 'P': belongs to another origin"), "errors are not quiet")
  }

  @Test(.enabled(if: access("/dev/full", W_OK) == 0)) func space() throws {
    let plain = try playground.shell("packstore cat store a > /dev/full")
    #expect(plain.status == 5)
    let run = try playground.shell("packstore ls store --json > /dev/full")
    #expect(run.status == 5)
    #expect(try error(of: run)["code"] as? String == "no_space")
    for arguments in ["--help", "help ls", "--version"] {
      #expect(try playground.shell("packstore \(arguments) > /dev/full").status == 5, "\(arguments)")
    }
  }

  /// The name of a draft is not longer than a name may be.
  @Test func longNames() throws {
    let name = String(repeating: "n", count: 124) + String(repeating: "\u{e9}", count: 63)
    for arguments in [
      ["template", "-o", "\(name).json"], ["keygen", "\(name).key"], ["inspect", "store", "--html", "\(name).html"],
      ["export", "store", "P", "-o", "\(name).pack", "--key", "key"], ["export", "store", "P", "-o", "\(name).aar"],
    ] {
      let run = try playground.packstore(arguments)
      #expect(run.status == 0, "\(run.errors)")
    }
    #expect(playground.tree(".").filter { $0.hasPrefix("nn") }.count == 5)
  }

  /// No other file gets the number of a closed stream.
  @Test func closedStreams() throws {
    let run = try playground.shell("packstore ls store >&-")
    #expect(
      run.status == 1 && run.errors.contains("standard output: cannot write: Bad file descriptor"), "\(run.errors)")
    #expect(try playground.shell("packstore add other folder --pack P -q <&- >&- 2>&-").status == 0)
    #expect(try playground.shell("packstore verify other --deep -q").status == 0)
  }

  #if os(Linux)
    @Test func busy() throws {
      let lock = open("\(playground.path)/store/LOCK", O_RDWR | O_CLOEXEC)
      try #require(lock >= 0)
      defer { close(lock) }
      var region = flock()
      region.l_type = Int16(F_WRLCK)
      region.l_whence = Int16(SEEK_SET)
      region.l_len = 1
      try #require(fcntl(lock, F_SETLK, &region) == 0)
      let object = try fail("remove", "store", "P", "--no-wait", status: .busy, code: "busy")
      #expect(object["retry"] as? Bool == true && object["store"] as? String == "store")
      #expect(object["message"] as? String == "'store': another process is writing to the store")
      let repair = try fail("repair", "store", "--no-wait", status: .busy, code: "busy")
      #expect(repair["message"] as? String == "'store': another process is writing to the store")
    }
  #endif

  @Test func damage() throws {
    let segment = try #require(
      playground.tree("store/segments").first { (try? playground.read("store/segments/\($0)").count) ?? 0 > 90_000 })
    var bytes = try playground.read("store/segments/\(segment)")
    bytes[45_000] ^= 1
    try playground.write(bytes, to: "store/segments/\(segment)")
    let read = try fail("cat", "store", "a", status: .damage, code: "corrupt")
    #expect(read["path"] as? String == "a" && read["offset"] is Int)
    try fail("verify", "store", status: .damage, code: "corrupt")
    try fail("repair", "store", "--dry-run", status: .damage, code: "data_lost")

    let partial = try playground.packstore("extract", "store", "out", "--json")
    #expect(partial.status == 7)
    let object = try error(of: partial)
    #expect(object["code"] as? String == "corrupt" && object["path"] as? String == "a")
    #expect(try partial.json["files"] as? Int == 1, "the report says what was written")
    #expect(try (partial.json["damaged"] as? [NSDictionary])?.map { $0["path"] as? String } == ["a"])
    #expect(playground.tree("out") == ["b"])
  }

  /// A store that lacks a part of itself is damaged, whatever command finds out, and the remedy names it.
  @Test(arguments: ["rm -r store/index", "rm store/index/*.generation", "rm store/CONTROL", ": > store/CONTROL"])
  func missingParts(script: String) throws {
    try #require(playground.shell(script).status == 0)
    let tree = playground.tree("store")
    for arguments in [
      ["cat", "store", "a"], ["ls", "store"], ["add", "store", "folder", "--pack", "P"], ["stat", "store"],
      ["verify", "store"], ["remove", "store", "P"], ["publish", "store", "site", "--key", "key"],
    ] {
      let run = try playground.packstore(arguments + ["--json"])
      #expect(run.status == 7, "\(arguments): \(run.errors)")
      let object = try error(of: run)
      #expect(object["code"] as? String == "corrupt" && object["retry"] as? Bool == false)
      #expect((object["remedy"] as? String)?.hasPrefix("run 'packstore repair store'") == true, "\(run.errors)")
    }
    #expect(playground.tree("store") == tree && !playground.exists("site") && !playground.exists("key"))
    #expect(try playground.packstore("repair", "store", "-q").status == 0)
    #expect(try playground.packstore("cat", "store", "b").output == "text")
  }

  /// The suggested remedy for a missing segment works.
  @Test func aMissingSegment() throws {
    for segment in playground.tree("store/segments")
    where try playground.read("store/segments/\(segment)").count > 80_000 {
      try playground.remove("store/segments/\(segment)")
    }
    let object = try fail("cat", "store", "a", status: .damage, code: "purged")
    #expect(object["path"] as? String == "a")
    let remedy = try #require(object["remedy"] as? String)
    #expect(remedy.hasPrefix("run 'packstore repair store'") && remedy.hasSuffix("; then add or pull the pack again"))
    #expect(try playground.packstore("repair", "store", "-q").status == 7)
    #expect(try playground.packstore("add", "store", "folder", "--pack", "P", "-q").status == 0)
    #expect(try playground.packstore("cat", "store", "a").bytes == noise(90_000))
  }

  /// A name that looks like a part of an error's text is a name.
  @Test func pathsAreExact() throws {
    try playground.write(noise(90_000, seed: 3), to: "odd/x, asset y")
    try playground.packstore("add", "odd, asset store", "odd", "--pack", "Odd", "-q")
    for segment in playground.tree("odd, asset store/segments") {
      var bytes = try playground.read("odd, asset store/segments/\(segment)")
      guard bytes.count > 80_000 else { continue }
      bytes[45_000] ^= 1
      try playground.write(bytes, to: "odd, asset store/segments/\(segment)")
    }
    let read = try fail("cat", "odd, asset store", "x, asset y", status: .damage, code: "corrupt")
    #expect(read["path"] as? String == "x, asset y" && read["store"] as? String == "odd, asset store")
    let folder = try fail("cat", "odd, asset none", "x", status: .failed, code: "not_a_store")
    #expect(folder["path"] as? String == "odd, asset none")
  }

  /// A file of another kind is not damage: the remedy is the command that reads it, and works.
  @Test func filesOfAnotherKind() throws {
    try playground.write("changed", to: "folder/b")
    try playground.packstore("add", "store", "folder", "--pack", "P", "-q")
    try playground.packstore("export", "store", "P@1", "-o", "P.pack", "--key", "key", "-q")
    try playground.packstore("delta", "store", "P@1", "P@2", "-o", "P.delta", "--key", "key", "-q")
    try playground.write("neither", to: "text")
    try playground.write("", to: "empty")
    for command in ["import", "pull"] {
      let object = try fail(command, "device", "P.delta", status: .failed, code: "wrong_kind")
      #expect(object["remedy"] as? String == "run 'packstore apply device P.delta'")
      #expect(!playground.exists("device"))
    }
    for file in ["text", "empty"] { try fail("pull", "device", file, status: .failed, code: "wrong_kind") }
    #expect(!playground.exists("device"))
    let archive = try fail("apply", "device", "P.pack", status: .failed, code: "wrong_kind")
    #expect(archive["remedy"] as? String == "run 'packstore import device P.pack'")
    for file in ["text", "empty"] { try fail("apply", "device", file, status: .failed, code: "wrong_kind") }
    #expect(try playground.packstore("import", "device", "P.pack", "-q").status == 0)
    #expect(try playground.packstore("apply", "device", "P.delta", "-q").status == 0)
    #expect(try playground.packstore("cat", "device", "b").output == "changed")
  }

  /// A command that is refused before any download leaves neither a store nor a folder.
  @Test func refusalsLeaveNoStore() throws {
    try playground.packstore("publish", "store", "site", "--key", "key", "-q")
    try playground.packstore("export", "store", "P", "-o", "P.pack", "--key", "key", "-q")
    let other = try playground.packstore("keygen", "other", "-q").lines[0]
    try playground.makeFolder("unsigned")
    try playground.makeFolder("there")
    for arguments in [
      ["pull", "STORE", "http://[x"], ["pull", "STORE", "gopher://example.org/"], ["pull", "STORE", "nowhere"],
      ["pull", "STORE", "unsigned"], ["pull", "STORE", "site", "None"], ["pull", "STORE", "site", "--trust", other],
      ["pull", "STORE", "http://127.0.0.1:1/site", "--answer-limit", "1"], ["pull", "STORE", "site", "a/b"],
      ["add", "STORE", "nowhere", "--pack", "P"], ["add", "STORE", "", "--pack", "P"],
      ["add", "STORE", "folder", "--pack", "a/b"], ["add", "STORE", "P.pack", "--pack", "P"],
      ["import", "STORE", "nowhere"], ["import", "STORE", "P.pack", "--trust", other],
    ] {
      for store in ["new", "there"] {
        let run = try playground.packstore(arguments.map { $0 == "STORE" ? store : $0 })
        #expect(run.status != 0 && run.errors.hasPrefix("packstore: "), "\(arguments)")
        #expect(
          !playground.exists("new") && playground.tree("there").isEmpty, "\(arguments): \(playground.tree(store))")
      }
    }
  }

  /// A program that repeats commands would repeat these forever.
  @Test func conflictsThatNeedAPersonAreNoReasonToTryAgain() throws {
    try playground.packstore("publish", "store", "site", "--key", "key", "-q")
    let conflict = try fail(
      "promote", "site", "P@1", "--if-root", "live=1", "--key", "key", status: .busy, code: "conflict")
    #expect(conflict["retry"] as? Bool == false && conflict["detail"] as? String == "other_root")
    try playground.write("one", to: "labels/file")
    try playground.packstore("add", "labeled", "labels", "--pack", "L", "--label", "x", "-q")
    try playground.write("two", to: "labels/file")
    try playground.packstore("add", "labeled", "labels", "--pack", "L", "--label", "x", "-q")
    let ambiguous = try playground.packstore("stat", "labeled", "L@x", "--json")
    if ambiguous.status != 0 { #expect(ambiguous.errors.contains("\"retry\":false"), "\(ambiguous.errors)") }
    for code in [FailureCode.siteCorrupt, .corrupt, .expired] { #expect(!code.canRetry) }
  }

  @Test func stepsOnAChannelWithoutExpiryNameTheOption() throws {
    try playground.packstore("publish", "store", "site", "--key", "key", "-q")
    let options = ["--steps", "1,100", "--every", "24h", "--channel", "beta", "--key", "key"]
    let refused = try fail(["promote", "site", "P@1"] + options, status: .usage, code: "invalid_argument")
    #expect((refused["remedy"] as? String)?.contains("--expires") == true, "\(refused)")
    #expect(try playground.packstore(["promote", "site", "P@1"] + options + ["--expires", "9"]).status == 0)
  }

  /// Damage on this machine stays reported, however often a command is repeated.
  @Test func localDamageIsNoReasonToTryAgain() throws {
    try playground.packstore("publish", "store", "site", "--key", "key", "-q")
    try playground.packstore("pull", "device", "site", "-q")
    try playground.write("no such file of keys", to: "device/trust")
    let trust = try fail("pull", "device", "site", status: .damage, code: "corrupt")
    #expect(trust["retry"] as? Bool == false && (trust["path"] as? String)?.hasSuffix("trust") == true)
    try playground.packstore("export", "store", "P", "-o", "P.pack", "--key", "key", "-q")
    try playground.write(playground.read("P.pack").dropLast(50_000), to: "P.pack")
    let archive = try fail("import", "other", "P.pack", status: .damage, code: "corrupt")
    #expect(archive["retry"] as? Bool == false)
  }

  /// A store that this process cannot read may be sound.
  @Test func whatCannotBeOpenedIsNotDamaged() throws {
    try playground.remove("store/CONTROL")
    try playground.makeFolder("store/CONTROL")
    let run = try playground.packstore("verify", "store")
    #expect(run.status != 7, "\(run.errors)")
  }

  /// Neither a key nor a site is made for a pack that is not there, also when its history is.
  @Test func publishingARemovedPackMakesNothing() throws {
    try playground.packstore("remove", "store", "P", "--keep-history", "-q")
    for pack in ["P", "P@1"] {
      try fail("publish", "store", "site", pack, "--key", "key", status: .failed, code: "not_found")
      try fail("export", "store", pack, "-o", "P.pack", "--key", "key", status: .failed, code: "not_found")
    }
    for name in ["site", "key", "P.pack"] { #expect(!pathExists(FilePath("\(playground.path)/\(name)")), "\(name)") }
  }

  /// A key that is named and missing is made where publishing begins, and nowhere else.
  @Test func keysAreMadeWherePublishingBegins() throws {
    try playground.write("other", to: "folder/b")
    try playground.packstore("add", "store", "folder", "--pack", "P", "-q")
    let delta = ["delta", "store", "P@1", "@2", "-o", "P.delta", "--key", "key"]
    playground.makesKeys = false
    let missing = try fail(delta, status: .trust, code: "no_key")
    #expect(missing["path"] as? String == "key" && (missing["remedy"] as? String)?.contains("keygen key") == true)
    playground.makesKeys = true
    try #require(playground.packstore("publish", "store", "site", "--key", "other", "-q").status == 0)
    for command in [
      ["refresh", "site"], ["unpublish", "site", "P"], ["publish", "store", "site"], ["repair", "site"],
    ] {
      try fail(command + ["--key", "key"], status: .trust, code: "no_key")
    }
    #expect(!playground.exists("key") && !playground.exists("P.delta"))
    for command in [["publish", "store", "another"], ["export", "store", "P", "-o", "P.pack"]] {
      let run = try playground.packstore(command + ["--key", "keys/\(command[0]).key"])
      #expect(run.status == 0 && run.errors.contains("'keys/\(command[0]).key' and its root key in"), "\(run.errors)")
    }
    #expect(
      playground.tree("keys") == ["export-root.key", "export.key", "publish-root.key", "publish.key"])
  }

  /// Each limit for a server is an option: the remedy names it, and does not suggest to repeat the same command.
  @Test func limitsAreNamed() throws {
    let options: [DeliveryError.Limit: String] = [
      .metadata: "--metadata-limit", .redirects: "--redirects", .privateRedirects: "--allow-private-redirects",
      .answer: "--answer-limit", .rate: "--min-rate", .root: "--root-limit",
    ]
    let help = try playground.packstore("pull", "--help").output
    for limit in DeliveryError.Limit.allCases {
      let option = try #require(options[limit])
      #expect(help.contains("  \(option) ") || help.contains("  \(option)\n"), "\(option)")
      let isFinal = [.metadata, .redirects, .privateRedirects].contains(limit)
      let failure = Failure(DeliveryError(isFinal ? .badResponse : .unreachable, "no", limit: limit))
      #expect(failure.remedy?.contains(option) == true && failure.canRetry == !isFinal)
    }
  }

  /// Missing permissions are reported with the path and the remedy, before any file is created.
  @Test(.enabled(if: getuid() == 0, "takes the rights of another user")) func rights() throws {
    try playground.packstore("publish", "store", "site", "--key", "key", "-q")
    try playground.write("secret", to: "private/file")
    try playground.write("secret", to: "locked/file")
    let program = packstoreURL.path
    let prepared = try playground.shell(
      """
      chmod 755 . && chmod -R go=rX store site folder && chmod 700 private && chmod 755 locked && chmod 600 locked/file
      mkdir open && chmod 777 open && cp \(program) open/packstore
      """)
    try #require(prepared.status == 0, "\(prepared.errors)")
    func run(_ arguments: String) throws -> String {
      let run = try playground.shell(
        "setpriv --reuid=65534 --regid=65534 --clear-groups open/packstore \(arguments)")
      #expect(run.status == 1, "\(arguments): \(run.errors)")
      return run.errors
    }
    let unwritable = "packstore: 'store': its directory cannot be written: Permission denied; check who"
    for command in ["pull store site", "add store folder --pack P", "remove store P"] {
      #expect(try run(command).hasPrefix(unwritable), "\(command)")
    }
    #expect(
      try run("add open/new private --pack P")
        == "packstore: 'private': cannot read the folder: Permission denied; let this user read it\n")
    #expect(try run("add store/new folder --pack P").hasPrefix("packstore: 'store/new': cannot create the directory: "))
    #expect(
      try run("export store P -o store/P.pack --key open/key").hasPrefix(
        "packstore: 'store': cannot write into the folder: Permission denied; name a file in a folder"))
    #expect(playground.tree("open") == ["packstore"])
    let locked = try run("add open/new locked --pack P")
    #expect(locked.contains("'file' cannot be read: Permission denied\n"))
    #expect(
      locked.hasSuffix("contains files that cannot be stored; let this user read the listed files, or remove them\n"))
  }

  #if os(Linux)
    /// If the system refuses threads, commands that read a store need none, and the others end and name the cause.
    @Test(.enabled(if: getuid() == 0, "takes the rights of another user")) func withoutThreads() throws {
      let prepared = try playground.shell(
        "chmod 755 . && chmod -R go=rX store && mkdir open && cp \(packstoreURL.path) open/packstore")
      try #require(prepared.status == 0, "\(prepared.errors)")
      func run(_ arguments: String) throws -> Run {
        try playground.shell(
          "timeout 600 setpriv --reuid=65534 --regid=65534 --clear-groups prlimit --nproc=1 open/packstore \(arguments)"
        )
      }
      #expect(try run("--version").output == "\(packstoreVersion)\n")
      let list = try playground.succeed("ls", "store").output
      #expect(try run("ls store").output == list)
      for arguments in [
        "help", "help add", "cat store \(list.split(separator: "\n")[0])",
      ] {
        let run = try run(arguments)
        #expect(run.status == 0 && !run.output.isEmpty, "\(arguments): \(run.errors)")
      }
      for arguments in ["pull store site", "add store folder --pack P", "ls http://127.0.0.1:1/site"] {
        let run = try run(arguments)
        #expect(
          run.status == 1 && run.errors.contains("cannot create threads"),
          "\(arguments): \(run.errors)")
      }
    }
  #endif

  /// Options that are named in an error are options of the command that is named.
  @Test func aLostRootLeadsToPublish() throws {
    try playground.packstore("publish", "store", "site", "--key", "key", "-q")
    try playground.remove("site/root")
    let run = try playground.packstore("unpublish", "site", "P", "--key", "key")
    #expect(run.status != 0 && run.errors.contains("packstore publish"), "\(run.errors)")
  }

  // MARK: - Output of other commands

  @Test func warningsAreObjects() throws {
    let run = try playground.packstore("publish", "store", "site", "--key", "key", "--json")
    #expect(run.status == 0)
    let warning = try #require(
      JSONSerialization.jsonObject(with: Data(run.errors.utf8)) as? NSDictionary, "\(run.errors)")
    #expect(warning["level"] as? String == "warning")
    #expect((warning["message"] as? String)?.hasPrefix("created a release key in 'key' and its") == true)
  }

  @Test func documentsListEveryStatusAndCode() throws {
    let help = try playground.packstore("--help").output
    let manual = try document("packstore.1")
    let page = try document("CommandLine.md")
    for status in ProgramStatus.allCases {
      #expect(help.firstMatch(of: try Regex("\\b\(status.rawValue)\\s+[a-z]")) != nil, "--help: \(status)")
      #expect(manual.contains("\n.TP\n.B \(status.rawValue)\n"), "packstore.1: \(status)")
      #expect(page.contains("\n| \(status.rawValue) | "), "CommandLine.md: \(status)")
    }
    for code in FailureCode.allCases {
      let row = "\n| `\(code.rawValue)` | \(code.exitStatus.rawValue) | \(code.canRetry ? "yes" : "no") | "
      #expect(page.contains(row), "CommandLine.md lacks \(row)")
    }
  }

  private func document(_ name: String) throws -> String {
    let docs = URL(fileURLWithPath: #filePath).deletingLastPathComponent().appendingPathComponent("../../Docs/\(name)")
    return try String(contentsOf: docs, encoding: .utf8)
  }
}
