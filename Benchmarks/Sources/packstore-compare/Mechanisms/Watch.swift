import ArgumentParser
import CPackStore
import Foundation
import PackStore

struct WatchCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "watch",
    abstract: "Check whether a store has a new generation, and open snapshots of an unchanged store.",
    discussion: """
      What it costs to notice that nothing happened: with the control file mapped, and read each time as on a network file \
      system.

        packstore-compare watch
      """
  )

  @OptionGroup var options: BenchmarkOptions

  func run() throws { try BenchmarkRun.run(options, [Watch()]) }
}

/// Noticing that a store did not move on.
struct Watch: Workload {
  let title = "Watching"
  private let count = 200_000

  func measure(_ session: Session, _ report: (Comparison) -> Void) throws {
    let dataSet = try session.dataSets.names(1_000)
    let path = PackStoreContestant.store(in: try session.forms.form(PackStoreContestant.c, dataSet).folder)
    let mapped = try WatchedStore(path, isMapped: true), read = try WatchedStore(path, isMapped: false)
    let store = try Store(at: FilePath(path), options: .readOnly)
    report(
      compare(
        session, "Is there a newer generation?",
        [
          turn("mapped, C", mapped.newestGeneration),
          turn("mapped, Swift") { try store.newestGeneration().rawValue },
          turn("read, C", read.newestGeneration),
          turn("pread of 16 bytes", isLimit: true, mapped.readSomeBytes),
        ]))
    report(
      compare(
        session, "Open and close a snapshot",
        [
          turn("mapped, C", mapped.openSnapshot),
          turn("mapped, Swift") { try store.makeSnapshot().generation.rawValue },
          turn("read, C", read.openSnapshot),
        ]))
  }

  private func turn(_ name: String, isLimit: Bool = false, _ body: @escaping () throws -> UInt64) -> Turn {
    Turn(name: name, isLimit: isLimit) {
      try Sample.of(operationCount: count) {
        var sum: UInt64 = 0
        for _ in 0..<count { sum &+= try body() }
        Sink.shared.take(Int(truncatingIfNeeded: sum))
        return 0
      }
    }
  }

  private func compare(_ session: Session, _ title: String, _ turns: [Turn]) -> Comparison {
    var comparison = Comparison(
      title: title, explanation: "\(grouped(count)) times on one thread, of a store that nothing writes to.",
      quantity: .timePerOperation)
    comparison.limit = turns.first { $0.isLimit }?.name
    comparison.take(turns, session.repetitions)
    return comparison
  }
}

/// A store opened by the core, with or without a mapped control file.
private final class WatchedStore {
  private let store: OpaquePointer
  private let control: CInt

  init(_ path: String, isMapped: Bool) throws {
    let file = path + "/CONTROL"
    control = open(file, O_RDONLY | O_CLOEXEC)
    // A file that every user may write to is not mapped.
    if !isMapped { chmod(file, 0o666) }
    defer { if !isMapped { chmod(file, 0o644) } }
    var store: OpaquePointer?
    guard control >= 0, pks_store_open(&store, path, nil, nil) == PKS_OK, let store else {
      throw Unavailable("cannot open a store")
    }
    self.store = store
  }

  deinit {
    pks_store_close(store)
    close(control)
  }

  func newestGeneration() throws -> UInt64 {
    var generation: UInt64 = 0
    guard pks_store_generation(&generation, store, nil) == PKS_OK else { throw Unavailable("cannot look") }
    return generation
  }

  func openSnapshot() throws -> UInt64 {
    var snapshot: OpaquePointer?
    guard pks_snapshot_open(&snapshot, store, nil) == PKS_OK, let snapshot else {
      throw Unavailable("cannot open a snapshot")
    }
    defer { pks_snapshot_close(snapshot) }
    return pks_snapshot_generation(snapshot)
  }

  /// The minimum cost of a check that calls the system.
  func readSomeBytes() throws -> UInt64 {
    var bytes: (UInt64, UInt64) = (0, 0)
    guard pread(control, &bytes, 16, 32) == 16 else { throw Unavailable("cannot read") }
    return bytes.0
  }
}
