import Foundation

/// A program that makes a patch of two files, and a program that applies it.
struct PatchProgram: UpdateParticipant {
  let name: String
  let key: String
  let builder: Program
  let applier: Program
  var limit: SizeLimit?
  var versionArgument = "--version"
  let build: @Sendable (_ old: String, _ new: String, _ patch: String) -> [String]
  let apply: @Sendable (_ old: String, _ patch: String, _ new: String) -> [String]

  var programs: [Program] { [builder, applier, Program("tar")] }
  var version: String { builder.version(versionArgument) }

  func measure(_ trial: UpdateTrial, in folder: String, _ report: (UpdateRow) -> Void) throws {
    try limit?.check(trial)
    let (old, new) = try (trial.oldArchive(), trial.newArchive())
    let (patch, made) = ("\(folder)/patch", "\(folder)/made.tar")
    let built = try trial.measure(builder, build(old, new, patch)).usage
    let applied = try trial.measure(applier, apply(old, patch, made)).usage
    try UpdateTrial.expectEqual(made, new)
    report(
      UpdateRow(
        key: key, name: name, byteCount: try fileByteCount(patch), build: built, apply: applied,
        keptByteCount: try fileByteCount(made)))
  }
}

extension PatchProgram {
  /// All of them are given the versions as tar files.
  static let all: [Self] = [
    zstd(level: 3), zstd(level: 19),
    Self(
      name: "xdelta3 -9", key: "xdelta3-9", builder: Program("xdelta3"), applier: Program("xdelta3"),
      limit: .slow, versionArgument: "-V",
      // Else it looks no further than 64 MB for old bytes.
      build: { old, new, patch in ["-9", "-e", "-f", "-q", "-B", window(old), "-s", old, new, patch] },
      apply: { old, patch, new in ["-d", "-f", "-q", "-B", window(old), "-s", old, patch, new] }),
    Self(
      name: "bsdiff", key: "bsdiff", builder: Program("bsdiff"), applier: Program("bspatch"),
      limit: SizeLimit(byteCount: 100_000_000, reason: "it would take minutes, and 17 times their memory"),
      build: { [$0, $1, $2] }, apply: { [$0, $2, $1] }),
    hdiffPatch(key: "hdiffpatch-m6", "-m-6"), hdiffPatch(key: "hdiffpatch-s64", "-s-64"),
  ]

  private static func zstd(level: Int) -> Self {
    // The window covers the old version automatically; the decoder needs permission to use that much memory.
    Self(
      name: "zstd -\(level) --patch-from", key: "zstd-\(level)-patch", builder: Program("zstd"),
      applier: Program("zstd"), limit: level < 10 ? nil : .slow,
      build: { old, new, patch in ["-\(level)", "-q", "-f", "--patch-from=\(old)", new, "-o", patch] },
      apply: { old, patch, new in ["-d", "-q", "-f", "--long=31", "--patch-from=\(old)", patch, "-o", new] })
  }

  private static func hdiffPatch(key: String, _ way: String) -> Self {
    Self(
      name: "HDiffPatch \(way), zstd 21", key: key, builder: Program("hdiffz"), applier: Program("hpatchz"),
      versionArgument: "-v",
      build: { [way, "-c-zstd-21-24", "-f", $0, $1, $2] }, apply: { ["-f", $0, $1, $2] })
  }

  /// xdelta3 takes powers of two, up to 2 GiB.
  private static func window(_ file: String) -> String {
    let byteCount = (try? fileByteCount(file)) ?? 0
    var window = 64 << 20
    while window < byteCount, window < 1 << 30 { window *= 2 }
    return String(window)
  }
}

/// The complete new version: the cost of an update without any of the other methods.
struct WholeVersion: UpdateParticipant {
  let name = "whole version, zstd -19"
  private let zstd = Program("zstd")

  var programs: [Program] { [zstd, Program("tar")] }

  func measure(_ trial: UpdateTrial, in folder: String, _ report: (UpdateRow) -> Void) throws {
    try SizeLimit.slow.check(trial)
    let new = try trial.newArchive()
    let (file, made) = ("\(folder)/new.tar.zst", "\(folder)/new.tar")
    let threads = ProcessInfo.processInfo.activeProcessorCount
    let built = try trial.measure(zstd, ["-19", "-T\(threads)", "-q", new, "-o", file]).usage
    let applied = try trial.measure(zstd, ["-d", "-q", file, "-o", made]).usage
    try UpdateTrial.expectEqual(made, new)
    report(
      UpdateRow(
        key: "whole-zstd-19", name: name, byteCount: try fileByteCount(file), build: built, apply: applied,
        keptByteCount: try fileByteCount(made)))
  }
}
