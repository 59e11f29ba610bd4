/// The source of commands that only read: a store, a site or an archive.

import ArgumentParser
import PackAuthoring
import PackDelivery
import PackPublishing
import PackFormats
import PackStore

/// Options for reading sites and archives, and for the trust in them.
struct PreviewOptions: ParsableArguments {
  @Option(
    help: .init(
      "For a site or an archive: the publisher's public key; data signed by another key is refused.", valueName: "key"),
    transform: parsePublicKey)
  var trust: SitePublicKey?

  @Option(help: .init("For a site: the channel (default: live).", valueName: "name"), transform: parseChannel)
  var channel: SiteChannel?

  @OptionGroup var storage: StorageOptions
  @OptionGroup(title: "Authorization") var authorization: AuthorizationOptions
  @OptionGroup(title: "Network limits") var network: NetworkOptions
  @OptionGroup var rows: RowOptions
}

/// The store, site or archive that a command reads.
///
/// ``PreviewOptions`` are a separate option group: in debug builds, ArgumentParser checks nested groups again at each level, which
/// takes a quarter of a second per run.
struct LookArgument: ParsableArguments {
  @Argument(
    help: "A store, a site (folder, URL or s3://bucket/prefix) or an archive of a pack.", completion: .file())
  var store: String

  @Option(
    help: .init("For a store: its base store, which is only read.", valueName: "folder"),
    completion: .directory)
  var base: String?

  func validate() throws {
    guard base?.isEmpty != true else { throw ValidationError("--base needs a folder") }
  }

  func place(_ look: PreviewOptions, needsContent: Bool = false) -> PreviewedStore {
    PreviewedStore(name: store, options: look, base: base, needsContent: needsContent)
  }
}

/// A source of pack versions that a command reads.
///
/// - A store is opened directly.
/// - For an archive, and for a site in a folder or at a URL, the metadata of its versions is copied into a temporary store. Frames
///   are not downloaded.
/// - For a site in object storage, ``BucketSite`` reads the versions.
struct PreviewedStore {
  let name: String
  let options: PreviewOptions
  /// The base of the store.
  var base: String?

  /// The options for opening a store.
  var storeOptions = Store.Options.readOnly

  /// The command's other stores, sites and archives, which may need authorization.
  var others: [String] = []

  /// Whether the command reads assets. If true, a site's folder is read as the publisher's store.
  var needsContent = false

  /// Whether another operand is in object storage, so that the options of object storage are accepted.
  var isBesideBucket = false

  private enum Kind {
    case store, site, bucket
  }

  /// The noun for the source in errors; `nil` for a store.
  var noun: String? {
    get throws {
      guard try kind() != .store else { return nil }
      return name.contains("://") || isFolder(FilePath(name)) ? "the site" : "the archive"
    }
  }

  /// Calls `body` with a store that contains the versions.
  ///
  /// - Parameters:
  ///   - scope: for a site, the versions to read.
  ///   - packs: for a site, the packs to read; `nil` for all.
  func read<Result: Sendable>(
    _ scope: SitePreview.Scope, of packs: [PackID]? = nil, _ report: ReportOptions,
    _ body: @Sendable (Store) async throws -> Result
  ) async throws -> Result {
    let kind = try kind()
    if kind != .site, options.trust != nil || options.channel != nil { throw isNotServed }
    switch kind {
    case .store: return try await body(openHere())
    case .bucket: return try await readBucket(body)
    case .site:
      let folder = try TemporaryFolder()
      defer { folder.remove() }
      let store = try Store(at: FilePath(folder.path), options: .createIfMissing)
      try await fill(store, with: packs, scope, report)
      return try await body(store)
    }
  }

  private var isNotServed: Failure {
    Failure(
      .invalidArgument, "--trust and --channel apply only to served sites and archives",
      remedy: "leave them out, or name the site by its URL")
  }

  /// Whether the contents of assets are available.
  var hasContent: Bool {
    get throws { try kind() == .store }
  }

  private func kind() throws -> Kind {
    guard !S3Location.names(name) else { return .bucket }
    try refuseStorageOptions()
    guard base == nil else { return .store }
    guard !name.contains("://") else { return .site }
    let path = FilePath(name)
    guard pathExists(path) else { return .store }  // reports the missing store
    guard !isFolder(path) else { return try isSite(path) ? .site : .store }
    guard try isPackArchive(path) else { throw wrongKind(path) }
    return .site
  }

  /// Whether to read a folder like a client: the publisher's store in the folder also has versions that no channel offers.
  private func isSite(_ path: FilePath) throws -> Bool {
    let names = try namesInFolder(path)
    guard names.contains(SitePath.root(.live).description) else { return false }
    return !names.contains("CONTROL") || !needsContent || options.trust != nil || options.channel != nil
  }

  private func refuseStorageOptions() throws {
    guard storageOptionsAreGiven, !isBesideBucket else { return }
    _ = try options.storage.host(of: name)  // reports missing support for object storage
  }

  private var storageOptionsAreGiven: Bool {
    let storage = options.storage
    return storage.endpoint != nil || storage.region != nil || storage.virtualHost || storage.ledger != nil
      || storage.work != nil
  }

  private func wrongKind(_ path: FilePath) -> Failure {
    if PackFileKind(path) == .delta {
      return Failure(
        .wrongKind, "'\(escaped(name))': a delta, which contains only new data",
        remedy: "name its store, or the site with its version", path: name)
    }
    return Failure(
      .wrongKind, "'\(escaped(name))': neither a store nor an archive of a pack",
      remedy: "name a store, the folder of a site, or a '.pack' file", path: name)
  }

  private func openHere() throws -> Store {
    guard let base else { return try openStore(at: name, options: storeOptions) }
    return try Store(at: FilePath(name), base: FilePath(base), options: storeOptions)
  }

  private func fill(
    _ store: Store, with packs: [PackID]?, _ scope: SitePreview.Scope, _ report: ReportOptions
  ) async throws {
    var pull = Store.PullOptions(platform: nil)
    pull.trustedKey = options.trust
    pull.channel = options.channel
    pull.limits = options.network.limits
    pull.environment = options.network.environment
    pull.rowLimit = options.rows.maxRows
    pull.authorization = try options.authorization.authorizations(for: [name] + others).authorization(for: name)
    // The versions are only shown, not installed.
    pull.allowsUnsigned = options.trust == nil
    let bar = ProgressBar(report.progressForm)
    defer { bar.finish() }
    try await SitePreview(of: name, options: pull).fill(store, with: packs, scope) { bar.update(Progress($0)) }
  }

  private func readBucket<Result: Sendable>(
    _ body: @Sendable (Store) async throws -> Result
  ) async throws -> Result {
    let host = try options.storage.host(of: name)
    do {
      let result = try await host.readVersions { site in try await body(site.store) }
      await host.close()
      return result
    } catch {
      await host.close()
      throw error
    }
  }
}
