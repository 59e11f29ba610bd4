import CPackStore
import CPackStoreTesting
import Foundation
import Testing

extension Core {
  /// A read that its caller stops.
  @Suite struct CancelledReadTests {
    private static let bytes: [UInt8] = {
      var random = Random(8)
      return random.prose(2_000_000)
    }()

    private static func open(_ home: TemporaryFolder, threads: UInt32) throws -> Snapshot {
      let path = home.path + "/store", source = try home.put(["prose": .file(bytes)], at: "source")
      try Store(path, create: true).commit { try $0.add("P", source) }
      return try Store(path, threads: threads).snapshot()
    }

    /// A caller that says no at the question numbered `last`.
    private final class Caller {
      var asked = 0
      let last: Int
      init(last: Int) { self.last = last }

      func read(_ snapshot: Snapshot, into memory: UnsafeMutableRawBufferPointer) throws -> pks_status {
        try status {
          try snapshot.withAsset("prose") { asset in
            try attempt {
              pks_asset_read_while(
                asset, 0, memory.baseAddress, memory.count,
                {
                  let caller = Unmanaged<Caller>.fromOpaque($0!).takeUnretainedValue()
                  caller.asked += 1
                  return caller.asked < caller.last
                }, Unmanaged.passUnretained(self).toOpaque(), $0)
            }
          }
        }
      }
    }

    /// Who says no is heard at once: nothing more is begun, and the caller is not asked again.
    @Test(arguments: [1, 4] as [UInt32], [1, 2, 5]) func saidNo(threads: UInt32, at question: Int) throws {
      let home = try TemporaryFolder(), snapshot = try Self.open(home, threads: threads)
      for _ in 0..<20 {
        let memory = UnsafeMutableRawBufferPointer.allocate(byteCount: Self.bytes.count, alignment: 16)
        defer { memory.deallocate() }
        let caller = Caller(last: question), result = try caller.read(snapshot, into: memory)
        // With help, all may be read before the question is reached.
        if result == PKS_OK {
          #expect(threads > 1 && question > 1 && caller.asked < question)
          #expect(UnsafeRawBufferPointer(memory).equals(Self.bytes[...]))
        } else {
          #expect(result == PKS_CANCELLED && caller.asked == question)
        }
        if question == 1 { #expect(result == PKS_CANCELLED) }
      }
    }

    /// Alone, a caller is asked before each batch: about once a frame.
    @Test func howOftenOneIsAsked() throws {
      let home = try TemporaryFolder(), snapshot = try Self.open(home, threads: 1)
      let frames = try IndexRun.all(in: home.path + "/store").reduce(0) { try $0 + $1.frames.count }
      let memory = UnsafeMutableRawBufferPointer.allocate(byteCount: Self.bytes.count, alignment: 16)
      defer { memory.deallocate() }
      let caller = Caller(last: .max)
      #expect(try caller.read(snapshot, into: memory) == PKS_OK)
      #expect((frames / 2...frames).contains(caller.asked), "\(caller.asked) times for \(frames) frames")
    }

    /// When a cancelled read returns, no thread writes to its memory any more.
    @Test func helpersHaveLeft() throws {
      let home = try TemporaryFolder(), snapshot = try Self.open(home, threads: 4)
      let memory = UnsafeMutableRawBufferPointer.allocate(byteCount: Self.bytes.count, alignment: 16)
      let other = UnsafeMutableRawBufferPointer.allocate(byteCount: Self.bytes.count, alignment: 16)
      defer {
        memory.deallocate()
        other.deallocate()
      }
      for round in 0..<60 {
        let caller = Caller(last: 1 + round % 4)
        _ = try caller.read(snapshot, into: memory)
        _ = memory.initializeMemory(as: UInt8.self, repeating: 0xA5)
        // A thread that lagged behind has time for it while this is read.
        #expect(try Caller(last: .max).read(snapshot, into: other) == PKS_OK)
        let isUntouched = memory.allSatisfyFast(0xA5)
        #expect(isUntouched, "round \(round)")
        #expect(UnsafeRawBufferPointer(other).equals(Self.bytes[...]))
        if !isUntouched { return }
      }
    }
  }
}

extension UnsafeMutableRawBufferPointer {
  /// Whether every byte is `byte`: the first is, and all are equal to their neighbours.
  fileprivate func allSatisfyFast(_ byte: UInt8) -> Bool {
    self[0] == byte && memcmp(baseAddress!, baseAddress! + 1, count - 1) == 0
  }
}
