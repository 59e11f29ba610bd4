import PackStore
import Synchronization

#if Delivery
  import AsyncHTTPClient
  import NIOCore
  import NIOHTTP1
#endif

/// Plays a network between us and a server: its rate, latency, losses and resets. What a transfer does about them is the same as
/// with a real one, for it is below everything that tries again.
///
/// What happens to a request depends on the seed, on what it asks for, and on how often that was asked for before, and not on other
/// requests: so a play can be repeated, in whatever order requests are made.
package final class ShapedNetwork: Sendable {
  /// A request and what came of it.
  package struct Exchange: Hashable, Sendable {
    /// Of the URL, with its query.
    package var target: String
    /// As it was asked for; nil: the whole file.
    package var range: String?
    /// Nil: there was no answer.
    package var status: Int?
    /// Of the body.
    package var byteCount = 0
    package var stallCount = 0
    /// What broke it off.
    package var fault: String?
    /// By the clock of the play.
    package var begin: Duration
    package var end: Duration
  }

  package static let segmentByteCount = 1460

  let shape: NetworkShape
  private let seed: UInt64
  private let clock: SimulatedClock
  private let limit: RateLimit?
  private let observe: @Sendable (Exchange) -> Void
  /// How often each thing was asked for.
  private let counts = Mutex<[String: UInt64]>([:])

  package init(
    _ shape: NetworkShape, seed: UInt64, clock: SimulatedClock,
    observe: @escaping @Sendable (Exchange) -> Void = { _ in }
  ) {
    self.shape = shape
    self.seed = seed
    self.clock = clock
    self.observe = observe
    limit = shape.bytesPerSecond.map { RateLimit(bytesPerSecond: $0, clock: clock.transferClock) }
  }

  /// Chance for one request.
  private func makeFate(_ target: String, _ range: String?) -> NetworkFate {
    let name = "\(range ?? "") \(target)"
    let count = counts.withLock { counts in
      counts[name, default: 0] += 1
      return counts[name] ?? 0
    }
    return NetworkFate(seed: seed, name: name, count: count, shape)
  }
}

/// What happens to the bytes of one request, by their places.
struct NetworkFate: Sendable {
  private var random: SplitMix64
  private let shape: NetworkShape
  /// Where the connection is reset; nil: it is not.
  let resetOffset: Int?
  private var offset = 0
  private var nextSegment = 0

  init(seed: UInt64, name: String, count: UInt64, _ shape: NetworkShape) {
    // FNV-1a: Swift's own hashes differ from run to run.
    let hash = name.utf8.reduce(0xcbf2_9ce4_8422_2325 as UInt64) { ($0 ^ UInt64($1)) &* 0x0000_0100_0000_01b3 }
    random = SplitMix64(state: seed ^ hash ^ (count &* 0x9e37_79b9_7f4a_7c15))
    self.shape = shape
    let isReset = random.next() < shape.resets
    let place = random.next()
    resetOffset = isReset ? Int(place * 65_536) : nil
  }

  /// How many of the next bytes come before the reset, and how many of their segments come late.
  mutating func advance(_ count: Int) -> (byteCount: Int, stallCount: Int) {
    let isCut = resetOffset.map { $0 < offset + count } ?? false
    let taken = isCut ? max((resetOffset ?? 0) - offset, 0) : count
    var stallCount = 0
    offset += taken
    while nextSegment < offset {
      if shape.loss > 0, random.next() < shape.loss { stallCount += 1 }
      nextSegment += ShapedNetwork.segmentByteCount
    }
    return (taken, stallCount)
  }
}

/// Steele, Lea and Flood's generator.
struct SplitMix64: Sendable {
  var state: UInt64

  /// From 0 up to 1.
  mutating func next() -> Double {
    state &+= 0x9e37_79b9_7f4a_7c15
    var mixed = state
    mixed = (mixed ^ (mixed >> 30)) &* 0xbf58_476d_1ce4_e5b9
    mixed = (mixed ^ (mixed >> 27)) &* 0x94d0_49bb_1331_11eb
    return Double((mixed ^ (mixed >> 31)) >> 11) * 0x1p-53
  }
}

