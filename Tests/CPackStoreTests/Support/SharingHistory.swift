import CPackStore
import CPackStoreTesting
import Testing

/// A random history of packs whose versions share chunks in every way that a store knows: with earlier versions, with other
/// packs, through map assets, and in copies that writers made side by side.
struct SharingHistory {
  private var random: Random
  let disk: Disk
  let store: Store
  private var pool: [[UInt8]]
  private var contents: [String: Folder] = [:]

  init(seed: UInt64) {
    var random = Random(seed)
    disk = Disk(seed: seed)
    store = try! Store(disk, create: true)
    pool = (0..<10).map { $0 % 2 == 0 ? random.bytes(2_000 + 900 * $0) : random.text(3_000 + 1_100 * $0) }
    self.random = random
  }

  private static let names = ["p", "q", "r", "s"]
  private static let maps = ["*.map"]

  mutating func step() throws {
    switch random.below(12) {
    case 0..<5: try add(random.pick(Self.names))
    case 5..<7: try addSideBySide()
    case 7: try remove(keepHistory: true)
    case 8: try remove(keepHistory: false)
    case 9: try rollBack()
    case 10: try pin()
    default: try trim()
    }
  }

  private func versions(_ pack: String) throws -> [UInt64] { try store.snapshot().versions(of: pack) }

  /// An asset: pieces of what others have, in some order, and something of its own.
  private mutating func asset() -> Node {
    var bytes: [UInt8] = []
    for _ in 0..<1 + random.below(3) {
      let source = random.pick(pool), from = random.below(source.count / 2)
      bytes += source[from..<min(source.count, from + 1_500 + random.below(9_000))]
    }
    if random.chance(1, in: 3) { bytes += random.bytes(random.below(4_000)) }
    return .file(bytes)
  }

  /// The next content of a pack, in its folder.
  private mutating func put(_ pack: String) {
    var folder = contents[pack] ?? [:]
    for _ in 0..<1 + random.below(4) {
      let path = "f\(random.below(4))/\(random.below(5))" + (random.chance(1, in: 4) ? ".map" : "")
      folder[path] = random.chance(1, in: 5) ? nil : asset()
    }
    if random.chance(1, in: 3), let other = contents.keys.sorted().randomElement(using: &random) {
      folder.merge(contents[other] ?? [:]) { own, _ in own }
    }
    contents[pack] = folder
    disk.put(folder, at: "/\(pack)")
  }

  private mutating func add(_ pack: String) throws {
    put(pack)
    try store.commit(keep: UInt32(1 + random.below(3))) {
      try $0.unpinIfThere(pack)
      try $0.add(pack, "/\(pack)", map: Self.maps)
    }
  }

  /// Two writers that do not see what the other one stores.
  private mutating func addSideBySide() throws {
    let pair = Self.names.shuffled(using: &random).prefix(2)
    for pack in pair { put(pack) }
    func stage(_ pack: String) throws -> Transaction {
      let transaction = try store.begin(keep: 2)
      try transaction.unpinIfThere(pack)
      try transaction.add(pack, "/\(pack)", map: Self.maps)
      return transaction
    }
    for (pack, transaction) in zip(pair, try pair.map(stage)) {
      let result = try status { _ = try transaction.commit() }
      // The first commit may have collected what the second transaction was about to use.
      if result == PKS_CONFLICT { _ = try stage(pack).commit() } else { try #require(result == PKS_OK) }
    }
  }

  private mutating func remove(keepHistory: Bool) throws {
    let pack = random.pick(Self.names)
    guard try store.snapshot().packNames.contains(pack) else { return }
    try store.commit { try $0.remove(pack, keepHistory: keepHistory) }
  }

  private mutating func rollBack() throws {
    let pack = random.pick(Self.names)
    guard let version = try versions(pack).randomElement(using: &random) else { return }
    try store.commit { try $0.rollBack(pack, to: version) }
  }

  private mutating func pin() throws {
    let pack = random.pick(Self.names)
    guard let version = try versions(pack).randomElement(using: &random) else { return }
    try store.commit { try $0.pin(pack, version) }
  }

  /// Pins whatever is kept.
  mutating func pinAll() throws {
    let snapshot = try store.snapshot()
    try store.commit { transaction in
      for pack in Self.names {
        for version in snapshot.versions(of: pack) { try transaction.pin(pack, version) }
      }
    }
  }

  private mutating func trim() throws {
    let pack = random.pick(Self.names)
    guard try store.snapshot().packNames.contains(pack) else { return }
    try store.commit { try $0.trim(pack, 1) }
  }
}

extension Transaction {
  /// Lets a pack move that was rolled back before.
  fileprivate func unpinIfThere(_ pack: String) throws {
    let snapshot = try store.snapshot()
    if !snapshot.versions(of: pack).isEmpty { try unpin(pack) }
  }
}
