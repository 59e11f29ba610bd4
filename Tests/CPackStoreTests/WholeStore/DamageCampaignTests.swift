import CPackStore
import CPackStoreTesting
import Foundation
import Testing

extension Core {
  /// Every bit, every length and every sector of a small store. Damage is found, or it is harmless for a reason that is
  /// asserted by its place; in no case does a wrong byte come out, nor is anything left out unsaid.
  @Suite struct DamageCampaignTests {
    private static let store = Result { try SmallStore() }

    // MARK: Campaigns

    /// One flipped bit. All of them at length; otherwise one in 101, which meets each bit of a byte alike.
    @Test func everyBit() throws {
      let store = try Self.store.get(), step = Campaign.scale > 1 ? 1 : 101
      let report = store.examine(count: (8 * store.size - 1) / step + 1) { disk, number in
        let bit = (number * step + Int(Campaign.seed % UInt64(step))) % (8 * store.size)
        let (path, offset) = store.place(ofByte: bit / 8)
        return Damage(path: path, bytes: offset..<offset + 1, name: "bit \(bit % 8)") {
          #expect(sim_corrupt(disk.raw, path, UInt64(offset), 1 << UInt8(bit % 8)) == 0)
        }
      }
      print("everyBit: \(store.size) bytes, \(report)")
      #expect(report.problems.isEmpty, "seed \(Campaign.seed)")
      #expect(report.harmless.count == Reason.allCases.count)
    }

    /// A file that ends early, at every length.
    @Test func everyLength() throws {
      let store = try Self.store.get(), step = Campaign.scale > 1 ? 1 : 61
      let report = store.examine(count: (store.size - 1) / step + 1) { disk, number in
        let (path, length) = store.place(ofByte: (number * step + Int(Campaign.seed % UInt64(step))) % store.size)
        return Damage(path: path, bytes: length..<store.files[path]!.count, name: "cut off") {
          sim_put_file(disk.raw, path, store.files[path]!, length)
        }
      }
      print("everyLength: \(report)")
      #expect(report.problems.isEmpty, "seed \(Campaign.seed)")
    }

    /// A sector of 512 bytes that was lost, and two of one file that were swapped: neighbours, and all pairs at length.
    @Test func everySector() throws {
      let store = try Self.store.get(), sectors = store.sectors()
      var pairs: [(String, Int, Int?)] = sectors.map { ($0.path, $0.offset, nil) }
      for (place, first) in sectors.enumerated() {
        for second in sectors[(place + 1)...] where second.path == first.path {
          if Campaign.scale > 1 || second.offset == first.offset + 512 {
            pairs.append((first.path, first.offset, second.offset))
          }
        }
      }
      let chosen = pairs
      let report = store.examine(count: chosen.count) { disk, number in
        let (path, first, second) = chosen[number]
        var bytes = store.files[path]!
        let end = min(first + 512, bytes.count)
        if let second {
          let length = min(512, bytes.count - second)
          for at in 0..<length { bytes.swapAt(first + at, second + at) }
        } else {
          for at in first..<end { bytes[at] = 0 }
        }
        guard bytes != store.files[path]! else { return nil }
        return Damage(path: path, bytes: first..<end, other: second, name: second == nil ? "zeroed" : "swapped") {
          sim_put_file(disk.raw, path, bytes, bytes.count)
        }
      }
      print("everySector: \(sectors.count) sectors, \(report)")
      #expect(report.problems.isEmpty)
    }

    /// Copies of control slots, two at once and more, each damaged in a way of its own: a bit, a sector, a page. As long as a
    /// slot is left, the newest generation is shown; and of what is lost beyond that, the store says so.
    @Test func everySetOfControlCopies() throws {
      let store = try Self.store.get(), control = store.files["/store/CONTROL"]!
      let masks = (1..<16).filter { $0.nonzeroBitCount > 1 }, rounds = 40 * Int(Campaign.scale)
      let report = store.examine(count: masks.count * rounds) { disk, number in
        var random = Random(Campaign.seed &+ UInt64(number)), bytes = control
        let mask = masks[number % masks.count]
        for (index, copy) in ControlFile.copies.enumerated() where mask >> index & 1 == 1 {
          let begin = copy.offset + 512 * (random.chance(1, in: 4) ? random.below(8) : 0)
          switch random.below(4) {
          case 0: for at in begin..<begin + 512 { bytes[at] = UInt8(random.below(256)) }
          case 1: for at in copy.offset..<copy.offset + ControlFile.copySize { bytes[at] = 0 }
          default: bytes[begin + random.below(512)] ^= 1 << UInt8(random.below(8))
          }
        }
        let changed = bytes
        return Damage(path: "/store/CONTROL", bytes: 0..<bytes.count, name: "copies \(mask)", leavesSlot: mask != 15) {
          sim_put_file(disk.raw, "/store/CONTROL", changed, changed.count)
        }
      }
      print("everySetOfControlCopies: \(report)")
      #expect(report.problems.isEmpty, "seed \(Campaign.seed)")
      #expect(report.refused == rounds && report.reported == (masks.count - 1) * rounds)
    }

