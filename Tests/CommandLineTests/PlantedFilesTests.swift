import Foundation
import Testing

#if canImport(Darwin)
  import Darwin
#elseif canImport(Musl)
  import Musl
#else
  import Glibc
#endif

/// An intruder can replace an expected file of a site, a store or an input: by a link to another place, a pipe without
/// a writer, or a folder. All are refused by name, no command hangs, and nothing outside is written.
@Suite struct PlantedFilesTests {
  let playground = try! Playground()

  /// The shell that puts it in the place of `$f`.
  static let kinds = [
    "link": "cp \"$f\" victim 2>/dev/null || echo safe >victim; rm -rf \"$f\"; ln -s \"$PWD/victim\" \"$f\"",
    "pipe": "rm -rf \"$f\"; mkfifo \"$f\"",
    "folder": "rm -rf \"$f\"; mkdir \"$f\"",
  ]

  init() throws {
    try playground.write(noise(300_000), to: "folder/big")
    try playground.write(String(repeating: "one line\n", count: 9_000), to: "folder/text")
    try playground.packstore("add", "store", "folder", "--pack", "P", "-q")
  }

  private func publish() throws -> Run {
    try playground.packstore("publish", "store", "site", "--key", "key", "-q")
  }

  /// Runs a command that must end by itself; status 124 means that it did not.
  private func run(_ command: String) throws -> Run { try playground.shell("timeout 900 packstore \(command)") }

  /// Plants in a copy of `original`, and runs a command on it.
  private func plant(_ kind: String, at file: String, in original: String, then command: String) throws -> Run {
    let script = "rm -rf copy victim && cp -R \(original) copy && f='copy/\(file)' && { \(Self.kinds[kind]!); }"
    try #require(playground.shell(script).status == 0)
    let before = try playground.shell("cksum victim 2>/dev/null").output
    let result = try run(command)
    #expect(try playground.shell("cksum victim 2>/dev/null").output == before, "\(file) as \(kind): \(command)")
    return result
  }

  private func files(_ folder: String) throws -> [String] {
    try playground.shell("cd \(folder) && find . -type f | sed 's,^./,,' | sort").lines
  }

  @Test(arguments: ["link", "pipe", "folder"]) func filesOfASite(_ kind: String) throws {
    #expect(try publish().status == 0)
    var refusals = 0
    for file in try files("site") {
      let result = try plant(kind, at: file, in: "site", then: "pull \"client-$$\" copy -q")
      let isRead = ["root", "versions", "frames", "segments"].contains(String(file.split(separator: "/")[0]))
      guard isRead else { continue }
      refusals += 1
      #expect(result.status == 1, "\(file) as \(kind): \(result.status) \(result.errors)")
      #expect(result.errors.contains("copy/\(file)"), "\(file) as \(kind): \(result.errors)")
    }
    #expect(refusals >= 4)
  }

  @Test(arguments: ["link", "pipe", "folder"]) func filesThatThePublisherReadsOrWrites(_ kind: String) throws {
    #expect(try publish().status == 0)
    try playground.write("more", to: "folder/text")
    try playground.packstore("add", "store", "folder", "--pack", "P", "-q")
    for file in try files("site") + ["root.new", "deltas/draft.new"] {
      let result = try plant(kind, at: file, in: "site", then: "publish store copy --key key -q")
      #expect(result.status == 0 || result.status == 1, "\(file) as \(kind): \(result.errors)")
      #expect(try playground.shell("test -L copy/root").status == (kind == "link" && file == "root" ? 0 : 1))
    }
  }

