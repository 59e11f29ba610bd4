import CPackStore
import CPackStoreTesting
import Testing

extension Core {
  /// Random sequences of all that moves, frees and loses data, against a model of what must be there: by one process, beside a
  /// reader and a writer in others, which may be killed, and with losses of power.
  ///
  /// `make test` has a fixed set; `make torture` draws another one, 10,000 sequences with SCALE=50.
  @Suite struct SpaceModelTests {
    @Test func contentAndAvailabilityAreAsTheModelSays() throws {
      for number in 0..<(200 * Campaign.scale) {
        guard try Self.run(seed: Campaign.seed &* 1_000_003 &+ number) else { return }
      }
    }

    /// Sequences in which a collection left files after a loss of power, never ended beside a reader or over a base, or left a
    /// segment that layouts listed for nothing.
    @Test(arguments: [7_013_021_459, 7_026_021_223, 7_013_021_901, 8_026_024_228, 8_026_027_457] as [UInt64])
    func sequencesThatFailed(_ seed: UInt64) throws { _ = try Self.run(seed: seed) }

    private static func run(seed: UInt64) throws -> Bool {
      let sequence = try SpaceSequence(seed: seed)
      do {
        for _ in 0..<25 { try sequence.step() }
        try sequence.end()
        return true
      } catch {
        let story = sequence.history + sequence.places()
        Issue.record("seed \(seed): \(error)\n\(story.joined(separator: "\n"))")
        return false
      }
    }
  }
}

/// What a pack must show.
private struct ModelPack {
  var content: Folder
  /// Earlier content that may be gone back to, by version.
  var versions: [UInt64: Folder]
  var current: UInt64
  var isPurgeable: Bool
  /// Bases over which it, or anything that it may rely on, was stored; nil is none.
  var bases: Set<String?>
}

/// A process that holds a snapshot, all of which it has read.
private struct Reader {
  let process: UnsafePointer<pks_vfs>
  let snapshot: Snapshot
  /// What the snapshot is to show, and of each pack what was gone from the beginning.
  let packs: [String: ModelPack]
  let purged: [String: Set<String>]
  /// Another hand deleted or cut files since.
  var hasSeenLoss = false
}

/// A process that has staged a folder, and not committed it.
private struct Writer {
  let process: UnsafePointer<pks_vfs>
  let transaction: Transaction
  let pack: String
  let content: Folder
  let base: String?
  /// There was nothing to stage.
  let isUnchanged: Bool
}

private struct Difference: Error, CustomStringConvertible {
  var description: String
  init(_ text: String) { description = text }
}

/// One sequence: a disk with a store, two bases and a cache folder, and what must be there.
private final class SpaceSequence {
  private var random: Random
  private var disk: Disk
  private var packs: [String: ModelPack] = [:]
  private var reader: Reader?
  private var writer: Writer?
  private var base: String?
  private(set) var history: [String] = []
  private static let names = ["p", "q", "r"]
  private let contents: [String: Folder]

  init(seed: UInt64) throws {
    random = Random(seed)
    disk = Disk(seed: seed)
    let common = Folder.sample(seed: 1)
    var contents = Change.folders
    contents["/mixed"] = contents["/other"]!.merging(common.filter { $0.key < "large" }) { $1 }
    self.contents = contents
    for (path, folder) in contents { disk.put(folder, at: path) }
    try disk.makeBase("/base1") { try $0.add("b", "/one", map: ["large"]) }
    try disk.makeBase("/base2") {
      try $0.add("b", "/mixed", dictionary: .text)
      try $0.add("c", "/small")
    }
    try Store(disk, create: true).commit { try $0.chooseCache("/cache") }
  }

  /// Small assets of two of the packs have dictionaries: one their own, the other sometimes one, sometimes another.
  private func dictionary(of name: String) -> SampleDictionary? {
    switch name {
    case "p": nil
    case "q": .text
    default: history.count % 2 == 0 ? .text : .other
    }
  }

  private func demand(_ holds: Bool, _ text: @autoclosure () -> String) throws {
    if !holds { throw Difference(text()) }
  }

