import CPackStore
import CPackStoreTesting
import Testing

/// One change of a store on a simulated disk, to be interrupted in every way.
struct Change: CustomTestStringConvertible, Sendable {
  var name: String
  /// Brings a new disk to where the change begins; its source folders, too.
  var prepare: @Sendable (Disk) throws -> Void
  /// Opens the store, changes it, closes it.
  var perform: @Sendable (Disk) throws -> Void
  /// Where the change is several commits: all but the last of them, each from the beginning, as an interruption may leave
  /// their generations as well.
  var stages: [@Sendable (Disk) throws -> Void] = []
  /// Whether the change survives the loss of power once it has returned.
  var isDurable = true

  var testDescription: String { name }

  static let folders: [String: Folder] = [
    "/one": .sample(seed: 1), "/two": .changedSample(seed: 1), "/other": .sample(seed: 7),
    "/small": ["only": .file("only")], "/middle": middle,
  ]

  /// What a version between `/one` and `/two` may hold: some of it is in neither, and some in one of them.
  private static let middle: Folder = {
    var random = Random(4), folder = Folder.changedSample(seed: 1)
    folder["a/text"] = .file(random.text(9_000))
    folder["only here"] = .file(random.bytes(6_000))
    return folder
  }()

  /// A disk where the change begins.
  func start() throws -> Disk {
    let disk = Disk(seed: 42)
    for (path, folder) in Self.folders { disk.put(folder, at: path) }
    try prepare(disk)
    return disk
  }

  /// What the store shows after the change; `nil` before there is one.
  func state(of disk: Disk) throws -> StoreState? {
    disk.exists("/store/CONTROL") ? try Store(disk).state() : nil
  }

  static func emptyStore() throws -> Disk {
    let disk = Disk()
    _ = try Store(disk, create: true)
    return disk
  }

  // MARK: The changes

  private static let install: @Sendable (Disk) throws -> Void = { disk in
    let store = try Store(disk, create: true)
    try store.commit { try $0.add("p", "/one") }
    try store.commit { try $0.add("q", "/other", priority: 3, dictionary: .text) }
  }

  static let create = Change(name: "create", prepare: { _ in }, perform: { _ = try Store($0, create: true) })

  /// Where an earlier attempt was interrupted.
  static let createAgain = Change(
    name: "create, second attempt",
    prepare: { disk in
      for folder in ["index", "segments", "tmp"] { sim_put_folder(disk.raw, "/store/\(folder)") }
      for file in ["index/0000000000000001.generation", "tmp/CONTROL"] {
        sim_put_file(disk.raw, "/store/\(file)", "torn", 4)
      }
    }, perform: { _ = try Store($0, create: true) })

  static let firstAdd = Change(
    name: "first add", prepare: { _ = try Store($0, create: true) },
    perform: { disk in try Store(disk).commit { try $0.add("p", "/one") } })

  static let secondVersion = Change(
    name: "second version", prepare: install,
    perform: { disk in try Store(disk).commit { try $0.add("p", "/two", dictionary: .text) } })

  static let severalPacks = Change(
    name: "several packs at once", prepare: install,
    perform: { disk in
      try Store(disk).commit {
        try $0.add("r", "/two", dictionary: .text)
        try $0.add("p", "/small")
        try $0.remove("q")
      }
    })

  /// What is selected of a folder, under other paths.
  static let selection = Change(
    name: "selection", prepare: install,
    perform: { disk in
      let entries = [
        ("folder/noise", "moved"), ("folder/tool", "tool"), ("large", "large"), ("link", "link"), ("void", "void"),
        ("void/small", "a/deep/er/small"),
      ]
      try Store(disk).commit { try $0.select("p", "/two", entries, map: ["tool"]) }
    })

  static let remove = Change(
    name: "remove", prepare: install, perform: { disk in try Store(disk).commit { try $0.remove("p") } })

  static let priority = Change(
    name: "priority", prepare: install, perform: { disk in try Store(disk).commit { try $0.prioritise("p", 9) } })

  /// Drops a version and collects its segments.
  static let collection = Change(
    name: "collection",
    prepare: { disk in
      try install(disk)
      try Store(disk).commit { try $0.remove("q") }
    }, perform: { disk in try Store(disk).commit { try $0.prioritise("p", 1) } })

