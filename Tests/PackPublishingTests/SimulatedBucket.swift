import PackDelivery
import PackFormats
import PackStore
import Synchronization
import Testing

@testable import PackPublishing

/// A storage in memory that obeys the rules of `ObjectStorage`, and otherwise behaves as badly as possible: answers get
/// lost, requests arrive late, reads of changing objects are stale, time jumps. After each request that arrives it
/// checks the objects that devices can see.
final class SimulatedBucket: Sendable {
  struct Object {
    let bytes: [UInt8]
    let tag: ObjectTag
    let digest: Digest256
  }

  /// A request under way.
  struct Late {
    let key: ObjectKey
    let bytes: [UInt8]?
    let condition: WriteCondition
    let signed: Int64
  }

  struct State {
    var objects: [ObjectKey: Object] = [:]
    var time: Int64 = 1_700_000_000
    var late: [Late] = []
    var lastTag = 0

    /// The previous state of changing objects.
    var before: [ObjectKey: Object] = [:]
    var chance: Chance

    /// In 1/1000 of all requests.
    var faultRate: Int
    var requestCount = 0
    var faultCount = 0
    var faults: [String] = []

    /// The objects named by roots, by digest.
    var named: [Digest256: Set<ObjectKey>] = [:]

    /// The roots that were served at any time.
    var served: [Digest256: [UInt8]] = [:]
  }

  let state: Mutex<State>

  /// The lifetime of a request that a server of S3 accepts: 15 minutes.
  static let requestLife: Int64 = 900

  init(seed: UInt64, faultRate: Int) {
    state = Mutex(State(chance: Chance(seed), faultRate: faultRate))
  }

  var keys: Set<ObjectKey> { state.withLock { Set($0.objects.keys) } }
  var time: Int64 { state.withLock { $0.time } }
  func advance(_ seconds: Int64) { state.withLock { $0.time += seconds } }
  func calm() { state.withLock { $0.faultRate = 0 } }
  func object(_ key: ObjectKey) -> Object? { state.withLock { $0.objects[key] } }

  var ledger: Ledger {
    get throws { try Ledger(decoding: object(.ledger)?.bytes ?? [], file: "ledger") }
  }
}

extension SimulatedBucket.State {
  mutating func fault(_ name: String) -> Bool {
    guard chance.happens(faultRate) else { return false }
    faultCount += 1
    return true
  }

  /// The events that can happen between any two requests.
  mutating func passTime() {
    requestCount += 1
    time += Int64(chance.below(3))
    if chance.happens(faultRate / 4) { time += 1_500 }
    if chance.happens(faultRate / 10) { time += 7_500 }
    while !late.isEmpty, chance.happens(300) {
      let request = late.remove(at: chance.below(late.count))
      guard time - request.signed <= SimulatedBucket.requestLife else { continue }
      if let bytes = request.bytes {
        _ = write(bytes, request.key, request.condition)
      } else {
        delete(request.key)
      }
    }
  }

  mutating func write(_ bytes: [UInt8], _ key: ObjectKey, _ condition: WriteCondition) -> WriteOutcome {
    let present = objects[key]
    switch condition {
    case .always: break
    case .absent: guard present == nil else { return .refused }
    case .matching(let tag): guard present?.tag == tag else { return .refused }
    }
    lastTag += 1
    let tag = ObjectTag("\"\(lastTag)\"")!
    before[key] = present
    objects[key] = SimulatedBucket.Object(bytes: bytes, tag: tag, digest: Digest256(hashing: bytes))
    if SitePath(key.path)?.isRoot == true { checkRoots() }
    return .written(tag)
  }

  mutating func delete(_ key: ObjectKey) {
    objects[key] = nil
    checkRoots()
  }

  /// All objects named by the served roots exist.
  mutating func checkRoots() {
    for (key, object) in objects where SitePath(key.path)?.isRoot == true {
      let wanted = named[object.digest] ?? Self.names(object.bytes, objects)
      named[object.digest] = wanted
      served[object.digest] = object.bytes
      for missing in wanted where objects[missing] == nil {
        faults.append("\(key) names \(missing), which is not there")
      }
    }
  }

  /// The objects named by a root, also by a missing manifest.
  private static func names(_ bytes: [UInt8], _ objects: [ObjectKey: SimulatedBucket.Object]) -> Set<ObjectKey> {
    // No device reads a root of another draft.
    guard !SignedSiteRoot.isOfPreviousDraft(bytes) else { return [] }
    guard let root = try? SignedSiteRoot(decoding: bytes, file: "root").root else { return [.blob(.zero)] }
    var keys = Set(root.sheets.map { ObjectKey.file(.sheet($0.digest)) })
    if let head = try? root.historyHead() { keys.insert(.file(.record(head.record))) }
    for pack in root.packs {
      keys.formUnion(pack.deltas.map { .file(.delta($0.header)) })
      for offer in pack.offers {
        let key = ObjectKey.file(.version(offer.manifest))
        keys.insert(key)
        guard let object = objects[key], let manifest = try? offer.openManifest(object.bytes, of: pack.id) else {
          continue
        }
        for list in manifest.changeLists { keys.insert(.file(.changes(list.digest))) }
        for segment in manifest.segments { keys.formUnion([.file(.frames(segment.id)), .file(.segment(segment.id))]) }
      }
    }
    return keys
  }
}

/// One publisher's way to a ``SimulatedBucket``.
final class SimulatedStorage: ObjectStorage {
  let location = "simulation"
  let bucket: SimulatedBucket
  private let turns: Turns?
  private let name: Int

  /// After how many requests the publisher dies.
  private let rest: Mutex<Int>