  /// Where the segments of each pack lie, for a failure's message.
  func places() -> [String] {
    guard let snapshot = try? Store(disk).snapshot() else { return ["the store does not open"] }
    let folders = ["/store/segments", "/store/tables", "/base1/segments", "/base2/segments"]
    return snapshot.packs.enumerated().flatMap { index, pack in
      snapshot.versions(of: String(cString: pack.name)).flatMap { version in
        let segments = (try? snapshot.segments(of: UInt32(index), version: version)) ?? []
        return segments.map { segment in
          let name = hex(segment.id)
          let found = folders.filter { disk.exists("\($0)/\(name)") } + disk.cacheSegments.filter { $0.hasSuffix(name) }
          return "\(String(cString: pack.name))@\(version) \(name): \(found)"
        }
      }
    }
  }

  // MARK: Steps

  func step() throws {
    let name = random.pick(Self.names)
    switch random.below(18) {
    case 0...3: try add(name)
    case 4: try place(name)
    case 5: try remove(name)
    case 6: try goBack(name)
    case 7: try lose()
    case 8: try purge()
    case 9: try collect()
    case 10: try pull(name)
    case 11: try changeBase()
    case 12: try pin(name)
    case 13, 14: try read()
    case 15, 16: try writeBeside(name)
    default: try crash()
    }
    try check()
  }

  func end() throws {
    history.append("end")
    (reader, writer) = (nil, nil)
    let store = try Store(disk)
    _ = try store.collect()
    try demand(store.collect().emptied_count == 0, "a second collection finds something to empty")
    try check()
    try checkSpace()
  }

  private func note(_ text: String) { history.append(text) }

  private func add(_ name: String) throws {
    let folder = random.pick(contents.keys.sorted())
    let placement = random.pick([PKS_PLACE_KEEP, PKS_PLACE_DURABLE, PKS_PLACE_PURGEABLE])
    let map = random.chance(1, in: 3) ? ["large", "tool"] : []
    note("add \(name) \(folder) placement \(placement.rawValue) map \(map)")
    let store = try Store(disk)
    try store.commit {
      try $0.add(name, folder, map: map, dictionary: dictionary(of: name)) { $0.placement = placement }
    }
    try learn(name, content: contents[folder]!, store)
  }

  /// What the store says of numbers and placement, which other suites check, becomes the model's.
  private func learn(_ name: String, content: Folder, _ store: Store) throws {
    let snapshot = try store.snapshot(), pack = snapshot.packs.first { String(cString: $0.name) == name }!
    var model = packs[name] ?? ModelPack(content: [:], versions: [:], current: 0, isPurgeable: false, bases: [])
    model.content = content
    model.current = pack.current.number
    model.versions[model.current] = content
    let kept = Set(snapshot.versions(of: name))
    model.versions = model.versions.filter { kept.contains($0.key) }
    model.isPurgeable = pack.purgeable
    model.bases.insert(base)
    packs[name] = model
  }

  private func place(_ name: String) throws {
    guard packs[name] != nil else { return }
    let placement = random.pick([PKS_PLACE_DURABLE, PKS_PLACE_PURGEABLE])
    note("place \(name) \(placement.rawValue)")
    let store = try Store(disk), lacks = try !store.snapshot().readable(name).purged.isEmpty
    do {
      try store.commit { try $0.place(name, placement) }
      packs[name]!.isPurgeable = placement == PKS_PLACE_PURGEABLE
    } catch let failure as Failure where failure.status == PKS_PURGED {
      try demand(lacks, "placing says PURGED, and nothing is missing")
    }
  }

  private func remove(_ name: String) throws {
    guard packs[name] != nil else { return }
    note("remove \(name)")
    let before = segmentBytes(), doubled = doubledBytes(), (unneeded, cost) = try cost(of: name)
    try Store(disk).commit { try $0.remove(name) }
    packs[name] = nil
    // Otherwise files that nothing needs go as well, or stay for a while.
    guard unneeded == 0, reader == nil, writer == nil else { return }
    let freed = before - segmentBytes()
    // Of a segment that durable and purgeable packs need, each kind has a file; with its last pack goes one that is counted as shared.
    let isSo = freed >= cost && freed - cost <= doubled
    try demand(isSo, "removing \(name) freed \(freed), and was to free \(cost), and \(doubled) more at most")
  }

