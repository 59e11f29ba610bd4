import CPackStore
import CPackStoreTesting
import Foundation
import Testing

extension Core {
  /// A crew: idle threads that lend a hand, or not.
  @Suite(.timeLimit(.minutes(40))) struct ThreadsTests {
    private final class Crew: @unchecked Sendable {
      let raw: OpaquePointer
      init(_ threads: UInt32) { raw = pks__crew_create(threads)! }
      deinit { pks__crew_destroy(raw) }
    }

    /// An effort, in the core's form with what it does behind it.
    private final class Effort: @unchecked Sendable {
      private struct Memory {
        var effort: pks__effort
        var owner: UnsafeMutableRawPointer
      }

      private let memory = UnsafeMutablePointer<Memory>.allocate(capacity: 1)
      private let work: @Sendable () -> Void
      private let crew: Crew
      let helpers = Tally(), inside = Tally(), most = Peak()

      init(_ crew: Crew, _ work: @escaping @Sendable () -> Void) {
        self.crew = crew
        self.work = work
        let run: @convention(c) (UnsafeMutablePointer<pks__effort>?) -> Void = { effort in
          let owner = UnsafeMutableRawPointer(effort!).assumingMemoryBound(to: Memory.self).pointee.owner
          Unmanaged<Effort>.fromOpaque(owner).takeUnretainedValue().help()
        }
        memory.initialize(
          to: Memory(
            effort: pks__effort(run: run, next: nil, wanted: 0, helping: 0),
            owner: Unmanaged.passUnretained(self).toOpaque()))
      }

      deinit {
        // A helper that came late would find this.
        memset(memory, 0xA5, MemoryLayout<Memory>.size)
        memory.deallocate()
      }

      private var core: UnsafeMutablePointer<pks__effort> {
        UnsafeMutableRawPointer(memory).assumingMemoryBound(to: pks__effort.self)
      }

      private func help() {
        helpers.add()
        most.note(inside.add())
        work()
        inside.add(-1)
      }

      func call(wanted: UInt32) { pks__crew_call(crew.raw, core, wanted) }
      func dismiss() { pks__crew_dismiss(crew.raw, core) }

      /// As a reader does: call, work, dismiss.
      func perform(wanted: UInt32) {
        call(wanted: wanted)
        work()
        dismiss()
      }
    }

    /// An effort whose helpers stay with it until they are let go.
    private final class Held {
      let effort: Effort
      private let go: DispatchSemaphore, count: UInt32

      /// Calls for help, and waits until all of it is there.
      init(_ crew: Crew, helpers count: UInt32) {
        let came = DispatchSemaphore(value: 0), go = DispatchSemaphore(value: 0)
        effort = Effort(crew) {
          came.signal()
          go.wait()
        }
        (self.go, self.count) = (go, count)
        effort.call(wanted: count)
        for _ in 0..<count { came.wait() }
      }

      func letGo() { for _ in 0..<count { go.signal() } }
    }

    private final class Peak: @unchecked Sendable {
      private let lock = NSLock()
      private var highest = 0
      func note(_ value: Int) { lock.withLock { highest = max(highest, value) } }
      var value: Int { lock.withLock { highest } }
    }

    /// Work in numbered pieces, each of which one thread does.
    private final class Pieces: @unchecked Sendable {
      private let next = Tally(), lock = NSLock(), count: Int
      private var done: [Int]  // behind the lock, its length too
      init(_ count: Int) {
        self.count = count
        done = Array(repeating: 0, count: count)
      }

      func work() {
        while true {
          let piece = next.add() - 1
          guard piece < count else { return }
          lock.withLock { done[piece] += 1 }
        }
      }

      var isDoneOnce: Bool { lock.withLock { done.allSatisfy { $0 == 1 } } }
    }

    /// However many helpers are wanted, each piece is done once, and no more help than there are threads, or are wanted.
    @Test(arguments: [0, 1, 3] as [UInt32], [0, 1, 2, 3, 100, .max] as [UInt32])
    func everyPieceIsDone(threads: UInt32, wanted: UInt32) {
      let crew = Crew(threads)
      #expect(pks__crew_thread_count(crew.raw) == threads)
      for _ in 0..<40 {
        let pieces = Pieces(200), effort = Effort(crew) { pieces.work() }
        effort.perform(wanted: wanted)
        #expect(pieces.isDoneOnce && effort.inside.value == 0)
        #expect(effort.most.value <= Int(min(threads, wanted)) && effort.helpers.value <= Int(min(threads, wanted)))
      }
    }

    /// A crew without threads is no help and no hindrance; one that was never called has started nothing.
    @Test func withoutThreads() {
      _ = Crew(4)
      let crew = Crew(0), effort = Effort(crew) {}
      for _ in 0..<3 {
        effort.call(wanted: 5)
        effort.dismiss()
      }
      #expect(effort.helpers.value == 0)
      pks__crew_destroy(nil)
    }

    /// Help does come, if one waits for it.
    @Test func helpComes() {
      let crew = Crew(2), held = Held(crew, helpers: 2), effort = held.effort
      #expect(effort.inside.value == 2)
      held.letGo()
      effort.dismiss()
      #expect(effort.inside.value == 0 && effort.helpers.value == 2)
    }

    /// An effort that is dismissed while all threads are busy elsewhere is never begun; its memory may go.
    @Test func dismissedBeforeHelpCame() {
      let crew = Crew(1), busy = Held(crew, helpers: 1)
      for _ in 0..<10 {
        let late = Effort(crew) { Issue.record("no thread was free") }
        late.call(wanted: 1)
        late.dismiss()
        #expect(late.helpers.value == 0)
      }
      busy.letGo()
      busy.effort.dismiss()
      let after = Pieces(50), effort = Effort(crew) { after.work() }
      effort.perform(wanted: 1)
      #expect(after.isDoneOnce)
    }

    /// Of several efforts one may be dismissed while the others wait for help: they still get it.
    @Test func dismissedOutOfOrder() {
      let crew = Crew(1), busy = Held(crew, helpers: 1), helped = DispatchSemaphore(value: 0)
      let waiting = (0..<3).map { number in
        Effort(crew) {
          if number == 1 { Issue.record("it was dismissed") }
          helped.signal()
        }
      }
      for effort in waiting { effort.call(wanted: 1) }
      waiting[1].dismiss()
      busy.letGo()
      helped.wait()
      helped.wait()
      for effort in [waiting[0], waiting[2], busy.effort] { effort.dismiss() }
      #expect(waiting.map { $0.helpers.value } == [1, 0, 1])
    }

    /// Callers on many threads, whose work itself calls for help, all come to an end.
    @Test func nestedCallersOnManyThreads() {
      let crew = Crew(3), findings = Findings()
      DispatchQueue.concurrentPerform(iterations: 8) { thread in
        for round in 0..<25 {
          let outer = Pieces(12), inner = Tally()
          let effort = Effort(crew) {
            let pieces = Pieces(20), nested = Effort(crew) { pieces.work() }
            nested.perform(wanted: 2)
            if !pieces.isDoneOnce { findings.note("inner work of thread \(thread), round \(round)") }
            inner.add()
            outer.work()
          }
          effort.perform(wanted: 3)
          if !outer.isDoneOnce || inner.value != effort.helpers.value + 1 {
            findings.note("thread \(thread), round \(round)")
          }
        }
      }
      #expect(findings.all == [])
    }
  }
}