  @Test(arguments: ["link", "pipe", "folder"]) func filesOfAPullersStore(_ kind: String) throws {
    #expect(try publish().status == 0)
    #expect(try run("pull client site -q").status == 0)
    #expect(
      try playground.shell(
        "sed 's/^\\(place [^ ]* [^ ]* [^ ]* [^ ]* [^ ]* [^ ]*\\) [0-9]*/\\1 1/' client/trust >t && mv t client/trust"
      ).status
        == 0)
    for file in ["trust", "trust.lock", "tmp/trust"] {
      let result = try plant(kind, at: file, in: "client", then: "pull copy site -q")
      if file == "tmp/trust", kind != "folder" {
        #expect(result.status == 0, "\(result.errors)")
        #expect(try playground.shell("test -f copy/trust -a ! -L copy/trust").status == 0)
      } else {
        #expect(result.status == 1, "\(file) as \(kind)")
        #expect(result.errors.contains("copy/\(file)"), "\(file) as \(kind): \(result.errors)")
      }
    }
  }

  /// A version that some devices are offered makes a client draw an id; a copy of its store draws again.
  @Test(arguments: ["link", "pipe", "folder"]) func filesOfAPullersDevice(_ kind: String) throws {
    #expect(try publish().status == 0)
    #expect(try run("pull client site -q").status == 0)
    try playground.write("more", to: "folder/text")
    #expect(try run("add store folder --pack P -q").status == 0)
    #expect(try run("publish store site --key key --no-offer -q").status == 0)
    #expect(try run("promote site P@2 --share 50% --key key -q").status == 0)
    for file in ["device", "device.lock", "tmp/device"] {
      let result = try plant(kind, at: file, in: "client", then: "pull copy site -q")
      if file == "tmp/device", kind != "folder" {
        #expect(result.status == 0, "\(result.errors)")
        #expect(try playground.shell("test -f copy/device -a ! -L copy/device").status == 0)
      } else {
        #expect(result.status == 1, "\(file) as \(kind)")
        #expect(result.errors.contains("copy/\(file)"), "\(file) as \(kind): \(result.errors)")
      }
    }
  }

  /// The files that a client keeps about a site on a web server.
  @Test(arguments: ["link", "pipe", "folder"]) func filesOfAPullersMemory(_ kind: String) throws {
    #expect(try publish().status == 0)
    let server = try WebServer.nginx(playground, serving: "")
    #expect(try run("pull client \(server.url)/site -q").status == 0)
    let memory = try #require(files("client/sites").first)
    try #require(playground.shell("cp -R client forgetful && rm -r forgetful/sites").status == 0)
    for (file, original) in [("sites/\(memory)", "client"), ("sites", "client"), ("tmp/site", "forgetful")] {
      let result = try plant(kind, at: file, in: original, then: "pull copy \(server.url)/site -q")
      if (file == "tmp/site" && kind != "folder") || (file == "sites" && kind == "folder") {
        #expect(result.status == 0, "\(file) as \(kind): \(result.errors)")
        #expect(try files("copy/sites") == [memory])
      } else {
        #expect(result.status == 1, "\(file) as \(kind)")
        #expect(result.errors.contains("copy/\(file)"), "\(file) as \(kind): \(result.errors)")
      }
    }
  }

  /// Inputs that a person names may be links; pipes, folders and devices are refused.
  @Test(arguments: ["link", "pipe", "folder"]) func inputs(_ kind: String) throws {
    try playground.write("another", to: "folder/text")
    try playground.packstore("add", "store", "folder", "--pack", "P", "-q")
    try #require(
      playground.shell(
        "mkdir in && packstore export store P -o in/archive --key in/key --new-key -q"
          + " && packstore delta store P@1 P@2 -o in/delta --key in/key -q"
      ).status == 0)
    try #require(
      playground.shell("cp -R store old && packstore rollback old P -q && packstore unpin old P -q").status == 0)
    for (file, command) in [
      ("archive", "import \"client-$$\" copy/archive -q"),
      ("delta", "apply old copy/delta --adopt --allow-unsigned -q"),
      ("key", "export store P -o out --key copy/key -q"),
    ] {
      let result = try plant(kind, at: file, in: "in", then: command)
      guard kind != "link" else {
        #expect(result.status == 0, "\(file): \(result.errors)")
        continue
      }
      // A folder can be imported, once the pack has a name.
      let isFolder = file == "archive" && kind == "folder"
      #expect(result.status == (isFolder ? 2 : 1), "\(file) as \(kind): \(result.status)")
      #expect(result.errors.contains(isFolder ? "--pack" : file), "\(file) as \(kind): \(result.errors)")
    }
  }
}