  /// What nothing needs, and what the removal of a pack is said to free. The snapshot is gone then: it would hold files.
  private func cost(of name: String) throws -> (unneeded: UInt64, freed: UInt64) {
    let snapshot = try Store(disk).snapshot(), (space, costs) = try snapshot.space()
    return (space.unneeded_bytes, costs[snapshot.packNames.firstIndex(of: name)!].freed_bytes)
  }

  /// What the files of segments take, wherever they lie.
  private func segmentBytes() -> UInt64 {
    let own = ["segments", "tables"].flatMap { folder in disk.list("/store/\(folder)").map { "/store/\(folder)/\($0)" }
    }
    return (own + disk.cacheSegments).reduce(0) { $0 + UInt64(disk.read($1)?.count ?? 0) }
  }

  /// What the store's own files take of segments that have more than one.
  private func doubledBytes() -> UInt64 {
    let inCache = Set(disk.cacheSegments.map { String($0.split(separator: "/").last!) })
    let whole = Set(disk.list("/store/segments")), tables = Set(disk.list("/store/tables"))
    let files =
      whole.intersection(inCache).map { "/store/segments/\($0)" }
      + tables.intersection(whole).map { "/store/tables/\($0)" }
    return files.reduce(0) { $0 + UInt64(disk.read($1)?.count ?? 0) }
  }

  private func goBack(_ name: String) throws {
    guard let pack = packs[name], let version = pack.versions.keys.filter({ $0 != pack.current }).sorted().first else {
      return
    }
    note("roll \(name) back to \(version)")
    let store = try Store(disk), before = try store.snapshot()
    let index = before.versions(of: name).firstIndex(of: version)!
    let lacks = try before.availability(of: name, version: UInt32(index)).missing_bytes > 0
    do {
      try store.commit { try $0.rollBack(name, to: version) }
      try store.commit { try $0.unpin(name) }  // it would be held
    } catch let failure as Failure where failure.status == PKS_PURGED {
      return try demand(lacks, "going back says PURGED, and nothing is missing")
    }
    try learn(name, content: pack.versions[version]!, store)
  }

  /// Another hand deletes or cuts a file of the cache folder.
  private func lose() throws {
    guard let path = disk.cacheSegments.isEmpty ? nil : random.pick(disk.cacheSegments) else { return }
    let length = random.chance(1, in: 2) ? nil : random.below(disk.read(path)!.count)
    note("lose \(path) from \(length.map(String.init) ?? "begin") on")
    if let length { disk.cut(path, to: length) } else { disk.vanish(path) }
    reader?.hasSeenLoss = true
  }

  private func purge() throws {
    let bytes = UInt64(random.below(60_000))
    note("purge \(bytes)")
    let before = disk.cacheSegments.reduce(0) { $0 + disk.read($1)!.count }
    let store = try Store(disk), gapsBefore = try gapsOfPinned(store)
    let result = try store.purge(bytes)
    let after = disk.cacheSegments.reduce(0) { $0 + disk.read($1)!.count }
    try demand(UInt64(before - after) <= result.freed_bytes, "the purge freed less than it says")
    let gone = result.freed_bytes + result.deferred_bytes
    try demand(gone >= bytes || !result.is_enough, "the purge was to free \(bytes)")
    let othersRead = reader != nil || writer != nil
    try demand(othersRead || result.deferred_bytes == 0, "nothing has a file open, and something is deferred")
    try demand(gapsOfPinned(Store(disk)) == gapsBefore, "the purge took data of pinned versions")
  }

