#if Serving
  import HummingbirdCore
  import HummingbirdHTTP2
  import Logging
  import NIOCore
  import PackStore
  import Synchronization

  /// How a connection begins: counted, then by TLS with HTTP/2 or HTTP/1.1, or by HTTP/1.1 alone.
  struct GuardedChannel<Base: ServerChildChannel>: ServerChildChannel {
    let table: ConnectionTable

    /// The one that is current: its certificate may be renewed while the server runs.
    let base: @Sendable () -> Base

    struct Refused: Error {}

    func setup(channel: any Channel, logger: Logger) -> EventLoopFuture<GuardedValue<Base>> {
      guard table.admit(channel) else {
        channel.close(mode: .all, promise: nil)
        return channel.eventLoop.makeFailedFuture(Refused())
      }
      let base = base()
      return base.setup(channel: channel, logger: logger).map { GuardedValue(base: base, value: $0) }
    }

    func handle(value: GuardedValue<Base>, logger: Logger) async {
      await value.base.handle(value: value.value, logger: logger)
    }
  }

  /// A connection, with what began it.
  struct GuardedValue<Base: ServerChildChannel>: ServerChildChannelValue {
    let base: Base
    let value: Base.Value
    var channel: any Channel { value.channel }
  }
#endif
