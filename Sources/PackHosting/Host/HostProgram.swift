#if Hosting
  import Foundation
  import Logging
  import PackServer
  import PackStore

  /// Runs the service.
  package struct HostProgram: Sendable {
    package struct Options: Sendable {
      package var data: String
      package var host = "127.0.0.1"
      package var port = 8080

      /// Names that requests may have in `Host`; addresses are permitted as well.
      package var names = ["localhost"]

      /// The public base URL without a final slash; `nil` for the listening address.
      package var publicURL: String?
      package var isBehindProxy = false
      package var servesSites = true
      package var permitsPrivateAddresses = false

      /// Requests in a rolling hour for each key and token.
      package var requestsPerHour = Self.requestsPerHour
      package static let requestsPerHour = Assumptions.requestsPerHour

      /// Whether deltas to new versions of the store and of external testers are built.
      package var makesDeltas = false

      /// The URL of the mail server, such as `smtps://mail.example.com`; `nil` without mail.
      package var smtp: String?

      /// The sender of mails.
      package var mailSender: String?

      /// A file with user and password of the mail server, on a line each.
      package var smtpCredentials: String?

      /// The program that is started as a worker.
      package var program: String

      package init(data: String, program: String) {
        self.data = data
        self.program = program
      }
    }

    private let options: Options
    private let logger: Logger

    package init(_ options: Options) {
      self.options = options
      logger = Logger(label: "packstore-host")
    }

    /// Serves and works until the surrounding task is cancelled.
    ///
    /// - Parameter onReady: called with the port once requests are accepted.
    /// - Throws: `busy` if another process works with the data folder; errors of listening, of the folder and of the database.
    package func run(onReady: @escaping @Sendable (Int) -> Void) async throws {
      let origin = options.publicURL ?? "http://\(options.host):\(options.port)"
      let service = try HostService(at: FilePath(options.data), origin: origin)
      let lock = try service.folder.lock()
      defer { withExtendedLifetime(lock) {} }
      let queue = DeliveryQueue(
        service.context,
        transport: NetworkTransport(permitsPrivateAddresses: options.permitsPrivateAddresses),
        permitsPrivateAddresses: options.permitsPrivateAddresses)
      let loop = WorkLoop(
        service, worker: ProcessWorker(executable: FilePath(options.program)), deliveries: queue,
        mails: try mails(of: service), makesDeltas: options.makesDeltas, logger: logger)
      try await loop.start()
      let server = server(of: service)
      try await withThrowingTaskGroup(of: Void.self) { group in
        group.addTask { try await loop.run() }
        group.addTask { try await server.run(onReady: onReady) }
        // The end of either ends the other.
        defer { group.cancelAll() }
        try await group.next()
      }
    }

    /// - Throws: `invalidArgument` for options of mail that are not valid; errors of reading the credentials.
    private func mails(of service: HostService) throws -> MailQueue? {
      guard let url = options.smtp else { return nil }
      guard var server = SMTPServer(url: url) else {
        throw Self.invalid(
          "smtp", "'\(url)' is not the URL of a mail server", "use a form such as smtps://mail.example.com")
      }
      guard let sender = options.mailSender.flatMap({ MailAddress(rawValue: $0) }) else {
        throw Self.invalid("mail-from", "not a mail address", "use a form such as packs@example.com")
      }
      if let file = options.smtpCredentials {
        let text = String(decoding: try InputFile(FilePath(file)).contents(limit: 4096), as: UTF8.self)
        guard let credentials = SMTPServer.Credentials(text: text) else {
          throw Self.invalid("smtp-credentials", "not two lines", "write the user and the password on a line each")
        }
        server.credentials = credentials
      }
      return MailQueue(service.context, transport: SMTPTransport(server: server), sender: sender)
    }

    private static func invalid(_ name: String, _ fault: String, _ remedy: String) -> PackStoreError {
      var error = PackStoreError(.invalidArgument, fault, about: .parameter(name))
      error.specificRemedy = remedy
      return error
    }

    private func server(of service: HostService) -> HostServer {
      var api = HostAPI(context: service.context, signer: service.signer)
      api.permitsPrivateAddresses = options.permitsPrivateAddresses
      var server = ServerOptions()
      (server.host, server.port, server.names) = (options.host, options.port, options.names)
      (server.publicURL, server.isBehindProxy, server.servesSites) = (
        options.publicURL, options.isBehindProxy, options.servesSites
      )
      server.requestsPerHour = options.requestsPerHour
      return HostServer(api: api, options: server)
    }
  }
#endif