  /// How much each pinned version lacks.
  private func gapsOfPinned(_ store: Store) throws -> [String: UInt64] {
    let snapshot = try store.snapshot()
    var gaps: [String: UInt64] = [:]
    for (index, pack) in snapshot.packs.enumerated() {
      for age in 0..<pack.version_count {
        let version = pks_snapshot_version(snapshot.raw, UInt32(index), age), name = String(cString: pack.name)
        guard version.pinned else { continue }
        gaps["\(name)@\(version.number)"] = try snapshot.availability(of: name, version: age).missing_bytes
      }
    }
    return gaps
  }

  private func collect() throws {
    note("collect")
    _ = try Store(disk).collect()
  }

  /// What is missing of a pack comes from a site that has the same version.
  private func pull(_ name: String) throws {
    guard let pack = packs[name] else { return }
    note("pull \(name)")
    let store = try Store(disk)
    do {
      _ = try store.pull(site(of: name, pack))
    } catch let failure as Failure where failure.status == PKS_HELD {
      return
    }
    try learn(name, content: pack.content, store)
    try demand(store.snapshot().readable(name).purged.isEmpty, "the pack was fetched, and lacks data")
  }

  private func site(of name: String, _ pack: ModelPack) throws -> Site {
    let publisher = Disk(seed: 3)
    publisher.put(pack.content, at: "/content")
    try Store(publisher, create: true).commit {
      try $0.add(name, "/content", version: pack.current, dictionary: dictionary(of: name))
    }
    return try Site(publisher, pack: name)
  }

  private func changeBase() throws {
    base = random.pick([nil, "/base1", "/base2"])
    note("base \(base ?? "none")")
    disk.base = base
    let store = try Store(disk)
    _ = try store.adoptBase()
    // Its packs have these names alone, and take nothing from others.
    for name in Self.names where packs[name] != nil { packs[name]!.bases.insert(base) }
  }

  private func pin(_ name: String) throws {
    guard let pack = packs[name] else { return }
    note("pin \(name)")
    try Store(disk).commit { try $0.pin(name, pack.current) }
  }

  // MARK: Other processes

  /// A process opens the store and reads all of it; the next time it ends, or is killed.
  private func read() throws {
    if let ended = reader {
      let isKilled = random.chance(1, in: 2)
      note("the reader \(isKilled ? "is killed" : "ends")")
      if isKilled { sim_kill(ended.process) }
      reader = nil
      return
    }
    note("a reader begins")
    let process = sim_start_process(disk.raw, 2)!, snapshot = try Store(disk, process: process).snapshot()
    let purged = try packs.keys.map { ($0, try snapshot.readable($0).purged) }
    reader = Reader(
      process: process, snapshot: snapshot, packs: packs, purged: Dictionary(uniqueKeysWithValues: purged))
  }

  /// A process stages a folder; the next time it commits that, unless it is killed.
  private func writeBeside(_ name: String) throws {
    guard let work = writer else {
      let folder = random.pick(contents.keys.sorted())
      note("another process stages \(name) \(folder)")
      let process = sim_start_process(disk.raw, 3)!, transaction = try Store(disk, process: process).begin()
      let isUnchanged = try transaction.add(name, folder, dictionary: dictionary(of: name)).unchanged
      writer = Writer(
        process: process, transaction: transaction, pack: name, content: contents[folder]!, base: base,
        isUnchanged: isUnchanged)
      return
    }
    writer = nil
    if random.chance(1, in: 4) {
      note("the other process is killed")
      return sim_kill(work.process)
    }
    note("the other process commits \(work.pack)")
    do {
      _ = try work.transaction.commit()
    } catch let failure as Failure where [PKS_CONFLICT, PKS_PURGED].contains(failure.status) {
      return note("which it is refused: \(failure)")
    }
    guard !work.isUnchanged else { return }
    try learn(work.pack, content: work.content, Store(disk))
    packs[work.pack]!.bases.insert(work.base)
  }

  // MARK: Ends

