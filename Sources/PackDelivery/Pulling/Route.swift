import PackStore

/// Of a delivery, what it takes to know what its frames cost. There it is asked whether it goes on with them.
final class Crossroads: Incoming {
  private let delivery: Delivery
  private let goesOn: (DeliveryTotals) -> Bool
  private var decision: Bool?

  init(_ delivery: Delivery, goesOn: @escaping (DeliveryTotals) -> Bool) {
    self.delivery = delivery
    self.goesOn = goesOn
  }

  func next() throws -> NextWant {
    let next = try delivery.next()
    guard delivery.totals.isPlanned else { return next }
    let decision = decision ?? goesOn(delivery.totals)
    self.decision = decision
    return decision ? next : .done
  }

  func give(_ bytes: UnsafeRawBufferPointer) throws -> GiveOutcome { try delivery.give(bytes) }
}

/// Of a delivery, the change list that it wants first.
final class ChangeListPart: Incoming {
  private let delivery: Delivery
  private var isHandedOut = false
  private var isGiven = false

  init(_ delivery: Delivery) { self.delivery = delivery }

  func next() throws -> NextWant {
    guard !isGiven else { return .done }
    guard !isHandedOut else { return .wait }
    isHandedOut = true
    return try delivery.next()
  }

  func give(_ bytes: UnsafeRawBufferPointer) throws -> GiveOutcome {
    let outcome = try delivery.give(bytes)
    if case .taken = outcome { isGiven = true }
    return outcome
  }
}

extension VersionManifest {
  /// The shortest change list that leads from a version that the store keeps; nil: there is none, or the version is among
  /// those that are kept.
  func changeList(from kept: [PackVersion]) -> ChangeList? {
    guard !kept.contains(where: { $0.catalog == catalog }) else { return nil }
    return changeLists.filter { list in kept.contains { $0.catalog == list.from } }.min { $0.byteCount < $1.byteCount }
  }
}

/// A delta that leads from a version that the store keeps to the one that is to come.
struct UsableDelta {
  /// What metadata costs at least, about: a delta of this length is taken without looking at what frames would cost.
  private static let cheapByteCount = 64 << 10

  let delta: SiteRoot.Delta

  /// The number of the version that it begins with.
  let from: UInt64

  /// The shortest one; nil: there is none, or the version is among those that are kept and takes no bytes at all.
  init?(to version: SiteRoot.Offer, of entry: SiteRoot.Pack, from kept: [PackVersion], but refused: Set<Digest256>) {
    guard !kept.contains(where: { $0.number == version.number }) else { return nil }
    let usable = entry.deltas.compactMap { delta -> Self? in
      guard delta.to == version.catalog, !refused.contains(delta.header) else { return nil }
      return kept.first { $0.catalog == delta.from }.map { Self(delta: delta, from: $0.number) }
    }
    guard let shortest = usable.min(by: { $0.delta.byteCount < $1.delta.byteCount }) else { return nil }
    self = shortest
  }

  private init(delta: SiteRoot.Delta, from: UInt64) {
    self.delta = delta
    self.from = from
  }

  var isCheapInAnyCase: Bool { delta.byteCount <= UInt64(Self.cheapByteCount) }

  /// Whether it is shorter than the frames that are to come.
  func isCheaper(than totals: DeliveryTotals) -> Bool {
    delta.byteCount < UInt64(max(totals.totalByteCount - totals.byteCount, 0))
  }
}

extension SegmentFiles {
  init(_ segment: VersionManifest.Segment) {
    self.init(
      segment: SiteFile(SitePath.segment(segment.id).description, byteCount: segment.byteCount),
      table: SiteFile(SitePath.frames(segment.id).description, byteCount: UInt64(segment.tableByteCount)),
      content: segment.kind == .metadata ? .metadata : .frames)
  }

  init(_ list: VersionManifest.ChangeList) {
    let file = SiteFile(SitePath.changes(list.digest).description, byteCount: UInt64(list.byteCount))
    self.init(segment: file, table: file, content: .metadata)
  }

  init(_ delta: SiteRoot.Delta) {
    let file = SiteFile(SitePath.delta(delta.header).description, byteCount: delta.byteCount)
    self.init(segment: file, table: file, content: .delta)
  }
}
