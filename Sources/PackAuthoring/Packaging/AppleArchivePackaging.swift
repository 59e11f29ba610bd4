import PackArchives
public import PackStore

extension Manifest {
  /// How to make an Apple Archive from a manifest.
  public struct AppleArchiveOptions: Hashable, Sendable {
    /// The version's label; `nil`: the label in the manifest.
    public var label: VersionLabel?

    /// How blocks are compressed.
    public var coding = AppleArchiveWriter.Coding.deflate

    /// The time of all entries, in seconds since 1970.
    public var modifiedAt: UInt64 = 0

    /// Whether the archive may replace an existing file.
    public var replaces = false

    /// Whether to create everything, and keep nothing.
    public var isDryRun = false

    /// Like `Store.InstallOptions.rowLimit`.
    public var rowLimit: Int?

    /// The number of threads; `nil`: one for each processor. The result does not depend on it.
    public var threadCount: Int?

    public init() {}
  }

  /// The progress of packaging into an Apple Archive.
  public enum AppleArchiveProgress: Store.Progress {
    /// Reading the selected files into a temporary store.
    case store(Store.InstallProgress)
    /// Writing the archive: the written and the total bytes of assets.
    case write(byteCount: Int, totalByteCount: Int)

    /// The fraction of the step.
    public var fraction: Double {
      switch self {
      case .store(let progress): progress.fraction
      case .write(let done, let total): PackStore.fraction(done, of: total)
      }
    }
  }

  /// The result of packaging into an Apple Archive.
  public struct AppleArchiveResult: Hashable, Sendable {
    /// The packaged content. The archive does not contain its number, which is always 1.
    public var version: PackVersion

    /// The size of the archive in bytes.
    public var byteCount: Int

    /// The largest files first, at most ten.
    public var largestAssets: [PackageResult.Asset]

    /// Files that were skipped or may cause problems.
    public var notices: [Store.InstallNotice]
  }
}

extension ManifestEvaluation {
  /// Writes the files that the manifest selects as an asset pack in an Apple Archive, which is not signed and has no version number.
  ///
  /// Equal input gives equal bytes. `Store.exportAppleArchive` writes the same bytes for a store with the same version. The input is:
  /// content and paths, manifest, label, coding, time, and version of zlib.
  ///
  /// During packaging, a folder with `.partial` in its name exists next to the file, with a compressed copy of the content; a crash
  /// may leave it. The complete file is written last.
  ///
  /// - Parameters:
  ///   - file: its name ends in `.aar`.
  ///   - options: the coding of blocks, the date, and whether an existing file is replaced.
  ///   - progress: called on a thread that may block.
  /// - Throws: `refused` if the manifest has errors; `exists` if the file exists and must not be replaced; `invalidArgument`,
  ///   `CancellationError`, the errors of installing a selection.
  public func packageAppleArchive(
    to file: FilePath, options: Manifest.AppleArchiveOptions = .init(),
    progress: (@Sendable (Manifest.AppleArchiveProgress) -> Void)? = nil
  ) async throws -> Manifest.AppleArchiveResult {
    try await BlockingExecutor.run {
      try AppleArchivePackaging(self, file: file, options: options, progress: progress).run()
    }
  }

  /// The largest files first, at most ten.
  var largestAssets: [Manifest.PackageResult.Asset] {
    let files = entries.filter { $0.kind == .file }
    let largest = files.sorted { ($1.byteCount, $0.path) < ($0.byteCount, $1.path) }.prefix(10)
    return largest.map { .init(path: $0.path, byteCount: $0.byteCount) }
  }
}

/// The creation of one Apple Archive.
///
/// The selected files are installed in a temporary store first. Therefore a store's checks of paths and links apply, a file that
/// changes while it is read is an error, and `export` of the version gives the same bytes.
private struct AppleArchivePackaging {
  private let evaluation: ManifestEvaluation
  private let manifest: Manifest
  private let file: FilePath
  private let options: Manifest.AppleArchiveOptions
  private let progress: (@Sendable (Manifest.AppleArchiveProgress) -> Void)?

  /// The temporary copy is read once.
  private static let level: Int32 = 1

  init(
    _ evaluation: ManifestEvaluation, file: FilePath, options: Manifest.AppleArchiveOptions,
    progress: (@Sendable (Manifest.AppleArchiveProgress) -> Void)?
  ) throws {
    (manifest, _) = try evaluation.requireSelection()
    self.evaluation = evaluation
    self.file = file
    self.options = options
    self.progress = progress
    try requireName(file)
    guard file.extension?.lowercased() == "aar" else {
      throw PackStoreError(.invalidArgument, "the name of an Apple Archive must end in '.aar'", file: file.string)
    }
    guard options.replaces || !pathExists(file) else {
      throw PackStoreError(.exists, "already exists", file: file.string)
    }
  }

  func run() throws -> Manifest.AppleArchiveResult {
    let work = draftPath(nextTo: file, ending: ".partial")
    try makeFolder(work)
    defer { removeTree(work) }
    var storeOptions = Store.Options()
    storeOptions.threadCount = options.threadCount
    let store = try Store(at: work.appending("store"), options: storeOptions)
    let installed = try install(in: store)
    let snapshot = try store.makeSnapshot()
    let writer = try AppleArchiveWriter(
      file, coding: options.coding, modifiedAt: options.modifiedAt, isDryRun: options.isDryRun)
    try AppleArchiveContents(of: installed.version, in: snapshot, writer: writer).write { done in
      progress?(.write(byteCount: done, totalByteCount: installed.version.byteCount))
    }
    return Manifest.AppleArchiveResult(
      version: installed.version, byteCount: Int(clamping: try writer.finish(replacing: options.replaces)),
      largestAssets: evaluation.largestAssets, notices: installed.notices)
  }

  private func install(in store: Store) throws -> Store.InstallResult {
    var installOptions = manifest.installOptions
    installOptions.version = 1
    if let label = options.label { installOptions.label = label }
    installOptions.setNote(nil, isPublished: false)
    installOptions.level = Self.level
    installOptions.rowLimit = options.rowLimit
    var transactionOptions = Transaction.Options(durability: .atomic)
    transactionOptions.followsPlacement = false
    var transaction = try store.makeTransaction(options: transactionOptions)
    let result = try transaction.install(evaluation, options: installOptions) {
      [progress] in progress?(.store($0))
    }
    try transaction.commit()
    return result
  }
}
