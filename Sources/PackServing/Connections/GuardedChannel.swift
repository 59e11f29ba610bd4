#if Serving
  import HummingbirdCore
  import HummingbirdHTTP2
  import Logging
  import NIOCore
  import PackStore

  #if canImport(Glibc)
    import Glibc
  #elseif canImport(Musl)
    import Musl
  #elseif canImport(Darwin)
    import Darwin
  #endif

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
      return Self.limit(channel).flatMap { base.setup(channel: channel, logger: logger) }
        .map { GuardedValue(base: base, value: $0) }
    }

    /// What the kernel holds of a transfer before it goes on its way.
    private static var unsentByteCount: SocketOptionValue { 128 << 10 }

    /// Has writers wait as long as anything waits here: when an answer was handed over, all before its last piece has gone to the
    /// kernel, and a connection that is closed then loses nothing of it.
    ///
    /// The kernel keeps little of its own, too: it would take megabytes for a client that takes kilobytes a second, and for minutes
    /// there would be no telling whether that client takes anything. It is not the same without, but no failure.
    private static func limit(_ channel: any Channel) -> EventLoopFuture<Void> {
      let unsent = ChannelOptions.tcpOption(.init(rawValue: TCP_NOTSENT_LOWAT))
      return channel.setOption(ChannelOptions.writeBufferWaterMark, value: .init(low: 1, high: 1)).flatMap {
        channel.setOption(unsent, value: unsentByteCount).flatMapErrorThrowing { _ in }
      }
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
