import ArgumentParser
import PackStore

#if Serving
  import PackServing
  import Synchronization
#endif

/// A server to develop against.
struct Serve: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "serve",
    abstract: "Serve packs from this machine for development.",
    discussion: """
      Serves archives of 'packstore package' and 'packstore export', Apple's asset packs (.aar), stores and sites to \
      clients of sites, apps on Apple's systems and browsers, until it is stopped. Changes on disk take effect \
      immediately; an archive is served once it is copied completely.

        packstore serve Tutorial.pack
        packstore serve Packs Site --port 9000
        packstore serve --print-authority > authority.pem

      '/' is a page with packs, channels and current clients. '/site' is a site of the archives and stores, signed \
      with a development key; '/sites/NAME' are the given sites; '/manifest?platform=iOS' is the manifest for \
      BAManifestURL, and '/packs/NAME' are its archives.

      The server uses HTTPS, with a certificate authority that is created on first use and stored with its key in \
      $XDG_DATA_HOME/packstore-serve, or ~/.local/share/packstore-serve. Nothing is installed: make clients trust the \
      output of '--print-authority', such as with 'packstore pull --ca FILE' or 'curl --cacert FILE'. See \
      Docs/Developing.md.

      Only this machine can connect, unless '--host' is one of its addresses, or 0.0.0.0 for all. Ctrl-C stops the \
      server; running transfers may continue for '--grace' seconds.
      """
  )

  @Argument(help: .init("Archives, stores and sites.", valueName: "source"), completion: .file())
  var sources: [String] = []

  @Option(help: .init("Address to listen on.", valueName: "host"))
  var host = "127.0.0.1"

  @Option(help: .init("Port; 0 selects a free one (default: 8443, or 8080 with --http).", valueName: "port"))
  var port: Int?

  @Option(
    name: .customLong("name"),
    help: .init("Additional host name of this machine for the certificate; repeatable.", valueName: "host"))
  var names: [String] = []

  @Option(
    parsing: .upToNextOption,
    help: .init("Certificate and key in PEM files, in place of one by the authority.", valueName: "file"),
    completion: .file())
  var identity: [String] = []

  @Option(
    name: .customLong("identity-path"),
    help: .init("Like --identity, with one file each: the certificate, then its key.", valueName: "file"),
    completion: .file())
  var identityPaths: [String] = []

  @Flag(help: "Use the authority's certificate, as is the default; accepted for command lines of Apple's ba-serve.")
  var chooseIdentityAutomatically = false

  @Option(
    parsing: .upToNextOption,
    help: .init(
      "Version numbers of Apple's asset packs, in the order of the archives (default: 1).", valueName: "n"))
  var assetPackVersions: [UInt64] = []

  @Flag(help: "Use HTTP without TLS, which apps on Apple's systems refuse.")
  var http = false

  @Flag(help: "Print the authority's certificate in PEM form; creates the authority if necessary.")
  var printAuthority = false

  @Option(
    help: .init("Folder for authority, key and development sites.", valueName: "folder"), completion: .directory)
  var folder: String?

  @Option(help: .init("Time for running transfers after Ctrl-C.", valueName: "seconds"))
  var grace = 10

  @OptionGroup var report: ReportOptions

  func validate() throws {
    guard (0...65_535).contains(port ?? 0) else { throw ValidationError("--port must be from 0 to 65535") }
    guard files.isEmpty || files.count == 2 else {
      throw ValidationError("--identity and --identity-path need two files: the certificate and its key")
    }
    guard !http || files.isEmpty else { throw ValidationError("--http and --identity exclude each other") }
    guard !chooseIdentityAutomatically || files.isEmpty else {
      throw ValidationError("--choose-identity-automatically and --identity exclude each other")
    }
    guard assetPackVersions.count <= sources.count else {
      throw ValidationError("--asset-pack-versions has more numbers than there are sources")
    }
    guard printAuthority != !sources.isEmpty else {
      throw ValidationError(
        printAuthority ? "--print-authority takes no sources" : "name an archive, a store or a site to serve")
    }
    guard (0...3600).contains(grace) else { throw ValidationError("--grace must be from 0 to 3600 seconds") }
    guard !host.isEmpty, !names.contains("") else { throw ValidationError("the name of a host is empty") }
  }

  /// The files of the certificate and its key, by either option.
  private var files: [String] { identity + identityPaths }

  #if Serving
    func run() async throws {
      let folder = try stateFolder()
      var options = DevelopmentServer.Options()
      options.host = host
      options.names = names
      if printAuthority {
        // The authority of the server with the same options.
        let authority = try LocalAuthority(in: folder, names: options.requiredNames)
        let output = Output()
        try output.write(authority.certificateText.utf8)
        return try output.flush()
      }
      let log = ServeLog(report)
      options.port = port ?? (http ? 8080 : 8443)
      options.isPlain = http
      if files.count == 2 { options.identity = (FilePath(files[0]), FilePath(files[1])) }
      options.graceTime = .seconds(grace)
      options.onRequest = { log.tell($0) }
      options.onNotice = { log.notice($0) }
      let served = try sources.enumerated().map { index, source in
        try ServedSource(FilePath(source), version: index < assetPackVersions.count ? assetPackVersions[index] : nil)
      }
      let server = try DevelopmentServer(served, in: folder, options: options)
      try await server.run { log.ready($0) }
      try log.check()
    }

    private func stateFolder() throws -> FilePath {
      if let folder { return FilePath(folder) }
      let environment = ProcessInfo.processInfo.environment
      if let data = environment["XDG_DATA_HOME"].map({ FilePath($0) }), data.isAbsolute {
        return data.appending("packstore-serve")
      }
      guard let home = environment["HOME"], !home.isEmpty else {
        throw Failure(.failed, "HOME is not set, so the authority has no folder", remedy: "name a folder with --folder")
      }
      return FilePath(home).appending(".local/share/packstore-serve")
    }
  #else
    func run() async throws {
      throw Failure(
        .failed, "this program was built without its server",
        remedy: "build it with 'swift build --traits default,Serving', as 'make release' does")
    }
  #endif
}
