import ArgumentParser
import PackDelivery
import PackStore

/// The origins of the packs, and the trusted key of each place.
struct Trust: AsyncParsableCommand, CommandWithSubject {
  static let configuration = CommandConfiguration(
    commandName: "trust",
    abstract: "Show or change the publishers that a store trusts.",
    discussion: """
      Every pack has an origin: a publisher's key and product, 'local' for packs added here, or 'unknown' for packs \
      found by a repair. Only the same origin can update a pack. Origins are listed in the order in which their packs \
      win; priorities apply within an origin. Places are the sites pulled from, each with the number of its newest \
      root.

        packstore trust Packs
        packstore trust Packs order 3f2a9c0d local
        packstore trust Packs forget 3f2a9c0d

      'order' moves the given origins to the front. 'forget' deletes an origin's places, so that another key is \
      accepted there, and the origin itself if the store has none of its packs. An origin is identified by the first \
      digits of its id, at least four.
      """
  )

  enum Action: String, ExpressibleByArgument, CaseIterable { case list, forget, order }

  @OptionGroup var store: StoreArgument

  @Argument(help: "The action: list, forget or order.")
  var action = Action.list

  @Argument(help: .init("Ids of origins.", valueName: "id"))
  var ids: [String] = []

  @OptionGroup var wait: WaitOption
  @OptionGroup var report: ReportOptions

  func validate() throws {
    switch action {
    case .list: guard ids.isEmpty else { throw ValidationError("'list' does not accept ids") }
    case .forget:
      guard ids.count == 1 else { throw ValidationError("'forget' needs the id of one origin: \(whereIDsAre)") }
    case .order:
      guard !ids.isEmpty else {
        throw ValidationError("'order' needs the ids of the first origins: \(whereIDsAre)")
      }
    }
    for id in ids where id.count < 4 {
      throw ValidationError("'\(escaped(id))' is too short; use at least four digits of an origin's id")
    }
  }

  private var whereIDsAre: String { "'packstore trust \(escaped(store.store))' lists them" }

  var subject: Failure.Facts { .init(store: store.store) }

  func run() async throws {
    let store = try self.store.open(action == .list ? .readOnly : .existing)
    let file = TrustFile(inStore: FilePath(self.store.store))
    let snapshot = try store.makeSnapshot()
    let book = try file.read()
    let origins = try ids.map { try find($0, among: snapshot.origins + book.places.values.map(\.origin)) }
    switch action {
    case .list: break
    case .order:
      try await store.write(options: .init(waitsForWriters: !wait.noWait)) { transaction in
        try transaction.setOrder(of: origins)
      }
    case .forget: try await forget(origins[0], in: store, file)
    }
    try show(try store.makeSnapshot(), try file.read())
  }

  private func forget(_ origin: Store.Origin, in store: Store, _ file: TrustFile) async throws {
    let count = try file.update { $0.forget(origin) }
    let snapshot = try store.makeSnapshot()
    let packs = (snapshot.packs + snapshot.removedPacks).filter { $0.origin == origin }.map(\.id)
    guard packs.isEmpty else {
      guard count > 0 else {
        throw Failure(
          .inUse, "\(origin.id): the store has packs of this origin, such as '\(packs[0])'",
          remedy: "remove them first", pack: packs[0])
      }
      return
    }
    guard snapshot.origins.contains(origin) else { return }
    try await store.write(options: .init(waitsForWriters: !wait.noWait)) { transaction in
      try transaction.forget(origin)
    }
  }

  private func find(_ id: String, among origins: [Store.Origin]) throws -> Store.Origin {
    let found = Set(origins.filter { $0.id.hasPrefix(id) })
    guard let origin = found.first else {
      throw noSuchOrigin(id, among: Set(origins.map(\.id)).sorted())
    }
    guard found.count == 1 else {
      throw Failure(
        .invalidArgument, "'\(escaped(id))': several origins begin with it", remedy: "use more digits of the id")
    }
    return origin
  }

  /// Ids are compared by the digits given.
  private func noSuchOrigin(_ id: String, among ids: [String]) -> Failure {
    let nearest = ids.filter { !nearestNames(to: id, among: [String($0.prefix(id.count))]).isEmpty }.prefix(3)
    let finding = "origin '\(escaped(id))': does not exist"
    var failure = Failure(
      .notFound, nearest.isEmpty ? "\(finding) (origins: \(listed(ids)))" : finding,
      remedy: nearest.isEmpty ? nil : "did you mean \(alternatives(Array(nearest)))?")
    failure.facts.suggestions = Array(nearest)
    return failure
  }

  // MARK: - Report

  private func show(_ snapshot: Snapshot, _ book: TrustBook) throws {
    let packs = snapshot.packs
    let list = TrustReport(
      origins: snapshot.origins.map { origin in
        TrustReport.Source(
          origin, packs: packs.filter { $0.origin == origin }.map(\.id.name),
          removed: snapshot.removedPacks.filter { $0.origin == origin }.map(\.id.name))
      },
      places: book.places.sorted { ($0.key.location, $0.key.channel) < ($1.key.location, $1.key.channel) }.map(
        TrustReport.Place.init))
    let output = Output()
    if report.json {
      try output.json(list)
    } else if report.isTalkative {
      try output.lines(text(list))
    }
    try output.flush()
  }

  private func text(_ list: TrustReport) -> [String] {
    var origins = Table(("ORIGIN", .left), ("PRODUCT", .left), ("KEY", .left), ("PACKS", .left))
    for origin in list.origins {
      origins.add([origin.id, origin.product ?? "", origin.key ?? "", origin.packs.joined(separator: ", ")])
    }
    guard !list.places.isEmpty else { return origins.lines }
    var places = Table(
      ("PLACE", .left), ("CHANNEL", .left), ("ORIGIN", .left), ("KEY", .left), ("ROOT", .right), ("MADE", .left))
    for place in list.places {
      places.add([escaped(place.place), place.channel, place.origin, place.key, "\(place.sequence)", place.madeAt])
    }
    return origins.lines + [""] + places.lines
  }
}

private struct TrustReport: Encodable {
  struct Source: Encodable {
    let id, kind: String
    let key, product: String?
    let packs, removedPacks: [String]

    init(_ origin: Store.Origin, packs: [String], removed: [String]) {
      id = origin.id
      kind =
        switch origin {
        case .local: "local"
        case .signed: "signed"
        case .unsigned: "unsigned"
        case .unknown: "unknown"
        }
      key = origin.key?.description
      product = origin.product?.name
      self.packs = packs
      removedPacks = removed
    }
  }

  struct Place: Encodable {
    let place, channel, origin, key, product: String
    let sequence: UInt64
    let madeAt: String

    init(_ place: (key: TrustBook.PlaceKey, value: TrustBook.Place)) {
      self.place = withoutSecrets(place.key.location)
      channel = place.key.channel.name
      origin = place.value.origin.id
      key = place.value.rootKey.description
      product = place.value.product.name
      sequence = place.value.sequence
      madeAt = formatDate(nanoseconds: place.value.madeAt)
    }
  }

  let origins: [Source]
  let places: [Place]
}
