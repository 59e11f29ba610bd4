import PackStore
import Synchronization

#if Delivery
  import AsyncHTTPClient
  import NIOCore
  import NIOHTTP1

  extension ShapedNetwork {
    /// Sends a request over the simulated network.
    ///
    /// - Parameter send: sends it over the real one.
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

  /// A running request, which is notified when it ends in any way.
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

  /// The bytes of an answer, as they arrive over the simulated network.
  private struct ShapedBody: AsyncSequence, Sendable {
    typealias Element = ByteBuffer
    let base: HTTPClientResponse.Body
    let fate: NetworkFate
    let transfer: ShapedTransfer

    func makeAsyncIterator() -> Iterator {
      Iterator(base: IteratorBox(base.makeAsyncIterator()), fate: fate, transfer: transfer)
    }

    /// Only one task at a time requests the next bytes.
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