    /// A flipped bit in each byte of the cache's small files, and in some of a large one: what is read stays right, as the
    /// file is made again or the asset is decoded.
    @Test func cacheFiles() throws {
      let disk = Disk(seed: 8), option = Store.CacheOption(folder: "/cache", budget: 64 << 20)
      var random = Random(Campaign.seed)
      let bytes = random.prose(1_200_000)
      disk.put(["large": .file(bytes), "small": .file("small")], at: "/source")
      try Store(disk, create: true).commit { try $0.add("pack", "/source") }
      func contents() throws -> Bool { try Store(disk, cache: option).snapshot().contents("large").equals(bytes) }
      #expect(try contents())
      let paths = disk.list("/cache").filter { !$0.hasSuffix("/") }.map { "/cache/\($0)" }
      let files = Dictionary(uniqueKeysWithValues: paths.map { ($0, disk.read($0)!) })
      #expect(paths.contains { $0.hasSuffix(".sums") } && files.values.contains(bytes))
      var made = 0
      for (path, whole) in files.sorted(by: { $0.key < $1.key }) {
        for number in 0..<min(whole.count, 40 * Int(Campaign.scale)) {
          let at = whole.count <= 40 * Int(Campaign.scale) ? number : random.below(whole.count), bit = random.below(8)
          #expect(sim_corrupt(disk.raw, path, UInt64(at), 1 << UInt8(bit)) == 0)
          #expect(try contents(), "seed \(Campaign.seed), \(path), byte \(at), bit \(bit)")
          made += disk.read(path) == whole ? 1 : 0
          for (path, whole) in files { sim_put_file(disk.raw, path, whole, whole.count) }
        }
      }
      #expect(made > 40)
    }
  }
}

// MARK: - Damage

/// What was done to a file.
private struct Damage {
  var path: String
  var bytes: Range<Int>
  var other: Int? = nil  // where the second of two sectors begins
  var name: String
  var leavesSlot = true  // the control file still has a whole copy, so that the store must open
  var perform: () -> Void
}

/// Why damage that nothing notices does no harm.
private enum Reason: String, CaseIterable {
  case lock = "the content of LOCK means nothing"
  case temporary = "nothing in tmp/ is part of the store"
  case olderGeneration = "the file is of the generation before, which is not shown"
}

private struct DamageReport: CustomStringConvertible {
  var tried = 0, refused = 0, partly = 0, reported = 0, older = 0
  var harmless: [Reason: Int] = [:]
  var problems: [String] = []

  var description: String {
    """
    \(tried) times: \(refused) did not open, \(partly) served a part, \(reported) all but verification saw it, \
    \(older) the generation before, harmless \(harmless.map { "\($0.value) \($0.key)" }.sorted())
    """
  }

  mutating func add(_ other: DamageReport) {
    tried += other.tried
    refused += other.refused
    partly += other.partly
    reported += other.reported
    older += other.older
    harmless.merge(other.harmless) { $0 + $1 }
    problems += other.problems
  }
}

// MARK: - The store

/// A store of about 64 KiB with files of every kind, and what it serves whole.
private final class SmallStore: @unchecked Sendable {
  let files: [String: [UInt8]]
  let size: Int
  private let paths: [String]
  private let disk: Disk
  private let whole: OpaquePointer  // sim_recording
  private let before: OpaquePointer
  private let ofOlderGeneration: Set<String>

  init() throws {
    let disk = Disk(seed: 7)
    var random = Random(7), folder = Folder.sample(seed: 7)
    folder["large"] = .file(random.text(12_000))
    folder["texture.map"] = .file(random.bytes(5_000))
    folder["prose"] = .file(random.text(5_000))
    disk.put(folder, at: "/source")
    disk.put(["tool": .link("elsewhere"), "a": .file("hides a folder"), "link/below": .file("x")], at: "/other")
    let store = try Store(disk, create: true)
    try store.commit { try $0.add("first", "/source", map: ["*.map"], dictionary: .text) }
    try store.commit { try $0.add("second", "/other", priority: 3, dictionary: .text) }
    let older = disk.clone()
    folder["prose"] = .file(random.text(5_100))
    folder["empty"] = nil
    disk.put(folder, at: "/source")
    try store.commit { try $0.add("first", "/source", map: ["*.map"]) }
    sim_put_file(disk.raw, "/store/tmp/0123456789abcdef/frames", random.bytes(100), 100)
    self.disk = disk.clone()
    before = sim_record(older.vfs, "/store", sha256, nil, nil)
    whole = sim_record(self.disk.vfs, "/store", sha256, nil, nil)
    var files: [String: [UInt8]] = [:]
    for path in disk.list("/store") where !path.hasSuffix("/") {
      files["/store/\(path)"] = disk.read("/store/\(path)")!
    }
    self.files = files
    paths = files.keys.sorted()
    size = files.values.map(\.count).reduce(0, +)
    ofOlderGeneration = Self.notNeeded(by: self.disk, files)
    try #require(sim_recording_generation(whole) == 4 && sim_recording_generation(before) == 3)
    try #require(sim_recording_fault_count(whole) == 0, "\(String(cString: sim_recording_fault(whole)))")
  }