  /// Empties segments of which a part is needed: by current versions, one that is kept, and map assets.
  static let emptying = Change(
    name: "emptying of segments",
    prepare: { disk in
      let store = try Store(disk, create: true)
      try store.commit { try $0.add("p", "/one", map: ["tool"]) }
      try store.commit { try $0.add("q", "/two", map: ["a/text", "large"], dictionary: .text) }
      try store.commit { try $0.add("r", "/other", dictionary: .text) }
      try store.commit(keep: 1) { try $0.add("p", "/two", map: ["tool"], dictionary: .text) }
      try store.commit { try $0.add("q", "/one", map: ["large"]) }
      try store.commit(keep: 1) { try $0.add("r", "/small") }
    }, perform: { disk in try Store(disk).collect() })

  /// Joins index runs.
  static let merge = Change(
    name: "merge of runs",
    prepare: { disk in
      let store = try Store(disk, create: true)
      for name in ["p", "q", "r"] {
        try store.commit { try $0.add(name, name == "q" ? "/other" : "/one", dictionary: .text) }
      }
    }, perform: { disk in try Store(disk).commit { try $0.add("s", "/small") } })

  /// Writes map assets again, one that changed and one that stays.
  static let mapUpdate = Change(
    name: "update of map assets",
    prepare: { disk in try Store(disk, create: true).commit { try $0.add("p", "/one", map: ["large", "a/text"]) } },
    perform: { disk in try Store(disk).commit { try $0.add("p", "/two", map: ["large", "a/text"], dictionary: .text) } }
  )

  /// Lays assets out afresh whose content stays.
  static let newlyMapped = Change(
    name: "map assets for the first time", prepare: install,
    perform: { disk in try Store(disk).commit { try $0.add("p", "/one", map: ["large", "tool"]) } })

  /// Goes back a version.
  static let rollback = Change(
    name: "rollback",
    prepare: { disk in
      try install(disk)
      try Store(disk).commit { try $0.add("p", "/two", dictionary: .text) }
    }, perform: { disk in try Store(disk).commit { try $0.rollBack("p") } })

  /// Brings back a pack that was removed but kept its history, and removes another with it.
  static let comeback = Change(
    name: "comeback",
    prepare: { disk in
      try install(disk)
      try Store(disk).commit {
        try $0.add("p", "/two", dictionary: .text)
        try $0.pin("p", 1)
      }
      try Store(disk).commit { try $0.remove("p", keepHistory: true) }
    },
    perform: { disk in
      try Store(disk).commit {
        try $0.rollBack("p", to: 1)
        try $0.remove("q")
      }
    })

  /// Copies versions of another store: one that is new, and one that is current again.
  static let copy = Change(
    name: "copies",
    prepare: { disk in
      try install(disk)
      let origin = try Store("/origin", vfs: disk.vfs, create: true, home: disk)
      try origin.commit { try $0.add("p", "/one") }
      try origin.commit { try $0.add("p", "/two", dictionary: .text) }
      try origin.commit { try $0.add("r", "/other", map: ["large"], dictionary: .text) }
      let snapshot = try origin.snapshot()
      try Store(disk).commit { try $0.copy("p", from: snapshot) }
    },
    perform: { disk in
      let snapshot = try Store("/origin", vfs: disk.vfs, home: disk).snapshot()
      try Store(disk).commit {
        try $0.copy("p", from: snapshot, version: 1)
        try $0.copy("r", from: snapshot)
        try $0.trim("p", 1)
      }
    })

  /// Applies a delta that another store made.
  static let delta = Change(
    name: "applies a delta",
    prepare: { disk in
      try install(disk)
      let origin = try Store("/origin", vfs: disk.vfs, create: true, home: disk)
      try origin.commit { try $0.add("p", "/one") }
      try origin.commit { try $0.add("p", "/two", map: ["large"], dictionary: .text) }
      let delta = try origin.snapshot().delta(of: "p", from: 1, to: 2)
      sim_put_file(disk.raw, "/delta", delta.bytes, delta.bytes.count)
    },
    perform: { disk in
      let delta = disk.read("/delta")!
      try Store(disk).commit { try $0.apply(delta) }
    })

  /// Applies a chain of deltas that another store made.
  static let chain = Change(
    name: "applies a chain of deltas",
    prepare: { disk in
      try install(disk)
      let origin = try Store("/origin", vfs: disk.vfs, create: true, home: disk)
      try origin.commit { try $0.add("p", "/one") }
      try origin.commit { try $0.add("p", "/middle", map: ["large"]) }
      try origin.commit(keep: 3) { try $0.add("p", "/two", map: ["large"], dictionary: .text) }
      let snapshot = try origin.snapshot()
      for from: UInt64 in 1...2 {
        let delta = try snapshot.delta(of: "p", from: from, to: from + 1)
        sim_put_file(disk.raw, "/delta\(from)", delta.bytes, delta.bytes.count)
      }
    },
    perform: { disk in
      let chain = ["/delta1", "/delta2"].map { disk.read($0)! }
      try Store(disk).commit { try $0.apply(chain: chain) }
    })

