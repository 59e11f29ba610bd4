import PackFormats
import PackStore

/// Runs a delivery until the cost of its frames is known, then asks whether to continue.
final class FrameCostProbe: Incoming {
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

/// The first part of a delivery: its change list.
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
  /// Returns the shortest change list from a kept version; `nil` if none exists, or if the version itself is kept.
  func changeList(from kept: [PackVersion]) -> ChangeList? {
    guard !kept.contains(where: { $0.catalog == catalog }) else { return nil }
    return changeLists.filter { list in kept.contains { $0.catalog == list.from } }.min { $0.byteCount < $1.byteCount }
  }
}

/// The deltas from a kept version to a version: one, or a chain of them.
struct DeltaRoute {
  /// The approximate minimum size of metadata: shorter deltas are used without computing the cost of frames.
  private static let cheapByteCount = 64 << 10

  /// The deltas, in the order in which they are applied.
  let deltas: [SiteRoot.Delta]

  /// The number of the kept version that the first one begins with.
  let from: UInt64

  /// The size of all deltas together.
  let byteCount: UInt64

  /// Finds the shortest one; `nil` if none exists, or if the version itself is kept and needs no bytes. Intermediate versions of a
  /// chain need not be offered: the root contains no chain through a withdrawn version.
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

  /// Whether it is shorter than the frames still to fetch.
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
