import PackFormats
import PackStore

/// The place from which a site moved to the place of a pull.
struct Arrival: Sendable {
  /// The location of the former place.
  let former: String
  let move: TrustBook.Move
}

/// The root of a place contains a valid statement that the site moved. Nothing was fetched but the root.
struct SiteHasMoved: Error {
  let move: SiteMove

  /// The channel followed at the place.
  let channel: SiteChannel
}

/// A pull from a site that may have moved: `Docs/FORMAT.md`, section 21.
///
/// It begins at the place that earlier pulls found, and follows at most one move, so that a loop of statements ends. If the new place
/// cannot be reached or its root is refused, the pull continues at the former place.
///
/// Runs on a thread that may block.
struct SitePull {
  let store: Store
  let source: any SiteSource
  var root: WholeFile?
  var tally = WireTally()
  let packs: [PackID]?
  let options: Store.PullOptions
  let isPlan: Bool
  let report: (@Sendable (Store.PullProgress) -> Void)?

  /// The new place is unusable.
  private struct MoveIsRefused: Error {
    let cause: DeliveryError
  }

  func run() async throws -> Store.PullResult {
    guard !source.isArchive else { return try await puller(source, root, options, nil, followsMoves: false).run() }
    guard let move = try TrustFile(inStore: store.path).read().moves[source.location],
      let present = try source.opening(move, options)
    else { return try await pull(from: source, root) }
    return try await closing(present) { try await pull(from: present, nil) }
  }

  private func pull(from place: any SiteSource, _ root: WholeFile?) async throws -> Store.PullResult {
    do {
      return try await puller(place, root, options, nil, followsMoves: true).run()
    } catch let moved as SiteHasMoved {
      do {
        return try await follow(moved, from: place)
      } catch let refusal as MoveIsRefused {
        var result = try await puller(place, nil, options, nil, followsMoves: false).run()
        result.refusedMove = .init(location: moved.move.url, reason: refusal.cause.reason)
        return result
      }
    }
  }

  private func follow(_ moved: SiteHasMoved, from place: any SiteSource) async throws -> Store.PullResult {
    let move: TrustBook.Move, present: (any SiteSource)?
    do {
      move = try place.destination(of: moved.move, options)
      present = try source.opening(move, options)
    } catch let error as DeliveryError { throw MoveIsRefused(cause: error) }
    guard let present else {
      throw MoveIsRefused(cause: DeliveryError(.noHTTP, "this program was built without HTTP", at: move.url))
    }
    var options = options
    options.channel = moved.channel
    let puller = puller(
      present, nil, options, Arrival(former: place.location, move: move), followsMoves: false)
    return try await closing(present) {
      do {
        return try await puller.run()
      } catch let error as DeliveryError where !puller.hasAcceptedRoot { throw MoveIsRefused(cause: error) }
    }
  }

  private func puller(
    _ place: any SiteSource, _ root: WholeFile?, _ options: Store.PullOptions, _ arrival: Arrival?, followsMoves: Bool
  ) -> Puller {
    Puller(
      into: store, from: place, root: root, counting: tally, packs: packs, options: options, isPlan: isPlan,
      arrival: arrival, followsMoves: followsMoves, report: report)
  }

  private func closing(
    _ place: any SiteSource, _ body: () async throws -> Store.PullResult
  ) async throws -> Store.PullResult {
    do {
      let result = try await body()
      await place.close()
      return result
    } catch {
      await place.close()
      throw error
    }
  }
}

extension SiteSource {
  /// Returns the place that a statement names, if the rules permit the step from here.
  ///
  /// - Throws: `badResponse` for a step from https to http, from a folder to an unsafe URL, or to this place; `invalidLocation`.
  func destination(of move: SiteMove, _ options: Store.PullOptions) throws -> TrustBook.Move {
    #if Delivery
      let target = try SiteURL(move.url), http = self as? HTTPSource
      func refusal(_ reason: String) -> DeliveryError { DeliveryError(.badResponse, reason, at: move.url) }
      guard target.canonical != location else { throw refusal("the site moved to its own place") }
      let isSafeStep = http.map { $0.start.scheme != "https" || target.scheme == "https" } ?? target.isSafe
      guard isSafeStep else { throw refusal("the site moved from a safe place to http") }
      let isPublic = http.map { !$0.clients.isPrivate($0.start) } ?? false
      return .init(
        url: target.canonical, needsPublicAddress: isPublic && !options.limits.allowsPrivateRedirects)
    #else
      throw DeliveryError(.noHTTP, "this program was built without HTTP", at: move.url)
    #endif
  }

  /// Opens the place to which the site of this source moved. An authorization is used there only on the same server.
  ///
  /// - Returns: `nil` if this program was built without HTTP.
  func opening(_ move: TrustBook.Move, _ options: Store.PullOptions) throws -> (any SiteSource)? {
    #if Delivery
      var http = options.httpOptions(options.pace)
      let target = try SiteURL(move.url)
      if (self as? HTTPSource)?.start.hasSameOrigin(as: target) != true { http.authorization = nil }
      http.siteMayBePrivate = !move.needsPublicAddress
      return try HTTPSource(move.url, options: http)
    #else
      return nil
    #endif
  }
}
