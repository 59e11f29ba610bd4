import PackFormats

#if Serving
  import HTTPTypes
  import HummingbirdCore
  import HummingbirdHTTP2
  import Logging
  import NIOCore
  import NIOPosix
  import PackAuthoring
  import PackServer
  public import PackStore
  import ServiceLifecycle
  import Synchronization

  /// A development server: serves archives, stores and sites to clients of sites and to Apple's framework. See this target's
  /// README.
  ///
  ///     let server = try DevelopmentServer([ServedSource("Tutorial.pack")], in: folder)
  ///     try await server.run { ready in print(ready.url) }
  public final class DevelopmentServer: Sendable {
    public struct Options: Sendable {
      /// The address to listen at, or a name that resolves to it.
      public var host = "127.0.0.1"

      /// The port; 0 for any free port.
      public var port = 8443

      /// The paths of a certificate and its key in PEM; `nil` for a certificate of the local authority.
      public var identity: (certificate: FilePath, key: FilePath)?

      /// Whether to serve HTTP without TLS, which excludes HTTP/2.
      public var isPlain = false

      /// Names of the server, in addition to the machine's names.
      public var names: [String] = []

      /// The time for running transfers to complete when the server is stopped.
      public var graceTime: Duration = .seconds(10)

      /// Called for each answered request.
      public var onRequest: @Sendable (RequestNote) -> Void = { _ in }

      /// Called with a line for the user when a source has changed or cannot be served.
      public var onNotice: @Sendable (String) -> Void = { _ in }

      var limits = ConnectionTable.Limits()

      public init() {}

      /// The names and addresses for which the local authority must be valid, in addition to the machine's permanent names and
      /// addresses: ``names``, and ``host`` unless it means only this machine or all its addresses.
      public var requiredNames: [String] {
        names + (MachineNames.isLoopback(host) || MachineNames.isAny(host) ? [] : [host])
      }
    }

    /// The addresses and keys of a running server.
    public struct Ready: Sendable {
      /// The base URL, without a trailing slash.
      public let url: String

      /// The URL of the site at `/site`, which clients use; `nil` if no site has that path because several sites are served.
      public let site: String?

      /// The URLs of the sites among the sources.
      public let sites: [String]

      /// The authority that clients must trust; `nil` with another certificate, or without TLS.
      public let authority: LocalAuthority?

      /// The key that clients of the development site trust; `nil` if none exists.
      public let key: SitePublicKey?
    }

    private let options: Options
    private let content: ServedContent
    private let status = ServerStatus()
    private let authority: LocalAuthority?
    private let key: SiteKey
    private let names: MachineNames
    private let makeIdentity: @Sendable () throws -> ServerIdentity?

    /// - Parameters:
    ///   - sources: the sources to serve.
    ///   - folder: the server's folder, for its authority, its key, and development sites.
    /// - Throws: errors of reading keys and certificates.
    public init(_ sources: [ServedSource], in folder: FilePath, options: Options = .init()) throws {
      self.options = options
      let names = MachineNames(
        more: options.names + (MachineNames.isAny(options.host) ? [] : [options.host]))
      self.names = names
      (key, _) = try SiteKey.readOrMake(folder.appending("root.key"))
      if options.isPlain {
        authority = nil
        makeIdentity = { nil }
      } else if let identity = options.identity {
        authority = nil
        makeIdentity = { try ServerIdentity(certificate: identity.certificate, key: identity.key) }
      } else {
        let authority = try LocalAuthority(in: folder, names: options.requiredNames)
        self.authority = authority
        makeIdentity = { try ServerIdentity(by: authority, for: names, now: Date()) }
      }
      content = try ServedContent(
        sources, folder: folder.appending("sites").appending(Self.name(of: sources)), key: key, tell: options.onNotice)
    }

    /// Returns the name of the folder for a set of sources, so that its development site keeps its history.
    private static func name(of sources: [ServedSource]) -> String {
      let paths = sources.map { absolute($0.path).string }.sorted().joined(separator: "\n")
      return String(Digest256(hashing: Array(paths.utf8)).hex.prefix(16))
    }

    private static func absolute(_ path: FilePath) -> FilePath {
      let here = FilePath(ProcessInfo.processInfo.environment["PWD"] ?? "/")
      return (path.isAbsolute ? path : here.pushing(path)).lexicallyNormalized()
    }

    // MARK: - Running

    /// Serves until the surrounding task is cancelled. Running transfers then have ``Options/graceTime`` to complete.
    ///
    /// - Throws: `busy` if another program listens at the port; `ioError` if the server cannot listen at the address.
    public func run(onReady: @escaping @Sendable (Ready) -> Void) async throws {
      await content.load()
      let table = ConnectionTable(options.limits), identity = try makeIdentity()
      let hosts = HostNames(names.names + (identity?.names ?? []))
      let responder = Responder(
        router: Router(content: content, status: status, hosts: hosts, isSecure: identity != nil), table: table,
        status: status, log: options.onRequest)
      do {
        try await ConnectionServer(table, graceTime: options.graceTime).run(threadCount: System.coreCount / 2) {
          [self] group in
          try service(responder, table, group, identity) { [self] channel in
            table.listen(at: channel)
            onReady(ready(at: channel.localAddress?.port ?? options.port))
          }
        }
      } catch let error as IOError {
        throw refusal(error)
      }
    }

    private static let silent = Logger(label: "PackServing") { _ in SwiftLogNoOpLogHandler() }

    private func service(
      _ responder: Responder, _ table: ConnectionTable, _ group: MultiThreadedEventLoopGroup,
      _ identity: ServerIdentity?,
      _ onRunning: @escaping @Sendable (any Channel) -> Void
    ) throws -> any Service {
      let configuration = ServerConfiguration(
        address: .hostname(options.host, port: options.port), serverName: nil, backlog: 512, reuseAddress: true)
      let respond: HTTPChannelHandler.Responder = { request, writer, channel in
        try await responder.respond(request, writer, channel)
      }
      let http1 = HTTP1Channel.Configuration(
        httpDecoderConfiguration: .init(
          maxHeaderFieldSize: 8 << 10, maxHeaderListSize: 16 << 10, maxHeaderFieldCount: 100))
      guard let identity else {
        let base = HTTP1Channel(responder: respond, configuration: http1)
        return GuardedChannel(table: table) { base }.server(
          configuration: configuration, onServerRunning: { onRunning($0) }, eventLoopGroup: group, logger: Self.silent)
      }
      let identities = try RenewedChannel(first: identity, renew: makeIdentity) { identity in
        try HTTP2UpgradeChannel(
          tlsConfiguration: identity.configuration,
          configuration: .init(streamConfiguration: http1), responder: respond)
      }
      return GuardedChannel(table: table) { identities.current }.server(
        configuration: configuration, onServerRunning: { onRunning($0) }, eventLoopGroup: group, logger: Self.silent)
    }

    private func ready(at port: Int) -> Ready {
      let named = options.names.first ?? (MachineNames.isLoopback(options.host) ? "localhost" : nil)
      let host = named ?? (MachineNames.isAny(options.host) ? names.names.last ?? "localhost" : options.host)
      let url = "\(options.isPlain ? "http" : "https")://\(host.contains(":") ? "[\(host)]" : host):\(port)"
      return Ready(
        url: url, site: content.site(nil).map { _ in "\(url)/site" },
        sites: content.state.sites.filter { !$0.name.isEmpty }.map { url + $0.place }, authority: authority,
        key: content.development.map { _ in key.rootKey })
    }

    private func refusal(_ error: IOError) -> PackStoreError {
      let place = "\(options.host):\(options.port)"
      switch Errno(rawValue: error.errnoCode) {
      case .addressInUse:
        var refusal = PackStoreError(.busy, "the address is in use by another program", about: .value(place))
        refusal.specificRemedy = "choose another port with '--port', or 0 for any free port"
        return refusal
      case .permissionDenied:
        return PackStoreError(.ioError, "ports below 1024 are reserved for the system", about: .value(place))
      case let other: return PackStoreError(.ioError, "cannot listen (\(other))", about: .value(place))
      }
    }
  }

  /// The setup of connections, with a certificate that is renewed in time.
  private final class RenewedChannel: Sendable {
    private struct State {
      var identity: ServerIdentity
      var channel: HTTP2UpgradeChannel
    }
    private let state: Mutex<State>
    private let renew: @Sendable () throws -> ServerIdentity?
    private let make: @Sendable (ServerIdentity) throws -> HTTP2UpgradeChannel

    init(
      first: ServerIdentity, renew: @escaping @Sendable () throws -> ServerIdentity?,
      _ make: @escaping @Sendable (ServerIdentity) throws -> HTTP2UpgradeChannel
    ) throws {
      state = Mutex(State(identity: first, channel: try make(first)))
      self.renew = renew
      self.make = make
    }

    /// The current setup. If the certificate cannot be renewed, the setup uses the old certificate.
    var current: HTTP2UpgradeChannel {
      state.withLock { state in
        if let renewal = state.identity.renewal, renewal < Date(), let next = try? renew(),
          let channel = try? make(next)
        {
          state = State(identity: next, channel: channel)
        }
        return state.channel
      }
    }
  }
#endif
