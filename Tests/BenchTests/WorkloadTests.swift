import ArgumentParser
import Foundation
import Testing

@testable import packstore_bench

/// Every workload with little data: it runs, checks the bytes it reads, and has the expected rows.
@Suite(.serialized) struct WorkloadTests {
  @Test func readLarge() throws {
    let section = try measure(ReadLarge())
    let titles = section.comparisons.map(\.title)
    #expect(titles.count == 18)
    #expect(titles.contains("Compressible, first read, into memory that is there"))
    #expect(titles.contains("Incompressible, without a copy, first touch"))
    for comparison in section.comparisons {
      let isWhole = comparison.title.hasSuffix("read") || comparison.title.contains("first read")
      #expect(
        names(comparison) == (isWhole ? ["PackStore", "PackStore, level -1"] : ["PackStore"]) + ["plain files"],
        "\(comparison.title)")
      #expect(comparison.entries.contains { $0.isLimit && $0.name == comparison.limit }, "\(comparison.title)")
    }
  }

  @Test func readLargeOfOneKind() throws {
    let section = try measure(ReadLarge(), "--data", "incompressible")
    #expect(section.comparisons.allSatisfy { $0.title.hasPrefix("Incompressible") })
  }

  @Test(arguments: ["1", "2"])
  func readSmall(threads: String) throws {
    let section = try measure(ReadSmall(), "--threads", threads)
    #expect(section.comparisons.count == 3)
    for comparison in section.comparisons {
      #expect(
        names(comparison) == [
          "PackStore", "PackStore, C", "PackStore, level -1", "PackStore, shared frames", "plain files",
        ])
      #expect(comparison.entries.allSatisfy { $0.latencies != nil })
      #expect(comparison.limit != nil)
    }
  }

  @Test func lookUp() throws {
    let section = try measure(LookUp(counts: [10, 300]))
    #expect(section.comparisons.map(\.point?.size) == [10, 300])
    #expect(section.comparisons.allSatisfy { names($0) == ["PackStore", "PackStore, C", "plain files"] })
  }

  /// The index has the requested number of runs, otherwise there would be no rows.
  @Test func hostileNames() throws {
    let section = try measure(HostileNames(nameCount: 900, runCount: 4))
    let comparison = try #require(section.comparisons.last)
    #expect(comparison.title == "Hostile names, per look-up")
    #expect(
      names(comparison) == [
        "hostile names, 1 run", "hostile names, 4 runs", "honest names, 1 run", "honest names, 4 runs",
      ])
    #expect(comparison.absences.isEmpty)
  }

  @Test func hostileNamesShareAPlace() {
    let names = HostileNames(nameCount: 500, runCount: 1).chosenNames()
    #expect(Set(names).count == 500 && names.allSatisfy { $0.utf8.count == 16 })
    let buckets = UInt64(500 / 7 + 1)
    for name in names { #expect((Array(name.utf8).withUnsafeBytes(Checksums.sum) >> 32) * buckets >> 32 < 8) }
  }

  @Test func open() throws {
    let section = try measure(Open(counts: [10]))
    #expect(section.comparisons.map(\.quantity) == [.timePerOperation, .held, .held])
    #expect(section.comparisons.allSatisfy { names($0) == ["PackStore", "PackStore, C"] || $0.quantity == .held })
  }

  @Test func swap() throws {
    let section = try measure(Swap(counts: [101, 300]))
    #expect(section.comparisons.map(\.point?.size) == [101, 101, 300, 300, nil, nil])
    for comparison in section.comparisons.prefix(4) {
      #expect(names(comparison) == ["PackStore, durable", "PackStore, atomic"], "\(comparison.heading)")
      #expect(comparison.limit != nil && comparison.entries.allSatisfy { $0.latencies != nil })
    }
    for comparison in section.comparisons.suffix(2) {
      #expect(names(comparison) == ["reader, no swaps", "reader, durable swaps", "reader, atomic swaps"])
      #expect(comparison.entries.count == 6)
    }
  }

  @Test func list() throws {
    let section = try measure(List(counts: [3, 20]))
    #expect(section.comparisons.map(\.point?.size) == [3, 20])
    #expect(section.comparisons.allSatisfy { names($0) == ["PackStore", "PackStore, C", "plain files"] })
  }

  @Test(arguments: ["mixed", "game"])
  func scan(data: String) throws {
    let section = try measure(Scan(), "--data", data)
    #expect(section.comparisons.count == 2)
    #expect(
      section.comparisons.allSatisfy { names($0) == ["PackStore", "PackStore, sequential", "plain files"] })
  }

  @Test func ingest() throws {
    let section = try measure(Ingest())
    #expect(section.comparisons.map(\.title) == ["Store a folder", "Store a folder, synced", "Stored size"])
    #expect(
      section.comparisons.allSatisfy { names($0) == ["PackStore", "PackStore, sequential", "plain files"] })
    let sizes = section.comparisons[2]
    let stored = sizes.statistics(of: sizes.entries[0]).median
    let plain = sizes.statistics(of: sizes.entries[2]).median
    #expect(stored > 0 && stored < plain)
  }

  @Test func hash() throws {
    let section = try measure(Hash(lengths: [64, 300]))
    #expect(section.comparisons.map(\.point?.size) == [64, 64, 300, 300, nil])
    let supported = HashImplementation.supported
    for comparison in section.comparisons {
      let isSingle = comparison.title.hasSuffix("one message at a time")
      #expect(names(comparison) == supported.filter { !isSingle || $0.laneCount == 1 }.map(\.name))
      #expect(comparison.explanation.contains("PackStore uses \(HashImplementation.selected.name)."))
    }
  }

  @Test func aFolderOfTheUsersIsReadAndNotChanged() throws {
    let folder = try TemporaryFolder(in: nil)
    let content = Data(String(repeating: "some text\n", count: 200_000).utf8)
    try content.write(to: URL(fileURLWithPath: folder.path + "/large.txt"))
    try Data("small".utf8).write(to: URL(fileURLWithPath: folder.path + "/small.txt"))
    let large = try measure(ReadLarge(), "--folder", folder.path)
    #expect(large.comparisons.allSatisfy { $0.title.hasPrefix("Compressible") })
    let small = try measure(ReadSmall(), "--folder", folder.path)
    #expect(small.comparisons.count == 1)
    #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path).sorted() == ["large.txt", "small.txt"])
    #expect(try Data(contentsOf: URL(fileURLWithPath: folder.path + "/large.txt")) == content)
  }

  @Test func nothingIsLeftBehind() throws {
    let folder = try TemporaryFolder(in: nil)
    _ = try measure(Scan(), "--workspace", folder.path)
    #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path).isEmpty)
  }

  @Test func whoIsNotThereIsNamedWithTheReason() throws {
    let session = try session(["--only", "plain,missing"], adding: [MissingContestant()])
    defer { session.finish() }
    #expect(session.contestants.map(\.name) == ["plain files"])
    #expect(session.absences == [.init(name: "missing", reason: "not installed")])
  }

  @Test func namesMayBeginAndLeaveOutCommas() throws {
    let session = try session(["--only", "packstore c, plain"], adding: [])
    defer { session.finish() }
    #expect(Set(session.contestants.map(\.name)) == ["PackStore, C", "plain files"])
    #expect(throws: ValidationError.self) { try self.session(["--only", "packstore,unknown"], adding: []) }
  }

  @Test func wrongBytesAreFoundOut() throws {
    let session = try session([], adding: [LyingContestant()])
    defer { session.finish() }
    let report = try BenchmarkRun.measure(session, [ReadSmall()])
    #expect(report.hasFailures)
    for comparison in report.sections[0].comparisons {
      #expect(!names(comparison).contains("liar"))
      #expect(comparison.absences.contains { $0.name == "liar" && $0.reason.contains("WRONG BYTES") })
    }
  }

  @Test func memoryThatIsTakenIsSeen() throws {
    let heap = FilledHeap()
    let before = try #require(ProcessMemory.anonymousByteCount())
    // Enough to be visible although concurrent tests free memory.
    let blocks = (0..<65_536).map { _ in Buffer(byteCount: 4096) }
    let after = try #require(ProcessMemory.anonymousByteCount())
    withExtendedLifetime((heap, blocks)) { #expect(after - before >= blocks.count * 4096 / 2) }
  }

  // MARK: - Running

  private func measure(_ workload: any Workload, _ arguments: String...) throws -> Report.Section {
    let session = try session(arguments, adding: [])
    defer { session.finish() }
    let report = try BenchmarkRun.measure(session, [workload])
    #expect(!report.hasFailures, "\(report.markdown)")
    #expect(report.markdown.contains(workload.title))
    return try #require(report.sections.first)
  }

  private func session(_ arguments: [String], adding contestants: [any Contestant]) throws -> Session {
    let options = try BenchmarkOptions.parse(["--size", "4", "--repetitions", "1", "--quick"] + arguments)
    return try Session(options, contestants: OwnContestants.all + contestants)
  }

  private func names(_ comparison: Comparison) -> [String] {
    comparison.entries.filter { !$0.isLimit }.map(\.name)
  }
}

private struct MissingContestant: Contestant {
  let name = "missing"
  let abilities = Abilities.all
  let unavailability: String? = "not installed"

  func prepare(_ dataSet: DataSet, in workspace: String, threadCount: Int) throws {}

  func open(_ dataSet: DataSet, in workspace: String, threadCount: Int) throws -> any AssetReader {
    throw Unavailable("never asked")
  }
}

/// Reports the right length for every asset, and delivers other bytes.
private struct LyingContestant: Contestant {
  let name = "liar"
  let abilities: Abilities = [.read]

  func prepare(_ dataSet: DataSet, in workspace: String, threadCount: Int) throws {}

  func open(_ dataSet: DataSet, in workspace: String, threadCount: Int) throws -> any AssetReader {
    LyingReader(dataSet)
  }
}

private final class LyingReader: AssetReader {
  private let lengths: [String: Int]

  init(_ dataSet: DataSet) {
    lengths = Dictionary(uniqueKeysWithValues: dataSet.assets.map { ($0.path, $0.byteCount) })
  }

  func read(_ path: AssetPath, into memory: UnsafeMutableRawBufferPointer) throws -> Int {
    memory.initializeMemory(as: UInt8.self, repeating: 7)
    return lengths[path.string]!
  }

  func close() {}
}
