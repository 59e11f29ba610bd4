#if Hosting
  import PackServer

  /// Options of the HTTP server.
  struct ServerOptions: Sendable {
    /// The address to listen at, or a name that resolves to it.
    var host = "127.0.0.1"

    /// The port; 0 for any free port.
    var port = 8080

    /// Names that requests may have in `Host`. Addresses are always accepted; requests for other names are refused with 421.
    var names: [String] = ["localhost"]

    /// The public base URL without a final slash, for links; `nil` derives it from each request.
    var publicURL: String?

    /// Whether requests arrive from a proxy of this machine, whose `X-Forwarded-Proto` is the scheme of links.
    var isBehindProxy = false

    /// Whether the files of sites are served: for development. In production a web server reads them from the data folder.
    var servesSites = true

    var limits = ConnectionTable.Limits()

    /// Requests in a rolling hour for each key and token.
    var requestsPerHour = Assumptions.requestsPerHour

    /// Bytes of a body on the API. Parts of uploads have their own length.
    var bodyByteCount = 256 << 10

    /// Bytes of all bodies on the API that are received or processed at the same time.
    var bodyMemory = 32 << 20

    /// Seconds for a small request, and for its answer. Large ones have more time.
    var requestSeconds: Int64 = 60

    /// Bytes per second below which a part or a file of a site is too slow.
    var leastRate: Int64 = 16 << 10

    /// The time for running requests to complete when the server is stopped.
    var graceTime: Duration = .seconds(10)

    /// The time for a request that transfers a number of bytes.
    func duration(for byteCount: Int64) -> Duration { .seconds(requestSeconds + max(0, byteCount) / max(1, leastRate)) }
  }
#endif
