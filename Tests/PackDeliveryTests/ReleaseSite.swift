import PackFormats

#if Delivery
  import Foundation
  import PackAuthoring
  import PackDelivery
  import PackStore
  import Synchronization

  /// A site whose packs are published and released by the product's code, and a device that follows it.
  struct ReleaseSite {
    let site = SitePullTests()

    var path: String { site.folder.path }
    var location: String { "\(path)/site" }

    /// A store without a cache folder of its own.
    func store(_ name: String) throws -> Store { try Store(at: FilePath("\(path)/\(name)")) }

    private var publisher: Site { get throws { try Site(at: FilePath(location)) } }

    private var options: Site.PublishOptions {
      var options = Site.PublishOptions(deltaCount: 0, expiry: .after(.seconds(400 * 86_400)), gracePeriod: .zero)
      options.keptVersionCount = 100
      options.level = 3
      return options
    }

    /// Publishes the next version of packs without an offer.
    func publish(_ packs: [PackID], size: Int = 2_000, _ attributes: Attributes? = nil) async throws {
      var storeOptions = Store.Options()
      storeOptions.cache = Store.Cache(folder: FilePath("\(path)/origin-cache"), byteBudget: 0)
      let origin = try Store(at: FilePath("\(path)/origin"), options: storeOptions)
      for pack in packs {
        let source = "\(path)/source"
        try? FileManager.default.removeItem(atPath: source)
        try site.folder.write(noise(size, seed: .random(in: 0 ... .max)), to: "source/\(pack)")
        var install = Store.InstallOptions()
        install.attributes = attributes
        try await origin.install(folder: FilePath(source), as: pack, options: install)
      }
      var options = options
      options.channel = nil
      try await publisher.publish(packs.map { .init($0) }, from: origin, signedBy: site.key, options: options)
    }

    func edit(_ changes: Site.OfferEdit.Change..., adjust: (inout Site.PublishOptions) -> Void = { _ in }) async throws
    {
      var options = options
      adjust(&options)
      try await publisher.edit(changes.map { .init(.live, $0) }, signedBy: site.key, options: options)
    }

    /// Offers versions as a release.
    func release(
      _ versions: [PackID: UInt64], name: String? = nil, share: DeviceShare = .all
    ) async throws {
      let release = PackRelease(name: try name.map { try PackReleaseName($0) })
      try await edit(.promoteRelease(release, versions, share: share))
    }

    /// Publishes version 1 of packs and offers it, then publishes version 2.
    func prepare(_ packs: [PackID], _ attributes: Attributes? = nil) async throws {
      try await publish(packs, attributes)
      for pack in packs { try await edit(.promote(pack, version: 1)) }
      try await publish(packs, attributes)
    }

    /// Pulls from a source, by default the site's folder.
    @discardableResult
    func pull(
      into store: Store, _ packs: [PackID]? = nil, from source: (any SiteSource)? = nil,
      adjust: (inout Store.PullOptions) -> Void = { _ in },
      progress: (@Sendable (Store.PullProgress) -> Void)? = nil
    ) async throws -> Store.PullResult {
      var options = site.options
      adjust(&options)
      let source = try source ?? makeSource(location, options)
      return try await store.pull(from: source, packs: packs, options: options, progress: progress)
    }

    /// The current versions of a store's packs: `A@2 B@1`.
    func versions(_ store: Store) throws -> String {
      try store.packs().map { "\($0.id)@\($0.version.number)" }.sorted().joined(separator: " ")
    }

    /// The files of the site that contain data, in order of their names.
    func segments() throws -> [String] {
      try FileManager.default.contentsOfDirectory(atPath: "\(location)/segments").sorted().map {
        "\(location)/segments/\($0)"
      }
    }
  }

  /// A site in a folder that fails at one of its reads.
  final class FailingSource: SiteSource {
    private let folder: FolderSource
    private let error: any Error
    private let left: Mutex<Int>

    /// - Parameter count: the number of reads that succeed.
    init(_ folder: String, after count: Int, _ error: any Error) {
      self.folder = FolderSource(folder)
      self.error = error
      left = Mutex(count)
    }

    var location: String { folder.location }
    let isLocal = true
    let hasRanges = true

    func readWhole(
      _ path: String, upTo limit: Int, unless known: FileValidators?, counting tally: WireTally
    ) async throws -> WholeFile? {
      try await folder.readWhole(path, upTo: limit, unless: known, counting: tally)
    }

    func read(_ file: SiteFile, at offset: UInt64, into buffer: TransferBuffer, isFresh: Bool) async throws {
      let isFault = left.withLock { left in
        left -= 1
        return left < 0
      }
      guard !isFault else { throw error }
      try await folder.read(file, at: offset, into: buffer, isFresh: isFresh)
    }

    func stream(_ file: SiteFile) async throws -> any SiteStream { try await folder.stream(file) }
    func restart(ignoringValidators: Bool) {}
    func close() async {}
  }
#endif
