import CPackStore
import CPackStoreTesting
import Testing

extension Core {
  /// Random sequences of all that moves, frees and loses data, against a model of what must be there.
  ///
  /// `make test` has a fixed set; `make torture` draws another one, 10,000 sequences with SCALE=50.
  @Suite struct SpaceModelTests {
    @Test func contentAndAvailabilityAreAsTheModelSays() throws {
      for number in 0..<(200 * Campaign.scale) {
        let seed = Campaign.seed &* 1_000_003 &+ number
        let sequence = try SpaceSequence(seed: seed)
        do {
          for _ in 0..<25 { try sequence.step() }
          try sequence.end()
        } catch {
          let story = sequence.history + sequence.places()
          Issue.record("seed \(seed): \(error)\n\(story.joined(separator: "\n"))")
          return
        }
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

private struct Difference: Error, CustomStringConvertible {
  var description: String
  init(_ text: String) { description = text }
}

/// One sequence: a disk with a store, two bases and a cache folder, and what must be there.
private final class SpaceSequence {
  private var random: Random
  private var disk: Disk
  private var packs: [String: ModelPack] = [:]
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
      try $0.add("b", "/mixed")
      try $0.add("c", "/small")
    }
    try Store(disk, create: true).commit { try $0.chooseCache("/cache") }
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
    switch random.below(14) {
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
    default: try crash()
    }
    try check()
  }

  func end() throws {
    history.append("end")
    let store = try Store(disk)
    _ = try store.collect()
    try demand(store.collect().emptied_count == 0, "a second collection finds something to empty")
    try check()
  }

  private func note(_ text: String) { history.append(text) }

  private func add(_ name: String) throws {
    let folder = random.pick(contents.keys.sorted())
    let placement = random.pick([PKS_PLACE_KEEP, PKS_PLACE_DURABLE, PKS_PLACE_PURGEABLE])
    let map = random.chance(1, in: 3) ? ["large", "tool"] : []
    note("add \(name) \(folder) placement \(placement.rawValue) map \(map)")
    let store = try Store(disk)
    try store.commit { try $0.add(name, folder, map: map) { $0.placement = placement } }
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
    try Store(disk).commit { try $0.remove(name) }
    packs[name] = nil
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
  }

  private func purge() throws {
    let bytes = UInt64(random.below(60_000))
    note("purge \(bytes)")
    let before = disk.cacheSegments.reduce(0) { $0 + disk.read($1)!.count }
    let result = try Store(disk).purge(bytes)
    let after = disk.cacheSegments.reduce(0) { $0 + disk.read($1)!.count }
    try demand(UInt64(before - after) <= result.freed_bytes, "the purge freed less than it says")
    try demand(result.freed_bytes >= bytes || !result.is_enough, "the purge was to free \(bytes)")
  }

  private func collect() throws {
    note("collect")
    _ = try Store(disk).collect()
  }

  /// What is missing of a pack comes from a site that has the same version.
  private func pull(_ name: String) throws {
    guard let pack = packs[name] else { return }
    note("pull \(name)")
    let publisher = Disk(seed: 3)
    publisher.put(pack.content, at: "/content")
    try Store(publisher, create: true).commit { try $0.add(name, "/content", version: pack.current) }
    let store = try Store(disk)
    do {
      _ = try store.pull(Site(publisher, pack: name))
    } catch let failure as Failure where failure.status == PKS_HELD {
      return
    }
    try learn(name, content: pack.content, store)
    try demand(store.snapshot().readable(name).purged.isEmpty, "the pack was fetched, and lacks data")
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

  /// The power fails somewhere in an update: either all of it is there, or nothing.
  private func crash() throws {
    let name = random.pick(Self.names), folder = random.pick(contents.keys.sorted())
    let cut = UInt64(random.below(200))
    note("crash after \(cut) calls of add \(name) \(folder)")
    sim_stop_after(disk.raw, cut)
    let isDone = (try? Store(disk).commit { try $0.add(name, folder) }) != nil
    let crashed = disk.crash(random.pick([SIM_CRASH_MIN, SIM_CRASH_MAX]))
    disk = crashed
    let store = try Store(disk), snapshot = try store.snapshot()
    let number = snapshot.packs.first { String(cString: $0.name) == name }?.current.number
    let isNew = number != nil && number != packs[name]?.current
    try demand(isNew || !isDone || packs[name]?.content == contents[folder], "a commit is lost")
    if isNew { try learn(name, content: contents[folder]!, store) }
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
  }
}