  /// Clears up behind a writer that died in the middle of its commit.
  static let afterDeath = Change(
    name: "after a writer's death",
    prepare: { disk in
      try install(disk)
      sim_put_file(disk.raw, "/store/tmp/00000000000000ab/segment-0", "half", 4)
      sim_put_file(disk.raw, "/store/segments/000102030405060708090a0b0c0d0e0f", "whole", 5)
    }, perform: { disk in try Store(disk).commit { try $0.add("r", "/small") } })

  /// Changes nothing: reads all there is, and checks every byte.
  static let look = Change(
    name: "look", prepare: install,
    perform: { disk in
      let snapshot = try Store(disk).snapshot()
      _ = try snapshot.state()
      _ = try snapshot.faults(deep: true)
    })

  /// Collects while another process reads a generation that would otherwise go; the reader must not notice.
  static let collectionBesideReader = Change(
    name: "collection beside a reader", prepare: install,
    perform: { disk in
      let reader = try Store(disk, process: sim_start_process(disk.raw, 2)).snapshot()
      let shown = try reader.state()
      let store = try Store(disk)
      try store.commit { try $0.remove("q") }
      try store.commit(keep: 1) { try $0.add("p", "/two", dictionary: .text) }
      guard try reader.state() == shown else { throw ReaderWasDisturbed() }
    }, stages: [{ disk in try Store(disk).commit { try $0.remove("q") } }])

  struct ReaderWasDisturbed: Error {}

  private static let installPurgeable: @Sendable (Disk) throws -> Void = { disk in
    let store = try Store(disk, create: true)
    try store.commit {
      try $0.chooseCache("/cache")
      try $0.add("p", "/one") { $0.placement = PKS_PLACE_PURGEABLE }
    }
    try store.commit { try $0.add("q", "/other", priority: 3, dictionary: .text) }
  }

  /// Data goes to the cache folder, and tables to the store.
  static let purgeableUpdate = Change(
    name: "update of a purgeable pack", prepare: installPurgeable,
    perform: { disk in try Store(disk).commit { try $0.add("p", "/two", dictionary: .text) } })

  /// A pack goes to the cache folder, and what it leaves behind is collected.
  static let becomingPurgeable = Change(
    name: "becoming purgeable", prepare: installPurgeable,
    perform: { disk in try Store(disk).commit { try $0.place("q", PKS_PLACE_PURGEABLE) } })

  /// The way back.
  static let becomingDurable = Change(
    name: "becoming durable", prepare: installPurgeable,
    perform: { disk in try Store(disk).commit { try $0.place("p", PKS_PLACE_DURABLE) } })

  private static let installOverBase: @Sendable (Disk) throws -> Void = { disk in
    try disk.makeBase("/base") { try $0.add("p", "/one", map: ["tool"]) }
    disk.base = "/base"
    try Store(disk, create: true).commit { try $0.add("q", "/other", priority: 3, dictionary: .text) }
  }

  /// Packs of a base are taken over: their tables go to the store.
  static let adoptingBase = Change(
    name: "taking a base over", prepare: installOverBase, perform: { try Store($0).adoptBase() })

  /// Nothing of it is synced.
  static let atomic = Change(
    name: "atomic commits", prepare: install, perform: secondAtomic, stages: [firstAtomic], isDurable: false)

  private static let firstAtomic: @Sendable (Disk) throws -> Void = { disk in
    try Store(disk).commit(PKS_ATOMIC) { try $0.add("p", "/two", dictionary: .text) }
  }

  private static let secondAtomic: @Sendable (Disk) throws -> Void = { disk in
    let store = try Store(disk)
    try store.commit(PKS_ATOMIC) { try $0.add("p", "/two", dictionary: .text) }
    try store.commit(PKS_ATOMIC) { try $0.add("r", "/small") }
  }

  /// Makes two atomic commits durable that are there already.
  static let durableOnAtomic = Change(
    name: "durable commit on atomic ones",
    prepare: { disk in
      let store = try Store(disk, create: true)
      try store.commit(PKS_ATOMIC) { try $0.add("p", "/one") }
      try store.commit(PKS_ATOMIC) { try $0.add("q", "/other", dictionary: .text) }
    }, perform: { disk in try Store(disk).commit { try $0.prioritise("p", 4) } })