  init(_ bucket: SimulatedBucket, turns: Turns? = nil, name: Int = 0, killedAfter count: Int = .max) {
    self.bucket = bucket
    self.turns = turns
    self.name = name
    rest = Mutex(count)
  }

  private func begin() async throws {
    await turns?.wait(name)
    let isDead = rest.withLock { rest in
      rest -= 1
      return rest < 0
    }
    if isDead { throw JobWasKilled() }
    bucket.state.withLock { $0.passTime() }
  }

  private var unreachable: DeliveryError { DeliveryError(.unreachable, "simulated", at: location) }

  func now() async throws -> Int64 { bucket.time }

  func read(_ key: ObjectKey, limit: Int) async throws -> StoredObject? {
    try await begin()
    return try bucket.state.withLock { state in
      let isChanging = key == .ledger || SitePath(key.path)?.isRoot == true
      if isChanging, state.fault("stale"), let old = state.before[key] {
        return StoredObject(bytes: old.bytes, tag: old.tag)
      }
      guard let object = state.objects[key] else { return nil }
      guard object.bytes.count <= limit else { throw DeliveryError(.badResponse, "too long", at: key.path) }
      return StoredObject(bytes: object.bytes, tag: object.tag)
    }
  }

  func examine(_ key: ObjectKey) async throws -> ObjectFacts? {
    try await begin()
    return bucket.state.withLock { state in
      state.objects[key].map { object in
        ObjectFacts(
          byteCount: UInt64(object.bytes.count), digest: state.chance.happens(500) ? object.digest : nil,
          tag: object.tag)
      }
    }
  }

  func fetch(
    _ key: ObjectKey, byteCount: UInt64, restart: () throws -> Void, _ body: (UnsafeRawBufferPointer) throws -> Void
  ) async throws -> Bool {
    try await begin()
    guard let object = bucket.object(key) else { return false }
    if bucket.state.withLock({ $0.fault("truncated") }) {
      try restart()
      try object.bytes.prefix(object.bytes.count / 2).withUnsafeBytes(body)
    }
    try restart()
    try object.bytes.withUnsafeBytes(body)
    return true
  }

  func read(_ key: ObjectKey, in range: Range<UInt64>) async throws -> [UInt8]? {
    try await begin()
    return bucket.object(key).map { object in
      let end = min(range.upperBound, UInt64(object.bytes.count))
      return range.lowerBound < end ? Array(object.bytes[Int(range.lowerBound)..<Int(end)]) : []
    }
  }

  func write(
    _ body: ObjectBody, to key: ObjectKey, _ condition: WriteCondition, latest: Int64?
  ) async throws -> WriteOutcome {
    let bytes: [UInt8] =
      switch body {
      case .bytes(let bytes): bytes
      case .file(let place, let byteCount, _): try InputFile(place.path).bytes(upTo: Int(byteCount))
      }
    #expect(Digest256(hashing: bytes) == body.digest)
    while true {
      try await begin()
      let outcome: WriteOutcome? = try bucket.state.withLock { state in
        if let latest, state.time > latest { throw LeaseOver() }
        let late = SimulatedBucket.Late(key: key, bytes: bytes, condition: condition, signed: state.time)
        if state.fault("request lost or late") {
          if state.chance.happens(700) { state.late.append(late) }
          if state.chance.happens(100) { throw unreachable }
          return nil
        }
        let outcome = state.write(bytes, key, condition)
        if state.fault("answer lost") {
          if state.chance.happens(100) { throw unreachable }
          return nil
        }
        return outcome
      }
      if let outcome { return outcome }
    }
  }

  func delete(_ key: ObjectKey, latest: Int64) async throws -> Bool {
    try await begin()
    return bucket.state.withLock { state in
      guard state.time <= latest else { return false }
      if state.fault("delete lost or late") {
        if state.chance.happens(700) {
          state.late.append(.init(key: key, bytes: nil, condition: .always, signed: state.time))
        }
        return false
      }
      state.delete(key)
      return !state.fault("answer lost")
    }
  }

  func close() async {}
}

/// Lets several publishers make their requests in an order that chance decides: the same order for the same seed.
actor Turns {
  private var waiting: [Int: [CheckedContinuation<Void, Never>]] = [:]
  private var living: Set<Int>
  private var chance: Chance

  init(of names: some Sequence<Int>, seed: UInt64) {
    living = Set(names)
    chance = Chance(seed)
  }

  func wait(_ name: Int) async {
    guard living.contains(name) else { return }
    await withCheckedContinuation { continuation in
      waiting[name, default: []].append(continuation)
      goOn()
    }
  }

  /// A publisher makes no more requests.
  func leave(_ name: Int) {
    living.remove(name)
    goOn()
  }

  /// When all wait, one of them is next.
  private func goOn() {
    guard !waiting.isEmpty, waiting.count == living.count else { return }
    let names = waiting.keys.sorted()
    let name = names[chance.below(names.count)]
    guard var own = waiting.removeValue(forKey: name) else { return }
    let first = own.removeFirst()
    if !own.isEmpty { waiting[name] = own }
    first.resume()
  }
}

extension SimulatedBucket {
  /// Returns a site in this bucket whose waits advance the bucket's clock.
  func makeSite(
    in folder: TemporaryFolder, _ storage: (any ObjectStorage)? = nil, workFolder: FilePath? = nil
  ) -> BucketSite {
    let clock = TransferClock(
      now: { .seconds(self.time) }, sleep: { self.advance($0.components.seconds + 1) }, watch: { _ in }, random: { 0 })
    var site = BucketSite(
      storage ?? SimulatedStorage(self), workFolder: workFolder, temporaryParent: FilePath(folder.path), clock: clock)
    site.ignoresClock = true
    site.parallelCount = 1
    return site
  }
}
