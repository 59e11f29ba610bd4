import Foundation
import Testing

@testable import packstore_bench

/// `packstore-bench update` with little data, by the program built with the tests.
@Suite struct UpdateTests {
  private let folder: TemporaryFolder
  private let old: String
  private let new: String

  init() throws {
    folder = try TemporaryFolder(in: nil)
    old = try folder.newFolder()
    new = try folder.newFolder()
    let content = Content.compressible
    for (version, isNew) in [(old, false), (new, true)] {
      let bytes = Buffer(byteCount: 400_000)
      content.fill(bytes.bytes, seed: 1)
      try Data(UnsafeRawBufferPointer(bytes.bytes)).write(to: URL(fileURLWithPath: version + "/level.wad"))
      try Data((isNew ? "new" : "old").utf8).write(to: URL(fileURLWithPath: version + "/settings.txt"))
    }
  }

  private func measure() throws -> UpdateReport {
    let work = try TemporaryFolder(in: folder.path)
    return try Update(packstore: PackStoreProgram(at: nil), in: work).measure(from: old, to: new)
  }

  @Test func eachWayIsMeasured() throws {
    let report = try measure()
    #expect(
      report.ways.map(\.name) == [
        "install the old version", "update by ranges", "update by a delta, fast", "update by a delta, default",
        "update by a delta, best",
      ])
    let (install, ranges, delta) = (report.ways[0], report.ways[1], report.ways[3])
    #expect(install.fetchedByteCount > 100_000)
    #expect(0 < ranges.fetchedByteCount && ranges.fetchedByteCount < install.fetchedByteCount / 4)
    #expect(0 < delta.fetchedByteCount && delta.fetchedByteCount < ranges.fetchedByteCount)
    #expect(ranges.requestCount ?? 0 > 0 && ranges.metadataByteCount ?? 0 > 0)
    #expect(report.markdown.contains("\n| update by a delta, default | "))
    #expect(!report.markdown.contains(folder.path))
    #expect(report.summary.count == 5 && report.summary[2].contains("without deltas"), "\(report.summary)")
    #expect(report.html.hasPrefix("<!DOCTYPE html>") && report.html.contains("update by a delta, default"))
    #expect(report.html.contains("<h1>An update with PackStore</h1>") && !report.html.contains(folder.path))
  }

  @Test func theFoldersAreNotChanged() throws {
    _ = try measure()
    #expect(try FileManager.default.contentsOfDirectory(atPath: new).sorted() == ["level.wad", "settings.txt"])
    #expect(try String(contentsOfFile: new + "/settings.txt", encoding: .utf8) == "new")
  }

  @Test func whatTheProgramRefusesIsSaid() throws {
    let packstore = try PackStoreProgram(at: nil)
    let error = #expect(throws: Unavailable.self) { try packstore.run("log", folder.path + "/none") }
    #expect(error?.reason == "packstore log: '\(folder.path)/none': the directory does not exist")
    #expect(throws: Unavailable.self) { try PackStoreProgram(at: folder.path + "/none") }
  }

  /// Without arguments the program prints help; wrong usage has a status of its own.
  @Test(arguments: [([], 0, true), (["none"], 2, false), (["update", "one"], 2, false), (["all", "--non"], 2, false)])
  func exitStatus(arguments: [String], status: Int32, printsHelp: Bool) throws {
    let process = Process(), pipe = Pipe()
    let tests = try #require(Bundle.main.executableURL).resolvingSymlinksInPath()
    process.executableURL = tests.deletingLastPathComponent().appendingPathComponent("packstore-bench")
    process.arguments = arguments
    process.standardOutput = pipe
    process.standardError = FileHandle.nullDevice
    try process.run()
    let text = String(decoding: pipe.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
    process.waitUntilExit()
    #expect(process.terminationStatus == status && text.contains("SUBCOMMANDS") == printsHelp)
  }
}