  /// Two atomic commits and a durable one, which takes a pack that one of them brought away again.
  static let atomicThenDurable = Change(
    name: "atomic commits, then a durable one", prepare: install,
    perform: { disk in
      let store = try Store(disk)
      try store.commit(PKS_ATOMIC) { try $0.add("p", "/two", dictionary: .text) }
      try store.commit(PKS_ATOMIC) { try $0.add("r", "/small") }
      try store.commit {
        try $0.remove("r")
        try $0.add("q", "/small")
      }
    }, stages: [firstAtomic, secondAtomic])

  /// Fetches a version from another store: the second one of a pack of which the first was fetched before.
  static let delivery = Change(
    name: "delivery", prepare: { disk in try Store(disk, create: true).pull(site(version: 1)) },
    perform: { disk in try Store(disk).pull(site(version: 2)) })

  /// The same, of which an earlier process had fetched the greater part.
  static let resumedDelivery = Change(
    name: "resumed delivery",
    prepare: { disk in
      try delivery.prepare(disk)
      let transaction = try Store(disk).begin()
      try Delivery(site(version: 2), into: transaction)?.run(limit: 12)
    }, perform: { disk in try Store(disk).pull(site(version: 2)) })

  /// By a delta that lies beside the site, of which an earlier process had fetched the header.
  static let deliveryByDelta = Change(
    name: "delivery by a delta",
    prepare: { disk in
      try delivery.prepare(disk)
      let transaction = try Store(disk).begin()
      let delivery = try Delivery(site(version: 2), into: transaction)!
      try delivery.use(published.get().delta)
      try delivery.run(limit: 1)
    }, perform: { disk in try Store(disk).pull(site(version: 2), by: [published.get().delta]) })

  /// By a chain of deltas, of which an earlier process had fetched the headers and a block.
  static let deliveryByChain = Change(
    name: "delivery by a chain of deltas",
    prepare: { disk in
      let (first, last, chain) = try chained.get()
      try Store(disk, create: true).pull(first)
      let transaction = try Store(disk).begin()
      let delivery = try Delivery(last, into: transaction)!
      try delivery.use(chain)
      try delivery.run(limit: 3)
    },
    perform: { disk in
      let (_, last, chain) = try chained.get()
      try Store(disk).pull(last, by: chain)
    })

  /// By a change list, which is what is fetched first.
  static let deliveryByList = Change(
    name: "delivery by a change list", prepare: delivery.prepare,
    perform: { disk in try Store(disk).pull(site(version: 2), changes: published.get().changes) })

  private static func site(version: UInt64) throws -> Site { try published.get().sites[Int(version) - 1] }
  private static let published: Result<(sites: [Site], delta: Delta, changes: [UInt8]), any Error> = Result {
    let disk = Disk(seed: 11)
    for (path, folder) in folders { disk.put(folder, at: path) }
    let store = try Store(disk, create: true)
    for path in ["/one", "/two"] { try store.commit { try $0.add("p", path, map: ["large"]) } }
    let sites = try [1, 2].map { try Site(disk, version: $0) }
    let snapshot = try store.snapshot()
    return try (sites, snapshot.delta(of: "p", from: 1, to: 2), snapshot.listChanges(from: 1, to: 2))
  }
  private static let chained: Result<(first: Site, last: Site, chain: [Delta]), any Error> = Result {
    let disk = Disk(seed: 12)
    for (path, folder) in folders { disk.put(folder, at: path) }
    let store = try Store(disk, create: true)
    try store.commit { try $0.add("p", "/one", map: ["large"]) }
    try store.commit { try $0.add("p", "/middle", map: ["a/text"]) }
    try store.commit(keep: 3) { try $0.add("p", "/two", map: ["large"]) }
    let snapshot = try store.snapshot()
    let chain = try (1...2).map { try snapshot.delta(of: "p", from: $0, to: $0 + 1) }
    return try (Site(disk, version: 1), Site(disk, version: 3), chain)
  }

  /// Repairs a store that lost its control file, and of which a data segment must be stored again.
  static let repair = Change(
    name: "repair",
    prepare: { disk in
      try install(disk)
      let segment = disk.list("/store/segments").first { disk.read("/store/segments/\($0)")?[12] == 1 }!
      sim_corrupt(disk.raw, "/store/segments/\(segment)", 20, 1)
      sim_remove(disk.raw, "/store/CONTROL")
    }, perform: { try $0.repair() })

