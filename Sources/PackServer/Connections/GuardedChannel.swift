#if Serving || Hosting
  package import HummingbirdCore
  package import Logging
  package import NIOCore
  import PackStore

  #if canImport(Glibc)
    import Glibc
  #elseif canImport(Musl)
    import Musl
  #elseif canImport(Darwin)
    import Darwin
  #endif

  /// The setup of a connection: counts it, then starts TLS with HTTP/2 or HTTP/1.1, or HTTP/1.1 alone.
  package struct GuardedChannel<Base: ServerChildChannel>: ServerChildChannel {
    package let table: ConnectionTable

    /// Returns the current setup; its certificate may be renewed while the server runs.
    package let base: @Sendable () -> Base

    package init(table: ConnectionTable, base: @escaping @Sendable () -> Base) {
      (self.table, self.base) = (table, base)
    }

    struct Refused: Error {}

    package func setup(channel: any Channel, logger: Logger) -> EventLoopFuture<GuardedValue<Base>> {
      guard table.admit(channel) else {
        channel.close(mode: .all, promise: nil)
        return channel.eventLoop.makeFailedFuture(Refused())
      }
      let base = base()
      return Self.limit(channel).flatMap { base.setup(channel: channel, logger: logger) }
        .map { GuardedValue(base: base, value: $0) }
    }

    /// The number of bytes of a transfer that the kernel buffers before sending.
    private static var unsentByteCount: SocketOptionValue { 128 << 10 }

    /// Makes writers wait while any data is buffered here. When an answer has been written, all but its last piece is in the
    /// kernel, and closing the connection loses none of it.
    ///
    /// The kernel's buffer is limited, too. Otherwise it would accept megabytes for a client that receives kilobytes per second,
    /// and a stalled client would remain undetected for minutes. Failing to set this option is not an error.
    private static func limit(_ channel: any Channel) -> EventLoopFuture<Void> {
      let unsent = ChannelOptions.tcpOption(.init(rawValue: TCP_NOTSENT_LOWAT))
      return channel.setOption(ChannelOptions.writeBufferWaterMark, value: .init(low: 1, high: 1)).flatMap {
        channel.setOption(unsent, value: unsentByteCount).flatMapErrorThrowing { _ in }
      }
    }

    package func handle(value: GuardedValue<Base>, logger: Logger) async {
      await value.base.handle(value: value.value, logger: logger)
    }
  }

  /// A connection with its setup.
  package struct GuardedValue<Base: ServerChildChannel>: ServerChildChannelValue {
    package let base: Base
    package let value: Base.Value
    package var channel: any Channel { value.channel }
  }
#endif