#if Delivery
  extension ShapedNetwork {
    /// Makes a request as it would be answered over this network.
    ///
    /// - Parameter send: makes it over the real one.
    func get(
      _ target: String, range: String?, _ send: @escaping @Sendable () async throws -> HTTPClientResponse
    ) async throws -> HTTPClientResponse {
      let transfer = ShapedTransfer(self, Exchange(target: target, range: range, begin: clock.now, end: clock.now))
      guard !shape.isOffline else {
        transfer.end("the network is unreachable")
        throw IOError(errnoCode: Errno.networkUnreachable.rawValue, reason: "no network")
      }
      do {
        var response = try await clock.outsideOfPlay(send)
        try await clock.sleep(shape.latency)
        transfer.answered(Int(response.status.code))
        response.body = .stream(ShapedBody(base: response.body, fate: makeFate(target, range), transfer: transfer))
        return response
      } catch {
        transfer.end("\(error)")
        throw error
      }
    }

    fileprivate func pass(_ byteCount: Int, stallCount: Int) async throws {
      if let limit { try await limit.pay(byteCount) }
      if stallCount > 0 { try await clock.sleep(shape.retransmissionTime * stallCount) }
    }

    fileprivate func receive(_ body: @escaping @Sendable () async throws -> ByteBuffer?) async throws -> ByteBuffer? {
      try await clock.outsideOfPlay(body)
    }

    fileprivate func report(_ exchange: Exchange) {
      var exchange = exchange
      exchange.end = clock.now
      observe(exchange)
    }
  }

  /// A request that is under way; told of when it ends, however it does.
  private final class ShapedTransfer: Sendable {
    let network: ShapedNetwork
    private let exchange: Mutex<ShapedNetwork.Exchange?>

    init(_ network: ShapedNetwork, _ exchange: ShapedNetwork.Exchange) {
      self.network = network
      self.exchange = Mutex(exchange)
    }

    deinit { end(nil) }

    func answered(_ status: Int) { exchange.withLock { $0?.status = status } }

    func add(byteCount: Int, stallCount: Int) {
      exchange.withLock { exchange in
        exchange?.byteCount += byteCount
        exchange?.stallCount += stallCount
      }
    }

    func end(_ fault: String?) {
      let ended = exchange.withLock { exchange in
        defer { exchange = nil }
        exchange?.fault = fault
        return exchange
      }
      if let ended { network.report(ended) }
    }
  }

  /// The bytes of an answer, as they come over the network that is played.
  private struct ShapedBody: AsyncSequence, Sendable {
    typealias Element = ByteBuffer
    let base: HTTPClientResponse.Body
    let fate: NetworkFate
    let transfer: ShapedTransfer

    func makeAsyncIterator() -> Iterator {
      Iterator(base: IteratorBox(base.makeAsyncIterator()), fate: fate, transfer: transfer)
    }

    /// One task at a time asks for the next bytes.
    final class IteratorBox: @unchecked Sendable {
      private var base: HTTPClientResponse.Body.AsyncIterator

      init(_ base: HTTPClientResponse.Body.AsyncIterator) { self.base = base }

      func next() async throws -> ByteBuffer? { try await base.next() }
    }

    struct Iterator: AsyncIteratorProtocol {
      let base: IteratorBox
      var fate: NetworkFate
      let transfer: ShapedTransfer
      private var isReset = false

      init(base: IteratorBox, fate: NetworkFate, transfer: ShapedTransfer) {
        self.base = base
        self.fate = fate
        self.transfer = transfer
      }

      mutating func next() async throws -> ByteBuffer? {
        guard !isReset else { throw reset() }
        do {
          guard var bytes = try await transfer.network.receive({ [base] in try await base.next() }) else {
            transfer.end(nil)
            return nil
          }
          let (byteCount, stallCount) = fate.advance(bytes.readableBytes)
          isReset = byteCount < bytes.readableBytes
          transfer.add(byteCount: byteCount, stallCount: stallCount)
          try await transfer.network.pass(byteCount, stallCount: stallCount)
          guard !isReset || byteCount > 0 else { throw reset() }
          return bytes.readSlice(length: byteCount)
        } catch {
          transfer.end("\(error)")
          throw error
        }
      }

      private func reset() -> IOError {
        transfer.end("the connection was reset")
        return IOError(errnoCode: Errno.connectionReset.rawValue, reason: "reset")
      }
    }
  }
#endif
