#if Hosting
  import HTTPTypes
  import HummingbirdCore
  import Logging
  import NIOCore
  import NIOPosix
  import PackServer
  import ServiceLifecycle

  /// The HTTP server of the host. TLS is the task of a web server in front of it.
  struct HostServer: Sendable {
    let api: HostAPI
    let options: ServerOptions
    var onAnswer: @Sendable (String, String, Int) -> Void = { _, _, _ in }

    /// Serves until the surrounding task is cancelled. Running requests then have ``ServerOptions/graceTime`` to complete.
    ///
    /// - Parameter onReady: called with the port once the server accepts connections.
    /// - Throws: `IOError` if the server cannot listen at the address.
    func run(onReady: @escaping @Sendable (Int) -> Void) async throws {
      let table = ConnectionTable(limits)
      try await ConnectionServer(table, graceTime: options.graceTime).run(threadCount: System.coreCount) { group in
        service(table, group, onReady)
      }
    }

    /// All connections of a proxy have its address, so only the limits for all addresses apply.
    private var limits: ConnectionTable.Limits {
      var limits = options.limits
      guard options.isBehindProxy else { return limits }
      (limits.connectionsOfAddress, limits.transfersOfAddress) = (limits.connections, limits.transfers)
      return limits
    }

    private func service(
      _ table: ConnectionTable, _ group: MultiThreadedEventLoopGroup, _ onReady: @escaping @Sendable (Int) -> Void
    ) -> any Service {
      let responder = makeResponder(table), port = options.port
      let base = HTTP1Channel(
        responder: { try await responder.respond($0, $1, $2) },
        configuration: .init(
          httpDecoderConfiguration: .init(
            maxHeaderFieldSize: 16 << 10, maxHeaderListSize: 24 << 10, maxHeaderFieldCount: 100)))
      let configuration = ServerConfiguration(
        address: .hostname(options.host, port: options.port), serverName: nil, backlog: 512, reuseAddress: true)
      return GuardedChannel(table: table) { base }.server(
        configuration: configuration,
        onServerRunning: { channel in
          table.listen(at: channel)
          onReady(channel.localAddress?.port ?? port)
        }, eventLoopGroup: group, logger: Self.silent)
    }

    private func makeResponder(_ table: ConnectionTable) -> HostResponder {
      let context = api.context
      let handler = APIHandler(
        RouteTable(api.routes),
        authenticator: Authenticator(database: context.database, time: context.clock),
        limiter: RateLimiter(requestsPerHour: options.requestsPerHour),
        clock: context.clock, random: context.random, bodyByteCount: options.bodyByteCount,
        memory: BodyMemory(limit: options.bodyMemory), logger: Logger(label: "packstore-host"))
      return HostResponder(
        api: handler, uploads: UploadCommands(context, signer: api.signer),
        sites: options.servesSites ? SiteFiles(folder: context.folder) : nil, table: table,
        hosts: HostNames(options.names), options: options, onAnswer: onAnswer)
    }

    private static let silent = Logger(label: "PackHosting") { _ in SwiftLogNoOpLogHandler() }
  }
#endif
