import Foundation

/// Chunks of both versions in one store. The client fetches new chunks, and the whole index.
struct CasyncUpdate: UpdateParticipant {
  let name = "casync, zstd"
  private let casync = Program("casync")

  var programs: [Program] { [casync] }

  func measure(_ trial: UpdateTrial, in folder: String, _ report: (UpdateRow) -> Void) throws {
    let store = "\(folder)/store.castr"
    func make(_ index: String, _ source: String) throws -> ProgramUsage {
      try trial.measure(casync, ["make", "--compression=zstd", "--store=\(store)", "\(folder)/\(index)", source]).usage
    }
    func extract(_ index: String, to target: String, _ options: String...) throws -> ProgramUsage {
      let arguments = ["--store=\(store)"] + options + ["\(folder)/\(index)", "\(folder)/\(target)"]
      return try trial.measure(casync, ["extract"] + arguments).usage
    }
    _ = try make("old.caidx", trial.pair.from)
    let before = try FolderState(store)
    let built = try make("new.caidx", trial.pair.to)
    let chunks = try FolderState(store).byteCountWritten(since: before)
    let index = try fileByteCount("\(folder)/new.caidx")
    _ = try extract("old.caidx", to: "old")
    let applied = try extract("new.caidx", to: "new", "--seed=\(folder)/old")
    report(
      UpdateRow(
        key: "casync", name: name, byteCount: chunks + index, metadataByteCount: index,
        publishedByteCount: chunks + index, build: built, apply: applied,
        keptByteCount: try FolderState("\(folder)/new").byteCount))
  }
}

/// One file of chunks for each version. The client fetches the header and the chunks that it lacks.
struct ZchunkUpdate: UpdateParticipant {
  let name = "zchunk"
  private let zck = Program("zck")
  private let size = Program("zck_delta_size")

  var programs: [Program] { [zck, size, Program("tar")] }

  func measure(_ trial: UpdateTrial, in folder: String, _ report: (UpdateRow) -> Void) throws {
    try SizeLimit(byteCount: 600_000_000, reason: "it would take minutes").check(trial)
    let (old, new) = ("\(folder)/old.zck", "\(folder)/new.zck")
    _ = try trial.measure(zck, ["-o", old, trial.oldArchive()])
    let built = try trial.measure(zck, ["-o", new, trial.newArchive()]).usage
    let answer = try trial.measure(size, [old, new]).output
    guard let byteCount = Self.downloadByteCount(in: answer) else {
      throw ProgramFailure(description: "zck_delta_size: says nothing of a download")
    }
    report(
      UpdateRow(
        key: "zchunk", name: name, byteCount: byteCount, publishedByteCount: try fileByteCount(new), build: built))
  }

  /// Of `Would download 18727513 of 24174819 bytes`.
  static func downloadByteCount(in text: String) -> Int? {
    text.firstMatch(of: /Would download (\d+) of \d+ bytes/).flatMap { Int($0.1) }
  }
}

/// Blocks of a file at any place of another, found by the client, which fetches the rest by ranges.
struct ZsyncUpdate: UpdateParticipant {
  let name = "zsync, gzip --rsyncable"
  private let zsync = Program("zsync")
  private let zsyncmake = Program("zsyncmake")
  private let gzip = Program("gzip")

  var programs: [Program] { [zsync, zsyncmake, gzip, Program("tar")] }
  var version: String { zsync.version("-V") }

  func measure(_ trial: UpdateTrial, in folder: String, _ report: (UpdateRow) -> Void) throws {
    try SizeLimit.slow.check(trial)
    let site = "\(folder)/site"
    try FileManager.default.createDirectory(atPath: site, withIntermediateDirectories: false)
    // Compressed in the served folder: gzip writes its output next to its input.
    try FileManager.default.copyItem(atPath: trial.newArchive(), toPath: "\(site)/new.tar")
    var built = try trial.measure(gzip, ["-9", "-n", "--rsyncable", "new.tar"], in: site).usage
    built =
      built
      + (try trial.measure(zsyncmake, ["-C", "-o", "new.zsync", "-u", "new.tar.gz", "new.tar.gz"], in: site).usage)

    let server = try FileServer(serving: site)
    defer { server.stop() }
    let old = try trial.oldArchive()
    let applied = try trial.measure(
      zsync, ["-q", "-i", old, "-o", "made.tar", server.url(of: "new.zsync")], in: folder
    ).usage
    let exchanges = server.takeExchanges()
    try UpdateTrial.expectEqual("\(folder)/made.tar", trial.newArchive())
    func sent(_ exchanges: some Sequence<FileServer.Exchange>) -> Int { exchanges.reduce(0) { $0 + $1.sentByteCount } }
    report(
      UpdateRow(
        key: "zsync", name: name, byteCount: sent(exchanges),
        metadataByteCount: sent(exchanges.filter { $0.path == "new.zsync" }), requestCount: exchanges.count,
        publishedByteCount: try FolderState(site).byteCount, build: built, apply: applied,
        keptByteCount: try fileByteCount("\(folder)/made.tar")))
  }
}
