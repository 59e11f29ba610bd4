import CPackStore
import CPackStoreTesting
import Foundation
import Testing

extension Core {
  /// Threads on the real file system: readers never wait, never break, and see one version or another, whole.
  @Suite struct ConcurrencyTests {
    private static let folders: [Folder] = (0..<3).map { version in
      var random = Random(UInt64(version)), folder: Folder = [:]
      for number in 0..<12 { folder["f\(number)"] = .file(Array("version \(version) ".utf8) + random.text(3_000)) }
      folder["noise"] = .file(random.bytes(80_000))
      folder["of \(version)"] = .file("\(version)")
      return folder
    }

    /// What threads found, behind a lock.
    private final class Findings: @unchecked Sendable {
      private let lock = NSLock()
      private var problems: [String] = []
      private var isOver = false

      func note(_ problem: String) { lock.withLock { problems.append(problem) } }
      func finish() { lock.withLock { isOver = true } }
      var all: [String] { lock.withLock { problems } }
      var hasFinished: Bool { lock.withLock { isOver } }

      func run(_ body: () throws -> Void) {
        do { try body() } catch { note("\(error)") }
      }
    }

    @Test func readersWhileVersionsSwap() throws {
      let home = try TemporaryFolder(), findings = Findings(), rounds = 24
      let sources = try Self.folders.indices.map { try home.put(Self.folders[$0], at: "source\($0)") }
      let path = home.path + "/store"
      let shared = try Store(path, create: true)
      try shared.commit { try $0.add("p", sources[0]) }
      DispatchQueue.concurrentPerform(iterations: 4) { thread in
        findings.run {
          if thread == 0 {
            defer { findings.finish() }
            let store = try Store(path)
            for round in 1...rounds {
              try store.commit(round % 3 == 0 ? PKS_ATOMIC : PKS_DURABLE, keep: 1) {
                try $0.add("p", sources[round % 3])
              }
            }
          } else {
            let store = thread == 1 ? try Store(path) : shared
            var last: UInt64 = 0, reads = 0
            repeat {
              let snapshot = try store.snapshot()
              let content = try snapshot.state()["p"]?.content
              if !Self.folders.contains(where: { $0 == content }) {
                findings.note("a mixture at generation \(snapshot.generation)")
              }
              if snapshot.generation < last { findings.note("back from \(last) to \(snapshot.generation)") }
              last = snapshot.generation
              reads += 1
            } while !findings.hasFinished || reads < 3
          }
        }
      }
      #expect(findings.all == [])
      #expect(try shared.snapshot().generation == UInt64(rounds + 2))
      #expect(try shared.snapshot().faults(deep: true) == [])
      #expect(try home.list("store/tmp") == [])
    }

    /// What no version needed when it was staged on may be collected before the commit: then it is staged again.
    private static func commitUntilItLands(_ store: Store, _ stage: (Transaction) throws -> Void) throws {
      while true {
        do {
          try store.commit { try stage($0) }
          return
        } catch let failure as Failure where failure.status == PKS_CONFLICT {
          continue
        }
      }
    }

    /// Writers of different packs stage and commit at once: all land.
    @Test func writersOfDifferentPacks() throws {
      let home = try TemporaryFolder(), findings = Findings()
      let sources = try Self.folders.indices.map { try home.put(Self.folders[$0], at: "source\($0)") }
      let path = home.path + "/store"
      let shared = try Store(path, create: true, threads: 2)
      DispatchQueue.concurrentPerform(iterations: 4) { thread in
        findings.run {
          let store = thread % 2 == 0 ? shared : try Store(path, threads: 2)
          for round in 0..<5 {
            try Self.commitUntilItLands(store) {
              try $0.add("pack-\(thread)", sources[(thread + round) % 3], priority: Int32(round))
            }
          }
        }
      }
      #expect(findings.all == [])
      let state = try shared.state()
      #expect(state.count == 4)
      for thread in 0..<4 {
        #expect(state["pack-\(thread)"] == PackState(priority: 4, version: 5, content: Self.folders[(thread + 4) % 3]))
      }
      #expect(try shared.snapshot().faults(deep: true) == [])
      #expect(try home.list("store/tmp") == [])
    }

    /// Of several writers of one pack each attempt lands or is a conflict, never something else; versions count what landed.
    @Test func writersOfOnePack() throws {
      let home = try TemporaryFolder(), findings = Findings(), landed = Counter()
      let sources = try (0..<12).map { try home.put(["f": .file("\($0)")], at: "source\($0)") }
      let path = home.path + "/store"
      let shared = try Store(path, create: true)
      DispatchQueue.concurrentPerform(iterations: 3) { thread in
        findings.run {
          for round in 0..<4 {
            let result = try status { try shared.commit { try $0.add("p", sources[4 * thread + round]) } }
            if result == PKS_OK {
              landed.add()
            } else if result != PKS_CONFLICT {
              findings.note("status \(result.rawValue)")
            }
          }
        }
      }
      #expect(findings.all == [])
      #expect(landed.count >= 4)
      #expect(try shared.state()["p"]?.version == UInt64(landed.count))
    }

    private final class Counter: @unchecked Sendable {
      private let lock = NSLock()
      private var value = 0
      func add() { lock.withLock { value += 1 } }
      var count: Int { lock.withLock { value } }
    }

    @Test func noWait() throws {
      let home = try TemporaryFolder(), source = try home.put(["f": .file("1")], at: "source")
      let store = try Store(home.path + "/store", create: true)
      let vfs = pks_vfs_posix()
      var root: pks_vfs_file = -1, lock: pks_vfs_file = -1
      #expect(vfs.pointee.open_root(vfs.pointee.context, home.path + "/store", false, &root) == 0)
      #expect(vfs.pointee.open(vfs.pointee.context, root, "LOCK", PKS_VFS_OPEN_LOCK, &lock) == 0)
      defer {
        vfs.pointee.close(vfs.pointee.context, lock)
        vfs.pointee.close(vfs.pointee.context, root)
      }
      var wait = pks__wait(is_refused: true, context: nil, goes_on: nil)
      try attempt { pks__lock_writer(vfs, lock, &wait, $0) }
      let transaction = try store.begin(noWait: true)
      try transaction.add("p", source)
      do {
        _ = try transaction.commit()
        Issue.record("the lock was held")
      } catch let failure as Failure {
        #expect(failure.status == PKS_BUSY && failure.needed == UInt64(ProcessInfo.processInfo.processIdentifier))
      }
      pks__unlock_writer(vfs, lock)
      try store.commit { try $0.add("p", source) }
      #expect(try home.list("store/tmp") == [])
    }

    /// Collection unlinks what dropped versions had to themselves, and nothing that a snapshot still shows.
    @Test func collection() throws {
      let home = try TemporaryFolder()
      let sources = try Self.folders.indices.map { try home.put(Self.folders[$0], at: "source\($0)") }
      let store = try Store(home.path + "/store", create: true)
      try store.commit { try $0.add("p", sources[0]) }
      let first = Set(try home.list("store/segments"))
      var snapshot: Snapshot? = try store.snapshot()
      for round in 1...4 { try store.commit(keep: 1) { try $0.add("p", sources[1 + round % 2]) } }
      #expect(Set(try home.list("store/segments")).isSuperset(of: first))
      #expect(try snapshot?.state()["p"]?.content == Self.folders[0])
      snapshot = nil
      for priority in 1...2 as ClosedRange<Int32> { try store.commit { try $0.prioritise("p", priority) } }
      #expect(Set(try home.list("store/segments")).isDisjoint(with: first))
      #expect(try store.snapshot().faults(deep: true) == [])
    }
  }
}