  /// A commit on a store of which the newest slot of the control file is lost: what was adopted is written there first.
  static let adoption = Change(
    name: "commit after a lost slot",
    prepare: { disk in
      try install(disk)
      disk.loseControlSlot()
    }, perform: { disk in try Store(disk).commit { try $0.add("p", "/two", dictionary: .text) } })

  /// The same of a store whose durable slot is lost beside an atomic generation.
  static let adoptionBesideAtomic = Change(
    name: "commit after a lost durable slot",
    prepare: { disk in
      try install(disk)
      try Store(disk).commit(PKS_ATOMIC) { try $0.prioritise("q", 1) }
      disk.loseControlSlot(newest: false)
    }, perform: { disk in try Store(disk).commit { try $0.add("p", "/two", dictionary: .text) } })

  static let all = [
    create, createAgain, firstAdd, secondVersion, severalPacks, selection, remove, priority, collection, emptying,
    afterDeath,
    collectionBesideReader, merge, mapUpdate, newlyMapped, rollback, comeback, copy, delta, chain, atomic,
    durableOnAtomic,
    atomicThenDurable, repair, delivery, resumedDelivery,
    deliveryByDelta, deliveryByChain, deliveryByList, adoption, adoptionBesideAtomic, purgeableUpdate,
    becomingPurgeable,
    becomingDurable,
    adoptingBase,
  ]
  static let durable = all.filter(\.isDurable)
}

/// A further transaction, which every surviving store must be able to do: adds a small pack, or gives it another priority if
/// it is there. It leaves nothing in `tmp`.
func performNext(_ disk: Disk) throws {
  try Store(disk).commit {
    if let priority = $0.packs["next"] { try $0.prioritise("next", priority + 1) } else { try $0.add("next", "/small") }
  }
}

/// Whether a store lost its control file, and was not just never made.
func isLost(_ disk: Disk) -> Bool { !disk.exists("/store/CONTROL") && !disk.list("/store/segments").isEmpty }

/// What follows a crash: the store is opened, made if there is none, repaired if it needs that to be opened, and written
/// to.
@Sendable func performRecovery(_ disk: Disk) throws {
  if isLost(disk) { try disk.repair() }
  // What is damaged beyond doubt is shown, and written to once it was repaired.
  if disk.exists("/store/CONTROL"), try Store(disk).mayHideCommit { try disk.repair() }
  if !disk.exists("/store/CONTROL") { _ = try Store(disk, create: true) }
  try performNext(disk)
}

extension StoreState {
  /// What `performNext` makes of a state.
  var next: StoreState {
    var state = self
    var pack = state["next"] ?? PackState(priority: -1, version: 1, content: Change.folders["/small"]!)
    pack.priority += 1
    state["next"] = pack
    return state
  }
}

/// Whether a store is whole: it opens, shows one of the states, and a walk over all its files finds no fault. Otherwise what is wrong.
/// The walk decodes and hashes everything if it is `deep`; what the packs show is read and compared in any case.
/// `nil` among the states allows that there is no store yet.
func whatIsWrong(with disk: Disk, allowed: [StoreState?], deep: Bool = true) -> String? {
  do {
    let store = try Store(disk)
    let state = try store.state()
    if !allowed.contains(state) { return "shows another state: \(state.keys.sorted())" }
    let faults = try store.snapshot().faults(deep: deep)
    return faults.isEmpty ? nil : "faults: \(faults)"
  } catch let failure as Failure where failure.status == PKS_NOT_A_STORE && allowed.contains(nil) {
    return nil
  } catch {
    return "\(error)"
  }
}

/// Whether a further transaction works on what is left. Otherwise what is wrong.
func whatIsWrongWithNext(on disk: Disk) -> String? {
  do {
    if isLost(disk) { try disk.repair() }
    let before = disk.exists("/store/CONTROL") ? try Store(disk).state() : [:]
    try performRecovery(disk)
    let left = disk.list("/store/tmp")
    if !left.isEmpty { return "left in tmp: \(left)" }
    if disk.hasLeaks { return "leaks: \(disk.counts)" }
    return whatIsWrong(with: disk.crash(SIM_CRASH_MIN), allowed: [before.next], deep: false).map {
      "after the next transaction: \($0)"
    }
  } catch {
    return "the next transaction threw \(error)"
  }
}
