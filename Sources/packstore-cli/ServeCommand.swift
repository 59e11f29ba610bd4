import ArgumentParser
import PackStore

#if Serving
  import PackServing
  import Synchronization
#endif

/// A server to develop against.
struct Serve: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "Serve archives, stores and sites on this machine, to develop against.",
    discussion: """
      Until it is stopped, clients of sites, apps on Apple's systems and browsers have what is named: archives of 'packstore package' \
      and 'packstore export', asset packs of Apple's (.aar), stores and sites. What changes on disk is served as it is now; \
      an archive that is being copied is not seen before it is whole.

        packstore serve Tutorial.pack
        packstore serve Packs Site --port 9000
        packstore serve --print-authority > authority.pem

      At '/' is a page that shows packs, channels and who fetches what. '/site' is a site of the archives and stores, signed by a key \
      for development; '/sites/NAME' are the sites that are named; '/manifest?platform=iOS' is what BAManifestURL names, and \
      '/packs/NAME' are the archives of it.

      It is HTTPS, by an authority of this machine that is made on first use and lies with its key in \
      $XDG_DATA_HOME/packstore-serve, or ~/.local/share/packstore-serve. Nothing is installed: have clients trust what \
      '--print-authority' prints, such as 'packstore pull --ca FILE' and 'curl --cacert FILE'. See Docs/Developing.md.

      Only this machine can connect, unless '--host' names one of its addresses, or 0.0.0.0 for all. Ctrl-C ends it: transfers may \
      go on to their end for '--grace' seconds.
      """
  )

  @Argument(help: .init("Archives, stores and sites.", valueName: "source"), completion: .file())
  var sources: [String] = []

  @Option(help: .init("The address to listen at.", valueName: "host"))
  var host = "127.0.0.1"

  @Option(help: .init("The port; 0: one that is free (default: 8443, or 8080 with --http).", valueName: "port"))
  var port: Int?

  @Option(
    name: .customLong("name"),
    help: .init("A name by which clients call this machine, beside its own; may be repeated.", valueName: "host"))
  var names: [String] = []

  @Option(
    parsing: .upToNextOption,
    help: .init("A certificate and its key, as PEM, in place of one by the authority.", valueName: "file"),
    completion: .file())
  var identity: [String] = []

  @Flag(help: "HTTP without TLS, which apps on Apple's systems refuse.")
  var http = false

  @Flag(help: "Print the authority's certificate, as PEM, which is made if need be.")
  var printAuthority = false

  @Option(
    help: .init("Where authority, key and development sites are kept.", valueName: "folder"), completion: .directory)
  var folder: String?

  @Option(help: .init("How long transfers may take when it ends.", valueName: "seconds"))
  var grace = 10

  @OptionGroup var report: ReportOptions

  func validate() throws {
    guard (0...65_535).contains(port ?? 0) else { throw ValidationError("--port goes from 0 to 65535") }
    guard identity.isEmpty || identity.count == 2 else {
      throw ValidationError("--identity takes two files, the certificate and its key, and stands behind the sources")
    }
    guard !http || identity.isEmpty else { throw ValidationError("--http and --identity exclude each other") }
    guard printAuthority != !sources.isEmpty else {
      throw ValidationError(
        printAuthority ? "--print-authority takes no sources" : "name an archive, a store or a site to serve")
    }
    guard (0...3600).contains(grace) else { throw ValidationError("--grace goes from 0 to 3600 seconds") }
    guard !host.isEmpty, !names.contains("") else { throw ValidationError("a host has a name") }
  }

  #if Serving
    func run() async throws {
      let folder = try stateFolder()
      var options = DevelopmentServer.Options()
      options.host = host
      options.names = names
      if printAuthority {
        // That of the server with the same options.
        let authority = try LocalAuthority(in: folder, names: options.requiredNames)
        let output = Output()
        try output.write(authority.certificateText.utf8)
        return try output.flush()
      }
      let log = ServeLog(report)
      options.port = port ?? (http ? 8080 : 8443)
      options.isPlain = http
      if identity.count == 2 { options.identity = (FilePath(identity[0]), FilePath(identity[1])) }
      options.graceTime = .seconds(grace)
      options.onRequest = { log.tell($0) }
      options.onNotice = { log.notice($0) }
      let served = try sources.map { try ServedSource(FilePath($0)) }
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
        throw Failure(.failed, "there is no HOME to keep the authority in", remedy: "name a folder with --folder")
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
