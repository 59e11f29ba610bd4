#if Delivery
  import AsyncHTTPClient
  import NIOCore
  import NIOHTTP1
  import NIOPosix
  import NIOSSL
  import PackStore

  /// The reason why a connection failed or broke, in words for users, without type names, addresses and targets of the network
  /// library.
  package struct ConnectionFault: CustomStringConvertible, Sendable {
    package let description: String

    package init(_ error: any Error) { description = Self.describe(error) }

    private static let closed = "the connection was closed early"

    private static func describe(_ error: any Error) -> String {
      switch error {
      case let error as NIOConnectionError: describe(error)
      case let error as IOError: "\(Errno(rawValue: error.errnoCode))"
      case let error as HTTPClientError: describe(error)
      case ChannelError.connectTimeout: "no connection was made in time"
      case let error as NIOSSLError: describe(error)
      case is ChannelError, is NIOSSLExtraError: closed
      case HTTPParserError.invalidEOFState: closed
      // Its texts are words.
      case let error as HTTPParserError: "\(error)"
      case let error as ImproperStatus: "\(error)"
      default: "the network reported an unknown error"
      }
    }

    private static func describe(_ error: NIOConnectionError) -> String {
      guard let first = error.connectionErrors.first else { return "no address of the host '\(error.host)' was found" }
      return describe(first.error)
    }

    private static func describe(_ error: HTTPClientError) -> String {
      switch error {
      case .remoteConnectionClosed, .uncleanShutdown: closed
      case .connectTimeout: "no connection was made in time"
      default: error.shortDescription.prefix(1).lowercased() + error.shortDescription.dropFirst()
      }
    }

    private static func describe(_ error: NIOSSLError) -> String {
      switch error {
      case .uncleanShutdown: closed
      // BoringSSL has no other form of this.
      case .handshakeFailed(let cause) where "\(cause)".contains("WRONG_VERSION_NUMBER"): "the server does not use TLS"
      default: "the TLS handshake failed"
      }
    }
  }

  /// The proxy in the environment does not reach the server.
  package struct ProxyFault: Error {
    private enum Kind {
      case unreachable(String)
      case wantsPassword
      case refuses
    }
    private let kind: Kind
    private let proxy: ProxyServer
    private let host: String

    /// `nil` if the proxy is not the cause.
    init?(_ error: any Error, of proxy: ProxyServer, to url: SiteURL) {
      self.proxy = proxy
      host = url.plainHost
      switch error {
      // All connections go to the proxy.
      case is NIOConnectionError, is IOError, ChannelError.connectTimeout:
        kind = .unreachable("\(ConnectionFault(error))")
      case let error as HTTPClientError:
        switch error {
        case .connectTimeout: kind = .unreachable("\(ConnectionFault(error))")
        case .proxyAuthenticationRequired: kind = .wantsPassword
        case .invalidProxyResponse, .httpProxyHandshakeTimeout, .socksHandshakeTimeout: kind = .refuses
        default: return nil
        }
      case is NIOSSLError, is NIOSSLExtraError, is HTTPParserError, is ImproperStatus, is CancellationError: return nil
      // The errors of SOCKS have no common type.
      default:
        guard proxy.kind == .socks else { return nil }
        kind = .refuses
      }
    }

    /// `nil` if the answer is the server's own.
    init?(_ response: HTTPClientResponse, of proxy: ProxyServer, to url: SiteURL) {
      guard response.status == .proxyAuthenticationRequired else { return nil }
      self.proxy = proxy
      host = url.plainHost
      kind = .wantsPassword
    }

    /// Whether another attempt may succeed.
    var isTemporary: Bool {
      if case .wantsPassword = kind { false } else { true }
    }

    package func error(at place: String) -> DeliveryError {
      let name = "the proxy \(proxy.authority) (\(proxy.variable))"
      var error =
        switch kind {
        case .unreachable(let reason): DeliveryError(.unreachable, "\(name) cannot be reached (\(reason))", at: place)
        case .wantsPassword: DeliveryError(.denied, "\(name) requires a name and a password (407)", at: place)
        case .refuses: DeliveryError(.unreachable, "\(name) does not connect to the host '\(host)'", at: place)
        }
      error.specificRemedy =
        if case .wantsPassword = kind {
          "set \(proxy.variable)=http://NAME:PASSWORD@\(proxy.authority), or exclude the host '\(host)' with no_proxy"
        } else {
          "check the proxy, or exclude the host '\(host)' with no_proxy"
        }
      return error
    }
  }
#endif
