import CPackStore
import CPackStoreTesting
import Testing

/// Who may change a pack, and to which version, on generations in memory.
@Suite struct ProvenanceTests {
  /// A generation without files: statements are judged by what it says alone.
  final class World {
    var generation = pks__generation()
    private var runs: UInt64 = 0

    init() { generation.next_pack_number = 1 }
    deinit { pks__generation_free(&generation) }

    /// One statement: that `version`, with content `content`, is current. OK, or why it is refused; then nothing changes.
    @discardableResult
    func say(
      _ by: pks_provenance, _ version: UInt64, of pack: String = "p", content: UInt8? = nil, priority: Int32 = 0
    ) throws -> pks_status {
      runs += 1
      var change = pks__staged_op()
      change.kind = PKS__CHANGE_ADD
      change.provenance = by
      change.version.number = version
      change.version.catalog.bytes.0 = content ?? UInt8(truncatingIfNeeded: version)
      change.run.name = runs
      change.set_priority = priority != 0
      change.priority = priority
      return try apply(&change, pack)
    }

    @discardableResult
    func apply(_ change: inout pks__staged_op, _ pack: String = "p") throws -> pks_status {
      withUnsafeMutableBytes(of: &change.pack) { $0.copyBytes(from: pack.utf8) }
      var next = pks__generation()
      try attempt { pks__generation_copy(&generation, &next, $0) }
      let status = pks__staged_op_apply(&change, &next, 2, nil)
      if status != PKS_OK {
        pks__generation_free(&next)
        return status
      }
      pks__generation_free(&generation)
      generation = next
      return status
    }

    func remove(_ pack: String = "p", keepHistory: Bool = false) throws {
      var change = pks__staged_op()
      change.kind = PKS__CHANGE_REMOVE
      change.keep_history = keepHistory
      #expect(try apply(&change, pack) == PKS_OK)
    }

    struct Pack: Equatable {
      var name: String
      var origin: String
      var versions: [UInt64]
      var contents: [UInt8]
    }

    /// In the order in which they win.
    var packs: [Pack] {
      (0..<Int(generation.pack_count)).map { index in
        let state = generation.packs[index], shown = pks__generation_pack(&generation, UInt32(index))
        let versions = (0..<Int(state.version_count)).map { state.versions[$0] }
        return Pack(
          name: String(cString: shown.name), origin: ProvenanceTests.name(shown.origin),
          versions: versions.map(\.number), contents: versions.map(\.catalog.bytes.0))
      }
    }

    func version(_ pack: String = "p") -> UInt64? { packs.first { $0.name == pack }?.versions[0] }
  }

  static func by(
    _ key: UInt8, _ product: String = "default", _ statement: pks_statement = PKS_STATEMENT_ROOT, serial: UInt64 = 0,
    revoked: UInt64 = 0, q: UInt64 = 1, e: UInt64 = 0, h: UInt64 = 0, excluded: UInt64 = 0, adopt: Bool = false,
    downgrade: Bool = false
  ) -> pks_provenance {
    var by = pks_provenance()
    by.origin.kind = key == 0 ? PKS_ORIGIN_UNSIGNED : PKS_ORIGIN_SIGNED
    by.origin.key.0 = key
    withUnsafeMutableBytes(of: &by.origin.product) { $0.copyBytes(from: product.utf8) }
    by.statement = statement
    by.serial = serial
    by.revoked_below = revoked
    by.sequence = q
    by.epoch = e
    by.highest = h
    by.excluded = excluded
    by.adopt = adopt
    by.downgrade = downgrade
    return by
  }

  static func local(adopt: Bool = false) -> pks_provenance {
    var by = pks_provenance()
    by.adopt = adopt
    return by
  }

