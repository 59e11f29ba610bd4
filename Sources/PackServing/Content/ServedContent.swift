import PackFormats

#if Serving
  import PackAuthoring
  import PackServer
  import PackStore
  import Synchronization

  /// All served content, kept in agreement with the disk.
  ///
  /// Sites among the sources are served from their own folders. The other sources, archives and stores, are published to one
  /// *development site*: a folder of this server, whose roots the development key signs. Each source is published again when it has
  /// changed.
  ///
  /// - A source is checked when a request depends on it, at most once per ``lookInterval``. If its file's state (inode, size,
  ///   times) has changed, it is read completely, and all signatures and checksums are verified. If that fails, or the state
  ///   changes during the check, the earlier content is served and the fault is shown, so that a partially copied archive is never
  ///   served. The check is repeated when the state changes, and after ``faultInterval``: a store or a disk may be repaired by
  ///   then.
  /// - The archive of a pack is the source file, while it is unchanged since its check. For packs of stores and sites, an archive
  ///   is created on the first request.
  final class ServedContent: Sendable {
    /// The served content, for display to users.
    struct State: Sendable {
      var sites: [ServedSite] = []
      /// The faults of sources that cannot be served in their current state.
      var faults: [FilePath: String] = [:]
    }

    /// The archive of a pack.
    struct Archive: Sendable {
      let file: ServedFile
      let subject: Subject
    }

    private struct Source {
      let source: ServedSource
      var state: FileState?
      /// The properties of an archive; `nil` for other sources.
      var pack: HostedArchive?
      /// The state of the file when it could not be served, and the time of the check.
      var refused: (state: FileState, at: ContinuousClock.Instant)?

      /// Returns whether the file should be checked.
      func isDue(_ now: FileState) -> Bool {
        guard let refused, refused.state == now else { return true }
        return .now - refused.at >= ServedContent.faultInterval
      }
    }

    /// The properties of an archive that was checked.
    private struct HostedArchive {
      let path: FilePath
      let state: FileState
      let digest: Digest256
      let pack: HostedPack
    }

    private struct Known {
      var sources: [Source]
      var faults: [FilePath: String] = [:]
      /// The created archives of packs in stores and sites, by names such as `Tutorial@3`.
      var made: [String: HostedArchive] = [:]
    }

    private let known: Mutex<Known>
    private let lastLook = Mutex<ContinuousClock.Instant?>(nil)
    private let worker: SerialWorker

    /// The development site; `nil` if all sources are sites.
    let development: ServedSite?
    private let sites: [ServedSite]
    private let folder: FilePath
    private let key: SiteKey
    private let tell: @Sendable (String) -> Void

    /// - Parameters:
    ///   - folder: the folder for the development site and the created archives.
    ///   - key: the key that signs the site and the archives.
    ///   - tell: called with a line for the user when a source has changed or has a fault.
    init(_ sources: [ServedSource], folder: FilePath, key: SiteKey, tell: @escaping @Sendable (String) -> Void) throws {
      self.folder = folder
      self.key = key
      self.tell = tell
      known = Mutex(Known(sources: sources.map { Source(source: $0) }))
      worker = SerialWorker()
      let named = sources.filter { $0.kind == .site }
      let others = sources.contains { $0.kind == .archive || $0.kind == .store }
      development = others ? ServedSite("", in: folder.appending("site")) : nil
      var sites: [ServedSite] = development.map { [$0] } ?? []
      // A single site is also served at `/site`.
      if !others, named.count == 1 { sites.append(ServedSite("", in: named[0].path)) }
      for source in named {
        let base = source.path.lexicallyNormalized().lastComponent?.string ?? "site"
        let taken = Set(sites.map(\.name))
        var name = base, number = 2
        while taken.contains(name) {
          name = "\(base)-\(number)"
          number += 1
        }
        sites.append(ServedSite(name, in: source.path))
      }
      self.sites = sites
    }

    var state: State { State(sites: sites, faults: known.withLock { $0.faults }) }

    func site(_ name: String?) -> ServedSite? { sites.first { $0.name == name ?? "" } }

    // MARK: - Checking sources

    /// The shortest time between two checks of the sources.
    static let lookInterval: Duration = .milliseconds(250)

    /// The time for which an unchanged source with a fault is not checked again, so that requests do not cause repeated reads of a
    /// large archive.
    static let faultInterval: Duration = .seconds(5)

    /// The maximum time that a request waits for changes to be published. After this time, it is answered with the earlier content.
    static let patience: Duration = .seconds(5)

    /// Updates the served content from the disk, and waits at most ``patience`` for the update.
    func refresh() async {
      let now = ContinuousClock.now
      let isDue = lastLook.withLock { last in
        if let last, now - last < Self.lookInterval { return false }
        last = now
        return true
      }
      guard isDue else { return }
      await worker.run(within: Self.patience) { await self.lookAtSources() }
    }

    /// Updates the served content from the disk, and waits for the update without a limit.
    func load() async { await worker.run(within: nil) { await self.lookAtSources() } }

    private func lookAtSources() async {
      let sources = known.withLock { $0.sources }
      for (index, source) in sources.enumerated() {
        do { try await look(at: source, index) } catch { note(Self.text(error), of: source.source.path) }
      }
      for site in sites { site.look() }
    }

    private func look(at source: Source, _ index: Int) async throws {
      let state = try source.source.state()
      guard source.isDue(state) else { return }
      if state != source.state {
        do { try await take(source.source, state, at: index) } catch {
          known.withLock { $0.sources[index].refused = (state, .now) }
          throw error
        }
      }
      known.withLock { known in
        known.faults[source.source.path] = nil
        known.sources[index].refused = nil
      }
    }

    private func note(_ fault: String, of path: FilePath) {
      let isNew = known.withLock { known in
        let isNew = known.faults[path] != fault
        known.faults[path] = fault
        return isNew
      }
      let wasServed = known.withLock { $0.sources.contains { $0.source.path == path && $0.state != nil } }
      let consequence = wasServed ? "the earlier content is still served as a site" : "it is not served"
      if isNew { tell("\(path.string): \(fault); \(consequence)") }
    }

    private static func text(_ error: any Error) -> String {
      guard let error = error as? PackStoreError else { return "\(error)" }
      return [error.reason, error.specificRemedy].compactMap { $0 }.joined(separator: "; ")
    }

    private func take(_ source: ServedSource, _ state: FileState, at index: Int) async throws {
      var archive: HostedArchive?
      switch source.kind {
      case .site: break
      case .store:
        try await publish(.store(try Store(at: source.path, options: .readOnly)))
      case .archive, .assetPack:
        archive = try await BlockingExecutor.run { try Self.host(source.path, state, version: source.version) }
        if source.kind == .archive {
          try await publish(.archives(try ArchivedPacks(ofAnyPublisher: source.path, signedBy: key)))
        }
        guard try source.state() == state else {
          throw PackStoreError(.sourceChanged, "changed while it was read", file: source.path.string)
        }
      }
      let isFirst = known.withLock { known in
        let isFirst = known.sources[index].state == nil
        known.sources[index].state = state
        known.sources[index].pack = archive
        return isFirst
      }
      if !isFirst { tell("\(source.path.string): changed; the new content is served") }
    }

    private static func host(_ path: FilePath, _ state: FileState, version: UInt64? = nil) throws -> HostedArchive {
      let pack = try HostedPack(archive: path, version: version)
      let file = try InputFile(path)
      var digest = DigestBuilder()
      var offset: UInt64 = 0
      while true {
        let bytes = try file.bytes(at: offset, upTo: 1 << 20)
        guard !bytes.isEmpty else { break }
        bytes.withUnsafeBytes { digest.update($0) }
        offset += UInt64(bytes.count)
      }
      guard try file.state == state else {
        throw PackStoreError(.sourceChanged, "changed while it was read", file: path.string)
      }
      return HostedArchive(path: path, state: state, digest: digest.finish(), pack: pack)
    }

    private func publish(_ source: Site.Source) async throws {
      guard let development else { return }
      try makeFolder(folder, isSecret: true)
      let site = try Site(at: development.folder)
      var options = Site.PublishOptions(level: 3)
      options.deltaOptions = Store.DeltaOptions(level: 3)
      do { try await site.publish(from: source, signedBy: key, options: options) } catch let error as PackStoreError
        where error.code == .exists
      {
        throw Self.takenNumber(error)
      }
    }

    /// Devices identify a version by its number and may have the earlier content: other content with the same number is refused.
    private static func takenNumber(_ error: PackStoreError) -> PackStoreError {
      var refusal = error
      // The log shows only the fault.
      refusal.reason = error.finding
      refusal.subject = nil
      refusal.specificRemedy = "give the new content a higher version number"
      return refusal
    }

    // MARK: - Archives

    /// Returns the manifest that lists the packs for Apple's framework.
    ///
    /// - Parameter baseURL: the folder of the archives.
    func manifest(for platform: Platform?, baseURL: String) async throws -> String {
      var manifest = DownloadManifest()
      let platforms = platform.map { Set([$0]) } ?? []
      for archive in try await archives().sorted(by: { $0.pack.id < $1.pack.id }) {
        _ = try manifest.add(archive.pack, platforms: platforms, baseURL: .init(developing: baseURL))
      }
      return manifest.text
    }

    /// Returns the archive of the newest version of a pack; `nil` if the pack does not exist.
    func archive(of pack: PackID) async throws -> Archive? {
      guard let archive = try await archives(only: pack).first(where: { $0.pack.id == pack.name }) else { return nil }
      let file: ServedFile
      do { file = try ServedFile(archive.path, state: archive.state, digest: archive.digest) } catch {
        // The new file was also checked: its fault is the cause.
        guard let fault = known.withLock({ $0.faults[archive.path] }) else { throw error }
        throw PackStoreError(.sourceChanged, fault)
      }
      let version = archive.pack.version.map { "\(pack)@\($0)" } ?? pack.name
      return Archive(
        file: file, subject: Subject(place: "/packs", version: version, kind: .archive, wholeByteCount: file.byteCount))
    }

    /// Returns an archive of the newest version of each pack: a source file, or a created archive.
    private func archives(only pack: PackID? = nil) async throws -> [HostedArchive] {
      var found: [String: HostedArchive] = [:]
      for archive in known.withLock({ $0.sources.compactMap(\.pack) }) {
        let other = found[archive.pack.id]
        if (other?.pack.version ?? 0) <= (archive.pack.version ?? 0) { found[archive.pack.id] = archive }
      }
      for source in known.withLock({ $0.sources.map(\.source) }) where source.kind == .store || source.kind == .site {
        let store = try Store(at: source.path, options: .readOnly)
        for current in try store.makeSnapshot().packs where pack == nil || pack == current.id {
          let version = current.version
          guard (found[version.pack.name]?.pack.version ?? 0) < version.number else { continue }
          found[version.pack.name] = try await make(version, from: store)
        }
      }
      return Array(found.values)
    }

    private func make(_ version: PackVersion, from store: Store) async throws -> HostedArchive {
      let name = "\(version.pack)@\(version.number)-\(version.catalog.description.prefix(16))"
      if let made = known.withLock({ $0.made[name] }), (try? InputFile(made.path).state) == made.state { return made }
      let path = folder.appending("\(name).pack")
      return try await worker.result {
        try makeFolder(self.folder, isSecret: true)
        if !pathExists(path) {
          _ = try await store.export(
            .init(version.pack, version: version.number), to: path, signedBy: self.key, options: .init(level: 3))
        }
        let made = try await BlockingExecutor.run { try Self.host(path, try InputFile(path).state) }
        self.known.withLock { $0.made[name] = made }
        return made
      }
    }
  }

  /// Runs tasks one after another.
  private actor SerialWorker {
    private var last: Task<Void, Never>?

    /// Runs `body` after all earlier work has ended, and waits for its end.
    ///
    /// - Parameter limit: the maximum time to wait. The work continues after it.
    func run(within limit: Duration?, _ body: @escaping @Sendable () async -> Void) async {
      let before = last
      let task = Task {
        await before?.value
        await body()
      }
      last = task
      guard let limit else { return await task.value }
      let (stream, end) = AsyncStream<Void>.makeStream()
      Task {
        await task.value
        end.finish()
      }
      await waitForEnd(of: stream, within: limit)
    }

    func result<Value: Sendable>(_ body: @escaping @Sendable () async throws -> Value) async throws -> Value {
      let before = last
      let task = Task {
        await before?.value
        return try await body()
      }
      last = Task { _ = await task.result }
      return try await task.value
    }
  }
#endif