  /// The power fails somewhere in a change, or the process is killed: either all of the change is there, or nothing.
  private func crash() throws {
    let name = random.pick(Self.names), folder = random.pick(contents.keys.sorted())
    let cut = UInt64(random.below(200)), known = packs[name]
    let act = known == nil ? .add : random.pick(Interrupted.allCases)
    note("end after \(cut) calls of \(act) \(name) \(folder)")
    sim_stop_after(disk.raw, cut)
    let isDone = (try? perform(act, name, folder)) != nil
    (reader, writer) = (nil, nil)
    switch random.below(4) {
    case 0: disk = disk.clone()
    case 1: disk = disk.crash(SIM_CRASH_MIN)
    case 2: disk = disk.crash(SIM_CRASH_MAX)
    default: disk = disk.crash(SIM_CRASH_RANDOM, seed: random.next())
    }
    let store = try Store(disk), snapshot = try store.snapshot()
    let pack = snapshot.packs.first { String(cString: $0.name) == name }
    if act == .remove {
      try demand(pack == nil || !isDone, "a removal is lost")
      if pack == nil { packs[name] = nil }
    } else if act == .add {
      let isNew = pack != nil && pack?.current.number != known?.current
      try demand(isNew || !isDone || known?.content == contents[folder], "a commit is lost")
      if isNew { try learn(name, content: contents[folder]!, store) }
    } else if let known {
      try learn(name, content: known.content, store)
    }
  }

  private enum Interrupted: CaseIterable { case add, remove, place, purge, collect, pull }

  private func perform(_ act: Interrupted, _ name: String, _ folder: String) throws {
    let store = try Store(disk)
    switch act {
    case .add: try store.commit { try $0.add(name, folder, dictionary: dictionary(of: name)) }
    case .remove: try store.commit { try $0.remove(name) }
    case .place: try store.commit { try $0.place(name, random.pick([PKS_PLACE_DURABLE, PKS_PLACE_PURGEABLE])) }
    case .purge: _ = try store.purge(UInt64(random.below(60_000)))
    case .collect: _ = try store.collect()
    case .pull: _ = try store.pull(site(of: name, packs[name]!))
    }
  }

  // MARK: Checking

  private func check() throws {
    let snapshot = try Store(disk).snapshot()
    for (name, pack) in packs.sorted(by: { $0.key < $1.key }) {
      let (content, purged) = try snapshot.readable(name)
      try demand(content == pack.content.filter { !purged.contains($0.key) }, "\(name) shows other content")
      let mayLack = pack.isPurgeable || pack.bases != [base]
      try demand(purged.isEmpty || mayLack, "\(name) is durable, and lacks \(purged.sorted())")
      let availability = try snapshot.availability(of: name)
      try demand(
        availability.missing_asset_count == UInt64(purged.count),
        "\(name) lacks \(purged.sorted()), and is said to lack \(availability.missing_asset_count) assets")
    }
    let shown = Set(snapshot.packs.map { String(cString: $0.name) }).intersection(Self.names)
    try demand(shown == Set(packs.keys), "packs \(shown)")
    try checkReader()
  }

  /// A reader goes on reading what it read, whatever others do, but for what other hands took.
  private func checkReader() throws {
    guard let reader else { return }
    for (name, pack) in reader.packs.sorted(by: { $0.key < $1.key }) {
      let (content, purged) = try reader.snapshot.readable(name)
      try demand(
        content == pack.content.filter { !purged.contains($0.key) }, "the reader sees other content of \(name)")
      let lost = purged.subtracting(reader.purged[name]!)
      try demand(
        lost.isEmpty || (reader.hasSeenLoss && pack.isPurgeable), "the reader lost \(lost.sorted()) of \(name)")
    }
  }

  /// After all was collected: no file that nothing needs, and dead bytes only in frames of which three quarters are needed.
  private func checkSpace() throws {
    let snapshot = try Store(disk).snapshot(), (space, costs) = try snapshot.space()
    try demand(space.unneeded_bytes == 0, "\(space.unneeded_bytes) bytes are left that nothing needs")
    // Nothing is collected of data that is gone in part.
    guard costs.allSatisfy({ $0.missing_bytes == 0 }) else { return }
    let live = space.own_bytes + space.shared_bytes
    try demand(space.dead_bytes <= live / 3, "\(space.dead_bytes) bytes are dead beside \(live)")
  }
}