  deinit {
    sim_recording_free(whole)
    sim_recording_free(before)
  }

  /// Files that the current generation does not need, by trying: without them it serves all, and all is found sound.
  private static func notNeeded(by disk: Disk, _ files: [String: [UInt8]]) -> Set<String> {
    Set(
      files.keys.filter { path in
        guard path.hasPrefix("/store/index/") || path.hasPrefix("/store/segments/") else { return false }
        let without = disk.clone()
        _ = sim_remove(without.raw, path)
        let served = sim_record(without.vfs, "/store", sha256, nil, nil)
        defer { sim_recording_free(served) }
        return sim_recording_status(served) == PKS_OK && sim_recording_fault_count(served) == 0
      })
  }

  func place(ofByte number: Int) -> (path: String, offset: Int) {
    var left = number
    for path in paths {
      if left < files[path]!.count { return (path, left) }
      left -= files[path]!.count
    }
    fatalError("byte \(number) of \(size)")
  }

  func sectors() -> [(path: String, offset: Int)] {
    paths.flatMap { path in stride(from: 0, to: files[path]!.count, by: 512).map { (path, $0) } }
  }

  // MARK: Examining

  /// Damages a disk `count` times, each time whole before, on all processors.
  func examine(count: Int, _ damage: @Sendable (Disk, Int) -> Damage?) -> DamageReport {
    let workers = max(1, ProcessInfo.processInfo.activeProcessorCount), lock = NSLock()
    nonisolated(unsafe) var report = DamageReport()
    DispatchQueue.concurrentPerform(iterations: workers) { worker in
      let disk = lock.withLock { self.disk.clone() }
      var own = DamageReport()
      for number in stride(from: worker, to: count, by: workers) {
        guard let damage = damage(disk, number) else { continue }
        damage.perform()
        examine(damage, disk, &own)
        sim_put_file(disk.raw, damage.path, files[damage.path]!, files[damage.path]!.count)
      }
      lock.withLock { report.add(own) }
    }
    return report
  }

  private func examine(_ damage: Damage, _ disk: Disk, _ report: inout DamageReport) {
    var served = sim_record(disk.vfs, "/store", sha256, nil, whole)
    defer { sim_recording_free(served) }
    let isOlder = sim_recording_generation(served) == sim_recording_generation(before)
    if isOlder {
      sim_recording_free(served)
      served = sim_record(disk.vfs, "/store", sha256, nil, before)
    }
    report.tried += 1
    func problem(_ text: String) {
      if report.problems.count < 20 {
        report.problems.append("\(damage.path) \(damage.bytes) \(damage.other ?? 0) \(damage.name): \(text)")
      }
    }
    if disk.hasLeaks { problem("leaks \(disk.counts)") }
    switch sim_recording_compare(served, isOlder ? before : whole) {
    case SIM_RECORDING_WRONG: problem(String(cString: sim_recording_wrong(served)))
    case SIM_RECORDING_NOTHING:
      report.refused += 1
      if damage.path == "/store/CONTROL" && leavesSlot(damage) { problem("does not open") }
    case SIM_RECORDING_PART: report.partly += 1
    default:
      if isOlder {
        report.older += 1
        problem("shows the generation before")
      } else if sim_recording_fault_count(served) > 0 {
        report.reported += 1
      } else if let reason = reason(damage) {
        report.harmless[reason, default: 0] += 1
      } else {
        problem("nothing notices it")
      }
    }
  }

  /// Whether a whole copy is left in the control file. One that was cut off says everything in its first 512 bytes.
  private func leavesSlot(_ damage: Damage) -> Bool {
    damage.leavesSlot && (damage.name != "cut off" || damage.bytes.lowerBound >= 512)
  }

  /// Why damage in this place is harmless, if it is.
  private func reason(_ damage: Damage) -> Reason? {
    if damage.path == "/store/LOCK" { return .lock }
    if damage.path.hasPrefix("/store/tmp/") { return .temporary }
    return ofOlderGeneration.contains(damage.path) ? .olderGeneration : nil
  }
}
