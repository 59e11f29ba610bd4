import CPackStore
import CPackStoreTesting
import Testing

extension Core {
  /// Random histories against a model: packs come, change, go, and contest names, while the store is reopened and loses power.
  ///
  /// A failure prints its seed; `PACKSTORE_SEED=<seed>` replays it, and `PACKSTORE_SEED=<first>-<last>` tries many.
  @Suite struct NamespacePropertyTests {
    @Test(arguments: testSeeds(1...8)) func history(seed: UInt64) throws {
      var history = History(seed: seed)
      for _ in 0..<40 where !history.hasFailed { try history.step() }
    }
  }
}

/// One random history.
private struct History {
  let seed: UInt64
  var random: Random
  var disk: Disk
  var store: Store
  var model = Model()
  var durable = Model()
  var held: (snapshot: Snapshot, packs: [Model.Pack])?
  var contents: [[UInt8]]
  var log: [String] = []
  var hasFailed = false

  init(seed: UInt64) {
    self.seed = seed
    random = Random(seed)
    disk = Disk(seed: seed)
    sim_set_vague_lists(disk.raw, random.chance(1, in: 3))
    store = try! Store(disk, create: true)
    contents = [
      [], random.bytes(10), random.text(3_000), random.bytes(5_000), random.text(40_000), random.bytes(70_000),
    ]
  }

  mutating func step() throws {
    do {
      switch random.below(10) {
      case 0: try reopen()
      case 1: try losePower()
      case 2: held = held == nil ? (try store.snapshot(), model.packs) : nil
      default: try transact()
      }
      try check()
    } catch {
      fail("threw \(error)")
    }
  }

  private mutating func fail(_ text: String) {
    hasFailed = true
    Issue.record("seed \(seed): \(text)\n\(log.joined(separator: "\n"))")
  }

  private mutating func expect(_ holds: Bool, _ text: @autoclosure () -> String) {
    if !holds && !hasFailed { fail(text()) }
  }

  // MARK: Steps

  private mutating func reopen() throws {
    log.append("reopen")
    try checkHeld()
    held = nil
    store = try Store(disk)
  }

  private mutating func losePower() throws {
    log.append("lose power")
    try checkHeld()
    held = nil
    disk = disk.crash(random.pick([SIM_CRASH_MIN, SIM_CRASH_MAX, SIM_CRASH_RANDOM]), seed: random.next())
    store = try Store(disk)
    model = durable
  }

  private mutating func transact() throws {
    let durability = random.chance(1, in: 3) ? PKS_ATOMIC : PKS_DURABLE
    let transaction = try store.begin(durability, keep: UInt32(random.below(4)))
    var staged = model
    log.append("begin \(durability == PKS_ATOMIC ? "atomic" : "durable")")
    for _ in 0...random.below(3) { try stage(transaction, &staged) }
    expect(transaction.packs == staged.state.mapValues(\.priority), "staged packs are \(transaction.packs)")
    if random.chance(1, in: 8) {
      log.append("abort")
      transaction.abort()
      return
    }
    log.append("commit")
    let isEmpty = staged.packs == model.packs
    let before = try store.snapshot().generation
    let generation = try transaction.commit()
    expect(generation == before + 1 || (isEmpty && generation == before), "generation \(before) became \(generation)")
    model = staged
    if durability == PKS_DURABLE && generation > before { durable = model }
    if random.chance(1, in: 4) { try checkFiles() }
  }

  private mutating func stage(_ transaction: Transaction, _ staged: inout Model) throws {
    let name = random.pick(["p", "q", "r", "s"])
    let known = staged.packs.first { $0.name == name }
    let priority: Int32? = random.chance(1, in: 3) ? Int32(random.below(3)) : nil
    switch random.below(6) {
    case 0 where known != nil:
      log.append("  remove \(name)")
      try transaction.remove(name)
      staged.remove(name)
    case 1 where known != nil:
      log.append("  prioritise \(name) \(priority ?? 1)")
      try transaction.prioritise(name, priority ?? 1)
      staged.prioritise(name, priority ?? 1)
    default:
      let content: Folder
      if let known {
        content = random.chance(1, in: 6) ? known.content : changed(known.content)
      } else {
        content = newFolder()
      }
      log.append("  add \(name) priority \(priority.map { "\($0)" } ?? "-"): \(content)")
      disk.put(content, at: "/source")
      let result = try transaction.add(name, "/source", priority: priority)
      expect(result.unchanged == (known?.content == content), "unchanged: \(result.unchanged)")
      staged.add(name, content, priority: priority)
      expect(
        result.version.number == staged.packs.first { $0.name == name }!.version, "version \(result.version.number)")
    }
  }

  // MARK: Folders

  /// A path of few names, so that packs meet; some names sort between a folder and what is in it.
  private mutating func newPath() -> String {
    (0...random.below(3)).map { _ in random.pick(["a", "b", "a.x", "a!", "c"]) }.joined(separator: "/")
  }

