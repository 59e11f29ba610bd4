import Synchronization

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#elseif canImport(Darwin)
  import Darwin
#endif

extension ManagedDownloaderExtension {
  /// Applies the policies of the group in the program's property list, waits for the downloads, and exits.
  ///
  /// Without an argument it handles the events since the last launch. The argument `install`, `update`, `periodic` or `language`
  /// names an event to handle instead. Call it from a timer or a package's installation script. Exit status: 0 if all packs were
  /// downloaded, 2 for an invalid argument, 1 for another failure.
  public static func main() async { exit(await run(CommandLine.arguments.dropFirst())) }

  private static func run(_ arguments: ArraySlice<String>) async -> CInt {
    let event = arguments.last.flatMap { BAContentRequest(word: $0) }
    // Started by the agent.
    if arguments.count == 2, arguments.first == FilterProtocol.argument, event != nil {
      return FilterService(shouldDownload: Self().shouldDownload).run() ? 0 : 1
    }
    if arguments.elementsEqual([DownloaderProtocol.argument]) {
      return await DownloaderService(Self()) { nil }.run() ? 0 : 1
    }
    guard arguments.count <= 1, event != nil || arguments.isEmpty else {
      warn("'\(arguments.joined(separator: " "))' is not an event; pass install, update, periodic, language or nothing")
      return 2
    }
    do {
      var options = AssetPackManager.Options(Self())
      options.registersApp = false
      let manager = try AssetPackManager(configuration: .main(), options: options)
      if let event { try await manager.handle(event) } else { try await manager.detectEvents() }
      try await manager.finishRequests()
      return 0
    } catch {
      warn("\(error)")
      return 1
    }
  }
}

extension BADownloaderExtension {
  /// Serves the agent that started the program. Exits with status 2 if the agent did not start it.
  public static func main() async {
    isExtensionProcess.store(true, ordering: .relaxed)
    guard CommandLine.arguments.dropFirst().elementsEqual([DownloaderProtocol.argument]) else {
      warn("only the agent of the app's group starts this extension; see 'packstore agent --help'")
      exit(2)
    }
    let service = DownloaderService(Self()) { try? BADownloadManager.shared.core }
    exit(await service.run() ? 0 : 1)
  }
}

extension AssetPackManager {
  /// Returns when all requested downloads have ended, including requests of processes that have ended.
  ///
  /// - Throws: ``LocalAvailabilityError`` for packs that were not downloaded; the error of the sites if none answers.
  public func finishRequests() async throws {
    try await resumeRequests()
    let core = try core
    // Failed requests are removed from the journal before this returns.
    defer { core.journalQueue.sync {} }
    let requests = try core.journalQueue.sync { try core.journal.read().requests }
    let catalog = try await core.catalog()
    let packs = requests.compactMap { id, request in request.isPaused ? nil : catalog.pack(id.name) }
    try await ensureAll(Set(packs)) { pack in
      try await core.scheduler.fetch(pack, .update, opensNew: false)
    }
  }
}
