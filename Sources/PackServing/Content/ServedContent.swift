import PackFormats

#if Serving
  import PackAuthoring
  import PackStore
  import Synchronization

  /// Everything that is served, kept true to what lies on disk.
  ///
  /// Sites that were named are served from where they lie. What else was named, archives and stores, becomes one *development
  /// site*: a folder of this server's own, to which each is published when it changed, and whose roots the development key signs.
  ///
  /// - A source is looked at when a request depends on it, and at most once in ``lookInterval``. If its file's state (inode, size, times)
  ///   is another one than before, it is read as a whole, with all signatures and checksums. If that fails, or the state has changed
  ///   meanwhile, what was served before is served on, and the fault is shown: a half-copied archive is never seen. It is tried
  ///   again when the state is another one, and after ``faultInterval``: a store or a disk may be in order again by then.
  /// - The archive of a pack is the file that was named, as long as it is what was checked; of packs of stores and sites an archive
  ///   is made when it is asked for first.
  final class ServedContent: Sendable {
    /// What there is, as people are shown it.
    struct State: Sendable {
      var sites: [ServedSite] = []
      /// Of sources that cannot be served as they are.
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
      /// Archives alone.
      var pack: HostedArchive?
      /// As it was when it could not be served, and when that was found out.
      var refused: (state: FileState, at: ContinuousClock.Instant)?

      /// Whether it is time to look at what lies there.
      func isDue(_ now: FileState) -> Bool {
        guard let refused, refused.state == now else { return true }
        return .now - refused.at >= ServedContent.faultInterval
      }
    }

    /// What is known of an archive that was checked.
    private struct HostedArchive {
      let path: FilePath
      let state: FileState
      let digest: Digest256
      let pack: HostedPack
    }

    private struct Known {
      var sources: [Source]
      var faults: [FilePath: String] = [:]
      /// Archives that were made of packs of stores and sites, by names such as `Tutorial@3`.
      var made: [String: HostedArchive] = [:]
    }

    private let known: Mutex<Known>
    private let lastLook = Mutex<ContinuousClock.Instant?>(nil)
    private let worker: SerialWorker

    /// The development site; nil where only sites were named.
    let development: ServedSite?
    private let sites: [ServedSite]
    private let folder: FilePath
    private let key: SiteKey
    private let tell: @Sendable (String) -> Void

    /// - Parameters:
    ///   - folder: where this server keeps the development site and archives that it makes.
    ///   - key: signs them.
    ///   - tell: called with a line for people when a source changed, or has a fault.
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
      // A site alone is at /site, too.
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

    // MARK: - Looking

    /// How often sources are looked at, at most.
    static let lookInterval: Duration = .milliseconds(250)

    /// How long what cannot be served is let alone if it is as it was: requests must not have a large archive read again and again.
    static let faultInterval: Duration = .seconds(5)

    /// How long a request waits for what changed to be published. Then it is answered with what there was.
    static let patience: Duration = .seconds(5)

    /// Brings what is served up to date with what lies on disk; waits for that, within ``patience``.
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

    /// The same, however long it takes.
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
      let consequence = wasServed ? "as a site, what was served before is served on" : "it is not served"
      if isNew { tell("\(path.string): \(fault); \(consequence)") }
    }

    private static func text(_ error: any Error) -> String {
      guard let error = error as? PackStoreError else { return "\(error)" }
      return [error.reason, error.specificRemedy].compactMap { $0 }.joined(separator: ": ")
    }

    private func take(_ source: ServedSource, _ state: FileState, at index: Int) async throws {
      var archive: HostedArchive?
      switch source.kind {
      case .site: break
      case .store:
        try await publish(.store(try Store(at: source.path, options: .readOnly)))
      case .archive, .assetPack:
        archive = try await BlockingExecutor.run { try Self.host(source.path, state) }
        if source.kind == .archive {
          try await publish(.archives(try ArchivedPacks(ofAnyPublisher: source.path, signedBy: key)))
        }
        guard try source.state() == state else {
          throw PackStoreError(.sourceChanged, "the archive is being written", file: source.path.string)
        }
      }
      let isFirst = known.withLock { known in
        let isFirst = known.sources[index].state == nil
        known.sources[index].state = state
        known.sources[index].pack = archive
        return isFirst
      }
      if !isFirst { tell("\(source.path.string): changed, and served as it is now") }
    }

    private static func host(_ path: FilePath, _ state: FileState) throws -> HostedArchive {
      let pack = try HostedPack(archive: path)
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
        throw PackStoreError(.sourceChanged, "the archive is being written", file: path.string)
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

    /// Devices know a version by its number, and have the content that it had: another content under it is refused.
    private static func takenNumber(_ error: PackStoreError) -> PackStoreError {
      var refusal = error
      // With the name of the pack.
      refusal.reason = error.finding
      refusal.specificRemedy = "give the new content a higher number"
      return refusal
    }

    // MARK: - Archives

    /// What tells Apple's framework which packs there are.
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

    /// The archive of the newest version of a pack; nil where there is no such pack.
    func archive(of pack: PackID) async throws -> Archive? {
      guard let archive = try await archives(only: pack).first(where: { $0.pack.id == pack.name }) else { return nil }
      let file: ServedFile
      do { file = try ServedFile(archive.path, state: archive.state, digest: archive.digest) } catch {
        // What lies there by now was looked at, too.
        guard let fault = known.withLock({ $0.faults[archive.path] }) else { throw error }
        throw PackStoreError(.sourceChanged, fault)
      }
      let version = archive.pack.version.map { "\(pack)@\($0)" } ?? pack.name
      return Archive(
        file: file, subject: Subject(place: "/packs", version: version, kind: .archive, wholeByteCount: file.byteCount))
    }

    /// Of each pack the newest version: the archive that was named, or one that is made.
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

  /// Runs one piece of work after another.
  private actor SerialWorker {
    private var last: Task<Void, Never>?

    /// Begins `body` when all before it has ended, and waits for its end.
    ///
    /// - Parameter limit: how long to wait at most; the work goes on.
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
