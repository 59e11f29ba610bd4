import PackFormats
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

/// The deltas by which a version may come from one that the store keeps: one, or a chain of them.
struct DeltaRoute {
  /// What metadata costs at least, about: deltas of this length are taken without looking at what frames would cost.
  private static let cheapByteCount = 64 << 10

  /// In the order in which they are applied.
  let deltas: [SiteRoot.Delta]

  /// The number of the version that the first one begins with.
  let from: UInt64

  /// Of all of them.
  let byteCount: UInt64

  /// The shortest one; nil: there is none, or the version is among those that are kept and takes no bytes at all. What is in the
  /// middle of a chain need not be offered: the root names no chain through what was withdrawn.
  init?(to version: SiteRoot.Offer, of entry: SiteRoot.Pack, from kept: [PackVersion], but refused: Set<Digest256>) {
    guard !kept.contains(where: { $0.number == version.number }) else { return nil }
    let routes = DeltaRoutes(to: version.catalog, by: entry.deltas.filter { !refused.contains($0.header) })
    let usable = kept.compactMap { from in
      routes.shortest(from: from.catalog).map { Self(deltas: $0, from: from.number) }
    }
    guard let shortest = usable.min(by: { ($0.byteCount, $0.deltas.count) < ($1.byteCount, $1.deltas.count) }) else {
      return nil
    }
    self = shortest
  }

  private init(deltas: [SiteRoot.Delta], from: UInt64) {
    self.deltas = deltas
    self.from = from
    byteCount = deltas.byteCount
  }

  var isCheapInAnyCase: Bool { byteCount <= UInt64(Self.cheapByteCount) }

  /// Whether it is shorter than the frames that are to come.
  func isCheaper(than totals: DeliveryTotals) -> Bool {
    byteCount < UInt64(max(totals.totalByteCount - totals.byteCount, 0))
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