  private mutating func newNode() -> Node {
    switch random.below(8) {
    case 0: return .folder
    case 1: return .link(random.pick(["a", "../b", "nowhere"]))
    default:
      if random.chance(1, in: 8) {
        contents.append(random.chance(1, in: 2) ? random.bytes(random.below(9_000)) : random.text(random.below(30_000)))
      }
      var bytes = random.pick(contents)
      if bytes.count > 2_000 && random.chance(1, in: 4) {
        let place = random.below(bytes.count)
        bytes.insert(contentsOf: random.bytes(7), at: place)
      }
      return .file(bytes, executable: random.chance(1, in: 5))
    }
  }

  /// Puts something at a path, unless a folder of the pack cannot hold it beside what is there.
  private mutating func put(_ folder: inout Folder) {
    let path = newPath()
    let above = sequence(first: Namespace.parent(path)) { $0 == "" ? nil : Namespace.parent($0) }
    let isBlocked = folder.keys.contains { $0.hasPrefix(path + "/") } || above.contains { folder[$0] != nil }
    let node = newNode()
    if !isBlocked { folder[path] = node }
  }

  private mutating func newFolder() -> Folder {
    var folder: Folder = [:]
    for _ in 0..<random.below(9) { put(&folder) }
    return folder
  }

  private mutating func changed(_ old: Folder) -> Folder {
    if random.chance(1, in: 8) { return newFolder() }
    var folder = old
    for _ in 0...random.below(3) {
      let paths = folder.keys.sorted()
      switch random.below(4) {
      case 0 where !paths.isEmpty: folder[random.pick(paths)] = nil
      case 1 where !paths.isEmpty:
        let node = folder.removeValue(forKey: random.pick(paths))
        let before = Set(folder.keys)
        put(&folder)
        if let path = Set(folder.keys).subtracting(before).first { folder[path] = node }
      default: put(&folder)
      }
    }
    return folder
  }

  // MARK: Checks

  private mutating func check() throws {
    let snapshot = try store.snapshot()
    try check(snapshot, model.packs)
    if random.chance(1, in: 3) { try checkHeld() }
  }

  private mutating func checkHeld() throws {
    if let held { try check(held.snapshot, held.packs) }
  }

  /// Nothing is left in `tmp`, and a walk over the whole store finds no fault.
  private mutating func checkFiles() throws {
    let left = disk.list("/store/tmp")
    expect(left == [], "left in tmp: \(left)")
    let faults = try store.snapshot().faults(deep: true)
    expect(faults == [], "faults: \(faults)")
  }

  private mutating func check(_ snapshot: Snapshot, _ packs: [Model.Pack]) throws {
    expect(snapshot.packNames == packs.map(\.name), "packs \(snapshot.packNames), not \(packs.map(\.name))")
    let expected = StoreState(
      uniqueKeysWithValues: packs.map {
        ($0.name, PackState(priority: $0.priority, version: $0.version, content: $0.content))
      })
    expect(try snapshot.state() == expected, "state is not the model's")
    guard !hasFailed else { return }
    try checkNamespace(snapshot, Namespace(packs), nil)
    for rank in packs.indices { try checkNamespace(snapshot, Namespace(packs, only: UInt32(rank)), UInt32(rank)) }
  }

  private mutating func checkNamespace(_ snapshot: Snapshot, _ namespace: Namespace, _ only: UInt32?) throws {
    let pack = only ?? Namespace.any
    let missing = ["zz", "a/zz", newPath()]
    for path in namespace.paths + missing {
      let expected = namespace.find(path)
      var found: Snapshot.Found?
      let status = try status { found = try snapshot.find(path, in: pack) }
      expect(status == (expected == nil ? PKS_NOT_FOUND : PKS_OK), "find \(path) in \(pack): status \(status.rawValue)")
      expect(
        found == expected, "find \(path) in \(pack): \(String(describing: found)), not \(String(describing: expected))")
    }
    for folder in [""] + namespace.paths where folder == "" || namespace.find(folder)?.node == .folder {
      let descendants = try snapshot.descendants(folder, in: pack), children = try snapshot.children(folder, in: pack)
      expect(descendants == namespace.descendants(folder), "descendants of \(folder) in \(pack): \(descendants)")
      expect(children == namespace.children(folder), "children of \(folder) in \(pack): \(children)")
      if only == nil { try checkConflicts(snapshot, namespace, folder) }
    }
  }

  private mutating func checkConflicts(_ snapshot: Snapshot, _ namespace: Namespace, _ folder: String) throws {
    let conflicts = try snapshot.conflicts(folder), expected = namespace.conflicts(folder)
    let matches =
      conflicts.count == expected.count
      && zip(conflicts, expected).allSatisfy { is_, be in
        is_.path == be.path && is_.pack == be.pack && be.winners.contains(is_.winner) && is_.winnerPath == be.winnerPath
      }
    expect(matches, "conflicts in \(folder): \(conflicts), not \(expected)")
  }
}