  static func name(_ origin: pks_origin) -> String {
    let product = withUnsafeBytes(of: origin.product) { String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self) }
    return "\(origin.kind.rawValue):\(origin.key.0):\(product)"
  }

  @Test func onlyItsOriginChangesAPack() throws {
    let owners = [Self.by(1), Self.by(2), Self.by(1, "other"), Self.by(0), Self.local()]
    for (index, owner) in owners.enumerated() {
      let world = World()
      try world.say(owner, 1)
      for (other, statement) in owners.enumerated() {
        var statement = statement
        statement.sequence = 9
        let result = try world.say(statement, 2)
        #expect(result == (other == index ? PKS_OK : PKS_OTHER_ORIGIN), "\(index) \(other)")
      }
      #expect(world.version() == 2)
      try world.remove(keepHistory: true)
      for (other, statement) in owners.enumerated() where other != index {
        #expect(try world.say(statement, 3) == PKS_OTHER_ORIGIN, "the history is another's")
      }
    }
  }

  @Test func adoptionBeginsThePackAgain() throws {
    let world = World()
    try world.say(Self.by(1), 5)
    try world.say(Self.by(1, q: 2), 1 << 52)
    #expect(try world.say(Self.by(2, q: 7, adopt: true), 3) == PKS_OK)
    #expect(world.packs == [.init(name: "p", origin: "1:2:default", versions: [3], contents: [3])])
    #expect(world.generation.packs[0].highest_version == 3)
    #expect(try world.say(Self.by(1, q: 9), 1 << 53) == PKS_OTHER_ORIGIN)
    // Back again: what was accepted before of this origin does not count any more.
    #expect(try world.say(Self.by(1, q: 1, adopt: true), 2) == PKS_OK)
    #expect(world.version() == 2)
    #expect(try world.say(Self.by(1, q: 1), 1) == PKS_DOWNGRADE)
    #expect(try world.say(Self.local(adopt: true), 1) == PKS_OK)
    #expect(world.packs[0].origin == "0:0:")
  }

  /// Every statement after version 3 by a root of sequence 30 and epoch 30.
  @Test func lowerVersionsComeOnlyByAnActThatTakesBack() throws {
    // Statement, version, sequence, epoch, highest number ever offered.
    let cases: [(pks_statement, UInt64, UInt64, UInt64, UInt64, pks_status)] = [
      (PKS_STATEMENT_ROOT, 4, 31, 30, 4, PKS_OK), (PKS_STATEMENT_ROOT, 4, 29, 30, 4, PKS_OK),
      (PKS_STATEMENT_ROOT, 3, 30, 30, 3, PKS_OK), (PKS_STATEMENT_ROOT, 2, 31, 31, 3, PKS_OK),
      (PKS_STATEMENT_ROOT, 2, 31, 31, 2, PKS_DOWNGRADE), (PKS_STATEMENT_ROOT, 2, 31, 30, 3, PKS_DOWNGRADE),
      (PKS_STATEMENT_ROOT, 2, 30, 30, 3, PKS_DOWNGRADE), (PKS_STATEMENT_ROOT, 2, 29, 0, 3, PKS_STALE),
      (PKS_STATEMENT_ROOT, 4, 31, 29, 4, PKS_DOWNGRADE), (PKS_STATEMENT_ROOT, 3, 31, 0, 3, PKS_DOWNGRADE),
      (PKS_STATEMENT_ARCHIVE, 4, 29, 0, 0, PKS_OK), (PKS_STATEMENT_ARCHIVE, 2, 31, 99, 9, PKS_DOWNGRADE),
      (PKS_STATEMENT_ARCHIVE, 2, 29, 0, 0, PKS_DOWNGRADE), (PKS_STATEMENT_DELTA, 4, 31, 0, 0, PKS_OK),
      (PKS_STATEMENT_DELTA, 2, 31, 99, 9, PKS_DOWNGRADE), (PKS_STATEMENT_COPY, 2, 31, 99, 9, PKS_DOWNGRADE),
    ]
    for key in [0, 1] as [UInt8] {
      for isRemoved in [false, true] {
        for (statement, version, q, e, h, expected) in cases {
          let world = World()
          try world.say(Self.by(key, q: 10), 1)
          try world.say(Self.by(key, q: 30, e: 30, h: 3), 3)
          if isRemoved { try world.remove() }
          #expect(
            try world.say(Self.by(key, "default", statement, q: q, e: e, h: h), version) == expected,
            "\(statement) \(version) \(q) \(e) \(h) removed \(isRemoved)")
          #expect(
            try world.say(Self.by(key, "default", statement, q: q, e: e, h: h, downgrade: true), version) == PKS_OK)
        }
      }
    }
  }

  /// A publisher that was shown an older state signs it again, under a newer sequence and a newer delegation.
  @Test func anOlderStateThatIsSignedAgainChangesNothing() throws {
    let world = World()
    try world.say(Self.by(1, serial: 7, q: 30, e: 10, h: 3), 3)
    for serial in [7, 8] as [UInt64] {
      #expect(try world.say(Self.by(1, serial: serial, q: 90, e: 10, h: 2), 2) == PKS_DOWNGRADE)
      #expect(try world.say(Self.by(1, serial: serial, q: 90, e: 0, h: 5), 5) == PKS_DOWNGRADE)
      #expect(try world.say(Self.by(1, serial: serial, q: 90, e: 90, h: 2), 2) == PKS_DOWNGRADE, "H is below f")
    }
    #expect(world.version() == 3)
    #expect(try world.say(Self.by(1, serial: 8, q: 91, e: 10, h: 4), 4) == PKS_OK)
  }

  @Test func archivesDoNotReturnWhatWasTakenBack() throws {
    for statement in [PKS_STATEMENT_ARCHIVE, PKS_STATEMENT_DELTA, PKS_STATEMENT_COPY] {
      let world = World()
      try world.say(Self.by(1, q: 30, h: 3), 3)
      #expect(try world.say(Self.by(1, q: 40, e: 40, h: 5), 2) == PKS_OK)
      for version in 3...5 as ClosedRange<UInt64> {
        #expect(try world.say(Self.by(1, "default", statement, q: 99), version) == PKS_DOWNGRADE)
      }
      #expect(try world.say(Self.by(1, q: 30, h: 3), 3) == PKS_STALE)
      #expect(world.version() == 2)
      #expect(try world.say(Self.by(1, "default", statement, q: 1), 6) == PKS_OK)
      #expect(try world.say(Self.by(1, q: 41, e: 40, h: 6), 5) == PKS_DOWNGRADE, "the epoch stayed")
    }
  }

  /// A root may offer a version again that it took back.
  @Test func aRootMayOfferAgainWhatItTookBack() throws {
    let world = World()
    try world.say(Self.by(1, q: 30, h: 3), 3)
    #expect(try world.say(Self.by(1, q: 40, e: 40, h: 3), 2) == PKS_OK)
    #expect(try world.say(Self.by(1, q: 50, e: 40, h: 3), 3) == PKS_OK)
    #expect(try world.say(Self.by(1, q: 60, e: 40, h: 3), 2) == PKS_DOWNGRADE)
  }

  /// The app goes back to a version that the newest pack version is not for, and forward again. The floor stays.
  @Test func aVersionForOtherAppsLeavesTheFloor() throws {
    let world = World()
    try world.say(Self.by(1, q: 30, e: 5, h: 3), 3)
    #expect(try world.say(Self.by(1, q: 30, e: 5, h: 3, excluded: 2), 2) != PKS_OK)
    #expect(try world.say(Self.by(1, q: 30, e: 5, h: 3, excluded: 3), 2) == PKS_OK)
    #expect(world.version() == 2)
    #expect(try world.say(Self.by(1, q: 30, e: 5, h: 3), 2) == PKS_OK, "it is current: its data may be fetched again")
    #expect(try world.say(Self.by(1, q: 31, e: 5, h: 3), 1) == PKS_DOWNGRADE)
    #expect(try world.say(Self.by(1, q: 30, e: 5, h: 3), 3) == PKS_OK)
  }

  /// The root that set the floor is refused, and is not older than itself: no mirror lags.
  @Test(arguments: [0, 1] as [UInt8]) func theRootOfTheFloorIsNotStale(key: UInt8) throws {
    let cases: [(UInt64, UInt64, pks_status)] = [
      (7, 29, PKS_STALE), (7, 30, PKS_DOWNGRADE), (7, 31, PKS_DOWNGRADE), (6, 31, PKS_STALE), (8, 1, PKS_DOWNGRADE),
    ]
    for (serial, q, expected) in cases {
      for isRemoved in [false, true] {
        let world = World()
        try world.say(Self.by(key, serial: 7, q: 30, e: 5, h: 3), 3)
        if isRemoved { try world.remove() }
        #expect(try world.say(Self.by(key, serial: serial, q: q, e: 5, h: 3), 2) == expected, "\(serial) \(q)")
        #expect(try world.say(Self.by(key, serial: serial, q: q, e: 4, h: 3), 3) == expected, "\(serial) \(q)")
      }
    }
  }

  /// A floor of an earlier library has no number that was taken back: a lowered one rises by a newer statement alone.
  @Test func floorsOfEarlierLibrariesCount() throws {
    let world = World()
    try world.say(Self.by(1, q: 40), 2)
    world.generation.origins.floors[0].lowered = true
    for statement in [PKS_STATEMENT_ROOT, PKS_STATEMENT_ARCHIVE] {
      #expect(try world.say(Self.by(1, "default", statement, q: 40), 3) == PKS_DOWNGRADE)
    }
    #expect(try world.say(Self.by(1, q: 39), 3) == PKS_STALE)
    #expect(try world.say(Self.by(1, "default", PKS_STATEMENT_ARCHIVE, q: 41), 3) == PKS_OK)
  }

  /// The rules of `Docs/FORMAT.md`, section 12, for signed statements about one pack.
  private struct Model {
    struct Floor { var serial, version, epoch, takenBack: UInt64 }
    var floor: Floor?
    var current: UInt64?

    mutating func accepts(_ by: pks_provenance, _ version: UInt64) -> Bool {
      let isRoot = by.statement == PKS_STATEMENT_ROOT
      guard let old = floor, old.serial >= by.revoked_below else {
        floor = Floor(serial: by.serial, version: version, epoch: by.epoch, takenBack: 0)
        current = version
        return true
      }
      if by.serial < old.serial || (isRoot && by.epoch < old.epoch) { return false }
      var next = Floor(
        serial: by.serial, version: version, epoch: max(old.epoch, by.epoch), takenBack: old.takenBack)
      if version < old.version {
        if isRoot, by.epoch > old.epoch, by.highest >= old.version {
          next.takenBack = by.highest
        } else {
          guard current == version || (isRoot && by.excluded == old.version) else { return false }
          next = old
        }
      } else if !isRoot, version > old.version, version <= old.takenBack {
        return false
      }
      floor = next
      current = version
      return true
    }
  }

  @Test func theRulesAreThoseOfTheFormat() throws {
    let seed = testSeed(41)
    var random = Random(seed), accepted = 0
    for round in 0..<300 {
      let world = World()
      var model = Model()
      for step in 0..<40 {
        let isRoot = random.chance(2, in: 3), serial = UInt64(1 + random.below(3))
        let by = Self.by(
          1, "default", isRoot ? PKS_STATEMENT_ROOT : random.pick([PKS_STATEMENT_ARCHIVE, PKS_STATEMENT_DELTA]),
          serial: serial, revoked: random.chance(1, in: 8) ? serial : 0, q: UInt64(1 + random.below(9)),
          e: isRoot ? UInt64(random.below(4)) : 0, h: isRoot ? UInt64(random.below(7)) : 0,
          excluded: isRoot ? UInt64(random.below(7)) : 0)
        let version = UInt64(1 + random.below(6)), isAccepted = model.accepts(by, version)
        accepted += isAccepted ? 1 : 0
        #expect(try (world.say(by, version) == PKS_OK) == isAccepted, "seed \(seed), round \(round), step \(step)")
        let floor = world.generation.origins.floors[0]
        let known = try #require(model.floor)
        #expect(
          [floor.serial, floor.version, floor.epoch, floor.taken_back]
            == [known.serial, known.version, known.epoch, known.takenBack])
      }
    }
    #expect(accepted > 1_000)
  }

  /// An old archive of a higher version must not let an old root look new.
  @Test func sequencesOnlyRise() throws {
    let world = World()
    try world.say(Self.by(1, q: 30), 3)
    #expect(try world.say(Self.by(1, "default", PKS_STATEMENT_ARCHIVE, q: 5), 4) == PKS_OK)
    #expect(try world.say(Self.by(1, q: 20), 2) == PKS_STALE)
    #expect(world.version() == 4)
  }

  /// After a revocation, neither earlier nor later statements of the thief are accepted or bind the store.
  @Test func numbersDieWithTheirKey() throws {
    let statements = [PKS_STATEMENT_ROOT, PKS_STATEMENT_ARCHIVE, PKS_STATEMENT_DELTA]
    for statement in statements {
      let world = World()
      try world.say(Self.by(1, serial: 7, q: 1), 5)
      try world.say(Self.by(1, serial: 7, q: 1 << 60), 1 << 53 - 1, content: 66)
      #expect(
        try world.say(Self.by(1, "default", statement, serial: 8, q: 2), 6) == PKS_DOWNGRADE, "a renewal voids nothing")
      #expect(try world.say(Self.by(1, "default", statement, serial: 8, revoked: 8, q: 2), 6) == PKS_OK)
      #expect(world.version() == 6)
      let isRoot = statement == PKS_STATEMENT_ROOT, refused = isRoot ? PKS_STALE : PKS_DOWNGRADE
      for q in [1, 1 << 61] as [UInt64] {
        #expect(try world.say(Self.by(1, "default", statement, serial: 7, q: q), 7) == refused)
        #expect(try world.say(Self.by(1, "default", statement, serial: 0, q: q), 7) == refused)
      }
      let own = try world.say(Self.by(1, "default", statement, serial: 8, q: 2), 5)
      #expect(own == PKS_DOWNGRADE, "its own numbers count")
      #expect(try world.say(Self.by(1, "default", statement, serial: 7, downgrade: true), 7) == PKS_OK, "a wish")
      #expect(try world.say(Self.by(1, "default", statement, serial: 7), 8) == refused, "the floor stayed")
    }
  }

  @Test func aWishedDowngradeLeavesTheFloor() throws {
    let world = World()
    try world.say(Self.by(1, q: 30), 3)
    #expect(try world.say(Self.by(1, "default", PKS_STATEMENT_ARCHIVE, q: 10, downgrade: true), 1) == PKS_OK)
    #expect(world.version() == 1)
    #expect(try world.say(Self.by(1, q: 29), 2) == PKS_STALE)
    #expect(try world.say(Self.by(1, q: 30), 3) == PKS_OK, "the next pull goes up again")
  }

  @Test func floorsOutliveThePackButNotTheOrigin() throws {
    let world = World()
    try world.say(Self.by(1, q: 30), 3)
    var forget = pks__staged_op()
    forget.kind = PKS__CHANGE_FORGET_ORIGIN
    forget.provenance = Self.by(1)
    #expect(try world.apply(&forget, "") == PKS_INVALID_ARGUMENT, "a pack of it is here")
    try world.remove(keepHistory: true)
    #expect(try world.apply(&forget, "") == PKS_INVALID_ARGUMENT, "its history is")
    try world.remove()
    #expect(try world.say(Self.by(1, q: 29), 2) == PKS_STALE)
    #expect(try world.apply(&forget, "") == PKS_OK)
    #expect(try world.apply(&forget, "") == PKS_NOT_FOUND)
    #expect(try world.say(Self.by(1, q: 29), 2) == PKS_OK)
    forget.provenance = pks_provenance()
    #expect(try world.apply(&forget, "") == PKS_INVALID_ARGUMENT, "the local one stays")
  }

  /// Who follows another channel of an origin: what was accepted counts no more, of packs that are here, held or gone.
  @Test func anOriginBeginsAgain() throws {
    let world = World()
    try world.say(Self.by(1, serial: 7, q: 30), 3)
    try world.say(Self.by(1, serial: 7, q: 30), 3, of: "gone")
    try world.say(Self.by(2, q: 30), 3, of: "other")
    try world.remove("gone")
    var restart = pks__staged_op()
    restart.kind = PKS__CHANGE_RESTART_ORIGIN
    restart.provenance = Self.by(3)
    #expect(try world.apply(&restart, "") == PKS_NOT_FOUND)
    restart.provenance = Self.by(1)
    for pack in ["p", "gone"] {
      #expect(try world.say(Self.by(1, serial: 6, q: 20), 2, of: pack) == PKS_STALE, "\(pack)")
    }
    #expect(try world.apply(&restart, "") == PKS_OK && world.version() == 3)
    for pack in ["p", "gone"] {
      #expect(try world.say(Self.by(1, serial: 6, q: 20), 2, of: pack) == PKS_OK, "\(pack)")
      #expect(try world.say(Self.by(1, serial: 6, q: 19), 1, of: pack) == PKS_STALE, "and counts from there")
    }
    #expect(try world.say(Self.by(2, q: 20), 2, of: "other") == PKS_STALE, "of that origin alone")
    #expect(try world.say(Self.by(2, q: 40), 4) == PKS_OTHER_ORIGIN)
  }

  @Test func originsThatMakeNoSense() throws {
    var wrong: [pks_provenance] = [Self.by(1, ""), Self.by(1, "Upper"), Self.by(1, "-x"), Self.by(1, "a/b")]
    wrong += [Self.by(1, "default", PKS_STATEMENT_ROOT)].map { by in
      var by = by
      by.origin.key.0 = 0
      return by
    }
    var local = Self.local()
    local.statement = PKS_STATEMENT_ROOT
    var unknown = Self.local()
    unknown.origin.kind = PKS_ORIGIN_UNKNOWN
    var endless = Self.by(1)
    withUnsafeMutableBytes(of: &endless.origin.product) { $0.copyBytes(from: [UInt8](repeating: 97, count: 65)) }
    wrong += [local, unknown, endless]
    for (index, statement) in wrong.enumerated() {
      #expect(try World().say(statement, 1) == PKS_INVALID_ARGUMENT, "\(index)")
    }
  }

  /// Packs of a later origin stay below, whatever their priorities; an order of the app's counts.
  @Test func ordersWinOverPriorities() throws {
    let world = World()
    try world.say(Self.local(), 1, of: "mine")
    try world.say(Self.by(1), 1, of: "first")
    try world.say(Self.by(2), 1, of: "evil", priority: .max)
    #expect(world.packs.map(\.name) == ["mine", "first", "evil"])
    var order = pks__staged_op()
    order.kind = PKS__CHANGE_ORDER
    order.provenance = Self.by(2)
    #expect(try world.apply(&order, "") == PKS_OK)
    #expect(world.packs.map(\.name) == ["evil", "mine", "first"])
    order.place = 1
    #expect(try world.apply(&order, "") == PKS_INVALID_ARGUMENT, "it has a place before that")
    order.provenance = Self.by(3)
    #expect(try world.apply(&order, "") == PKS_NOT_FOUND)
  }

  /// No row of statements of others changes what an earlier origin's packs are, or puts a pack before them.
  @Test func statementsOfOthersChangeNothing() throws {
    var random = Random(77)
    for _ in 0..<60 {
      let world = World()
      let names = ["p", "q", "r", "s"]
      for (index, name) in names.prefix(3).enumerated() {
        try world.say(Self.by(1, q: UInt64(index + 1)), 5, of: name, priority: .random(in: -5...5, using: &random))
      }
      if Bool.random(using: &random) { try world.remove("r", keepHistory: true) }
      let before = world.packs
      for _ in 0..<40 {
        let key = UInt8.random(in: 0...3, using: &random), kind = UInt32.random(in: 1...4, using: &random)
        let product = key == 1 || Bool.random(using: &random) ? "other" : "default"
        var by = Self.by(
          key, product, pks_statement(rawValue: kind), q: .random(in: 1...UInt64.max, using: &random),
          downgrade: Bool.random(using: &random))
        if Int.random(in: 0..<8, using: &random) == 0 { by.origin.product.0 = 0 }
        let number = ([1, 5, 6, 1 << 53, .max] as [UInt64]).randomElement(using: &random)!
        try world.say(by, number, of: names.randomElement(using: &random)!, priority: .max)
        #expect(Array(world.packs.prefix(before.count)) == before)
      }
    }
  }
}
