#if Hosting
  import ArgumentParser
  import Dispatch
  import Foundation
  import PackHosting

  struct ServeCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
      commandName: "serve", abstract: "Run the service.",
      discussion: """
        Devices do not contact the service: they read the sites below DIR/apps, which a web server serves. TLS is the \
        task of a web server in front of the service.
        """)

    @OptionGroup var data: DataOption

    @Option(help: "Address to listen at.")
    var host = "127.0.0.1"

    @Option(help: "Port; 0 for any free port.")
    var port = 8080

    @Option(
      name: .customLong("name"),
      help: "Host name that requests may use; repeatable (default: localhost, addresses and the name in --url).")
    var names: [String] = []

    @Option(help: "Public base URL, for links (default: from each request).")
    var url: String?

    @Flag(help: "Trust X-Forwarded-Proto, because a proxy of this machine forwards all requests.")
    var behindProxy = false

    @Flag(help: "Do not serve the files of sites.")
    var noSites = false

    @Option(help: "Requests in a rolling hour for each key and token.")
    var requestsPerHour = HostProgram.Options.requestsPerHour

    @Flag(help: "Permit webhooks to private addresses and by http.")
    var privateWebhooks = false

    @Flag(help: "Build deltas to new versions of the store and of external testers.")
    var deltas = false

    @Option(help: "Mail server, such as smtps://mail.example.com or smtp://localhost (default: no mail).")
    var smtp: String?

    @Option(help: "Sender of mails.")
    var mailFrom: String?

    @Option(help: "File with user and password of the mail server, on a line each.", completion: .file())
    var smtpCredentials: String?

    func validate() throws {
      guard (smtp == nil) == (mailFrom == nil), smtp != nil || smtpCredentials == nil else {
        throw ValidationError("--smtp: needs '--mail-from', and is needed by it and by '--smtp-credentials'; use both")
      }
      guard (0...65_535).contains(port) else { throw ValidationError("--port: not in 0 to 65535; use another port") }
      guard requestsPerHour > 0 else {
        throw ValidationError("--requests-per-hour: not above 0; use another number")
      }
      guard let url else { return }
      guard let parts = URLComponents(string: url), ["http", "https"].contains(parts.scheme),
        parts.host?.isEmpty == false,
        parts.query == nil, parts.fragment == nil, parts.user == nil
      else { throw ValidationError("--url: not an http or https URL; use a form such as https://packs.example.com") }
    }

    func run() async throws {
      var options = HostProgram.Options(data: data.data, program: Self.program)
      (options.host, options.port) = (host, port)
      options.publicURL = url.map { $0.hasSuffix("/") ? String($0.dropLast()) : $0 }
      options.names = ["localhost"] + names + [url.flatMap { URLComponents(string: $0)?.host }].compactMap { $0 }
      options.isBehindProxy = behindProxy
      options.servesSites = !noSites
      options.permitsPrivateAddresses = privateWebhooks
      options.requestsPerHour = requestsPerHour
      options.makesDeltas = deltas
      (options.smtp, options.mailSender, options.smtpCredentials) = (smtp, mailFrom, smtpCredentials)
      let program = HostProgram(options), host = host
      let serving = Task { try await program.run { print("packstore-host: http://\(host):\($0)") } }
      let sources = [SIGINT, SIGTERM].map { Self.onSignal($0) { serving.cancel() } }
      defer { for source in sources { source.cancel() } }
      do { try await serving.value } catch is CancellationError {}
    }

    /// The file of this process, which is also the worker's program.
    private static var program: String {
      let link = URL(filePath: "/proc/self/exe").resolvingSymlinksInPath().path(percentEncoded: false)
      return link.hasPrefix("/proc/") ? CommandLine.arguments[0] : link
    }

    private static func onSignal(_ number: Int32, _ body: @escaping @Sendable () -> Void) -> any DispatchSourceSignal {
      signal(number, SIG_IGN)
      let source = DispatchSource.makeSignalSource(signal: number, queue: .global())
      source.setEventHandler(handler: body)
      source.resume()
      return source
    }
  }
#endif
