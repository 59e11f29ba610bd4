public import PackAuthoring
import PackDelivery
public import PackFormats
public import PackStore
import Synchronization

/// A served site that a publisher continues with nothing but the key.
///
/// Changes are made to a copy without frames in a temporary folder. ``finish()`` creates a folder with exactly the files to copy
/// over the served ones, and with the file `predecessor`, with which ``RemoteSiteCheck`` detects whether another publisher was faster.
/// The complete folder is renamed into place.
///
/// Use it in one task at a time.
public final class RemoteSiteContinuation: SiteHost {
  /// The options of a publisher.
  public struct Options: Sendable {
    /// Channels whose roots are read in addition to the root of `live`, if they exist.
    public var channels: [SiteChannel] = []

    /// A root key that the site must have; `nil`: the root key of the publisher's own key.
    public var trustedKey: SitePublicKey?

    /// The newest roots that the key signed. An older root is refused.
    public var marks: RootMarks?

    /// The sequence number of the last publication to the first of ``channels`` (`live` if ``channels`` is empty), in place of its
    /// mark. An older root is refused.
    public var after: UInt64?

    public init() {}
  }

  /// A root from which the publication continues.
  public struct ContinuedRoot: Hashable, Sendable {
    public let channel: SiteChannel
    public let sequence: UInt64
    public let madeAt: Date
  }

  private struct State {
    /// The copy; `nil`: not created yet.
    var copy: FilePath?
    var roots: [SiteChannel: RemoteSiteCopy.Root] = [:]

    /// Files of the copy that are served.
    var served: Set<String> = []

    /// The roots that were read, and the roots that were made.
    var marks = RootMarks()
    var predecessors: [ContinuedRoot] = []

    /// Whether a mark proves that the root of the channel to publish is not an older one.
    var isMarked = false
  }

  /// The roots from which the publication continues, in order of the channels; empty before they are read.
  public var predecessors: [ContinuedRoot] { state.withLock(\.predecessors) }

  /// The sequence numbers of the roots read, and after ``finish()`` also of the new roots.
  public var marks: RootMarks { state.withLock(\.marks) }

  private let folder: FilePath
  private let site: RemoteSiteLocation
  private let options: Options
  private let isDryRun: Bool
  private let temporaryParent: FilePath
  private let state = Mutex(State())

  /// Folders of files that never change.
  private static let folders = ["segments"] + SitePath.folders

  /// - Parameters:
  ///   - folder: the folder for the new files, which must be empty or missing.
  ///   - site: the served site.
  ///   - isDryRun: whether to create nothing there.
  public init(_ folder: FilePath, from site: RemoteSiteLocation, options: Options = .init(), isDryRun: Bool = false) {
    self.folder = folder
    self.site = site
    self.options = options
    self.isDryRun = isDryRun
    let parent = folder.removingLastComponent()
    let beside = parent.isEmpty ? FilePath(".") : parent
    temporaryParent = isDryRun ? FilePath(processEnvironment()["TMPDIR"] ?? "/tmp") : beside
  }

  public var location: String { site.location }

  /// No: the served site has it.
  public var hasContent: Bool { false }

  /// - Throws: `exists` if the folder for the new files is not empty; `invalidArgument` for `.` and `..`.
  public func requireEmpty() throws {
    guard folder.lastComponent?.kind == .regular else {
      var error = PackStoreError(
        .invalidArgument, "the folder for the new files does not have a name", about: .folder(folder.string))
      error.specificRemedy = "name a folder that does not exist yet"
      throw error
    }
    guard try !pathExists(folder) || namesInFolder(folder).isEmpty else {
      var error = PackStoreError(
        .exists, "the folder for the new files is not empty", about: .folder(folder.string), detail: .fileExists)
      error.specificRemedy = "use another folder, or empty it after its files were copied"
      throw error
    }
  }

  /// - Throws: `noSite` if nothing is served there: no site is created in its place.
  public func exists() async throws -> Bool {
    let served = try site.open(channels: [])
    do {
      _ = try await served.readRoot(of: .live)
    } catch {
      await served.close()
      throw error
    }
    await served.close()
    return true
  }

  public func read<Result: Sendable>(_ body: @Sendable (Site) async throws -> Result) async throws -> Result {
    guard let copy = state.withLock({ $0.copy }) else {
      throw PackStoreError(
        .invalidArgument, "the source is read with the publisher's key, so the key is required",
        about: .site(location))
    }
    return try await body(try Site(servedCopyAt: copy))
  }

  @discardableResult
  public func change<Result: Sendable>(
    signedBy key: SiteKey, makesSite: Bool, isDryRun: Bool, events: @escaping @Sendable (SiteChangeEvent) -> Void,
    reading: (@Sendable (Site) async throws -> [PackVersion])?,
    _ body: @Sendable (Site) async throws -> Result
  ) async throws -> Result {
    try await BlockingExecutor.runAsync {
      let copy = try await makeCopy(key, events)
      if let reading { try await fetchContent(of: try await reading(try Site(servedCopyAt: copy)), in: copy, events) }
      return try await body(try Site(servedCopyAt: copy))
    }
  }

  // MARK: - The copy

  private func makeCopy(_ key: SiteKey, _ events: @Sendable (SiteChangeEvent) -> Void) async throws -> FilePath {
    if let copy = state.withLock({ $0.copy }) { return copy }
    if !isDryRun { try requireEmpty() }
    let served = try site.open(channels: options.channels)
    do {
      let copy = try await makeCopy(of: served, key, events)
      await served.close()
      return copy
    } catch {
      await served.close()
      throw error
    }
  }

  /// Makes the copy, and repeats it if the site changes during this.
  private func makeCopy(
    of served: RemoteSiteCopy, _ key: SiteKey, _ events: @Sendable (SiteChangeEvent) -> Void
  ) async throws -> FilePath {
    for isLast in [false, true] {
      let copy = try makeTemporaryFolder(in: temporaryParent)
      do {
        let roots = try await served.readRoots(key: key, trusted: options.trustedKey)
        let isMarked = try requireNewest(roots)
        let rootByteCount = roots.values.map { UInt64($0.bytes.count) }.clampedSum()
        let current = options.channels.first { roots[$0] != nil } ?? .live
        events(
          .fetched(byteCount: try await served.copy(roots, to: copy, current: current).addingClamped(rootByteCount)))
        let names = try Self.names(in: copy)
        let predecessors = Self.predecessors(roots)
        var marks = RootMarks()
        for root in roots.values { marks.raise(root.signed) }
        let next = State(
          copy: copy, roots: roots, served: names, marks: marks, predecessors: predecessors, isMarked: isMarked)
        state.withLock { $0 = next }
        return copy
      } catch let error as DeliveryError where error.code == .siteChanged && !isLast {
        removeTree(copy)
        served.source.restart(ignoringValidators: false)
      } catch {
        removeTree(copy)
        throw error
      }
    }
    preconditionFailure("unreachable: the last round returns or throws")
  }

  private static func predecessors(_ roots: [SiteChannel: RemoteSiteCopy.Root]) -> [ContinuedRoot] {
    roots.sorted { $0.key < $1.key }.map { channel, root in
      let madeAt = Date(timeIntervalSince1970: Double(root.signed.root.madeAt) / 1e9)
      return ContinuedRoot(channel: channel, sequence: root.signed.root.sequence, madeAt: madeAt)
    }
  }

  /// Compares the served roots with the highest sequence numbers that the key signed.
  ///
  /// - Returns: whether the root of the channel to publish was compared.
  /// - Throws: `stale` if a root is older.
  private func requireNewest(_ roots: [SiteChannel: RemoteSiteCopy.Root]) throws -> Bool {
    let target = options.channels.first ?? .live
    var isMarked = false
    for (channel, root) in roots.sorted(by: { $0.key < $1.key }) {
      let served = RootOrder(root.signed)
      // The option is a sequence number alone.
      let after = channel == target ? options.after : nil
      let mark = after.map { RootOrder(revokedBelow: served.revokedBelow, sequence: $0) }
      guard let mark = mark ?? options.marks?.newest(of: root.signed.root.site, channel) else { continue }
      guard served >= mark else { throw outOfDate(channel, served.sequence, mark.sequence) }
      if channel == target { isMarked = true }
    }
    guard roots[target] != nil || options.after == nil else { throw outOfDate(target, 0, options.after ?? 0) }
    // A root that was signed and is not served is hidden or deleted.
    guard let site = roots.values.first?.signed.root.site else { return isMarked }
    for channel in options.channels where roots[channel] == nil {
      guard let mark = options.marks?.newest(of: site, channel) else { continue }
      throw outOfDate(channel, 0, mark.sequence)
    }
    return isMarked
  }

  private func outOfDate(_ channel: SiteChannel, _ sequence: UInt64, _ mark: UInt64) -> PackStoreError {
    var error = PackStoreError(
      .stale, "the served root \(sequence) of '\(channel)' is older than root \(mark), which the key signed",
      file: location)
    error.specificRemedy =
      "continue from the server itself and not from a cache; if root \(mark) was never copied there, allow the served one"
      + " with the option after"
    return error
  }

  private static func names(in copy: FilePath) throws -> Set<String> {
    Set(
      try folders.flatMap { folder in
        try namesInFolder(copy.appending(folder)).map { "\(folder)/\($0)" }
      } + namesInFolder(copy.appending("tables")).map { "segments/\($0)" })
  }

  /// Fetches the frames of the content that `body` reads.
  private func fetchContent(
    of versions: [PackVersion], in copy: FilePath, _ events: @Sendable (SiteChangeEvent) -> Void
  ) async throws {
    let wanted = try Site(servedCopyAt: copy).segments(of: versions).filter {
      state.withLock { $0.served }.contains("segments/\($0.id)")
    }
    let served = try site.open(channels: [])
    do {
      events(.fetchedContent(byteCount: try await served.copyContent(of: wanted, to: copy)))
    } catch {
      await served.close()
      throw error
    }
    await served.close()
  }

  // MARK: - What is to be copied

  /// Creates the folder with the new files; does nothing in a dry run.
  ///
  /// - Throws: `exists` if another process created the folder since; `noSpace`, `ioError`.
  public func finish() throws {
    let (copy, roots, served, isMarked) = state.withLock { ($0.copy, $0.roots, $0.served, $0.isMarked) }
    guard let copy, !isDryRun else { return }
    let draft = copy.appending("new")
    try makeFolder(draft)
    for folder in Self.folders {
      let names = try namesInFolder(copy.appending(folder)).filter {
        !$0.hasSuffix(".new") && !served.contains("\(folder)/\($0)")
      }
      try move(names.map { "\(folder)/\($0)" }, from: copy, to: draft, folder)
    }
    var predecessor = RemoteSitePredecessor(roots: [:], isMarked: isMarked)
    var made = RootMarks()
    let others = try namesInFolder(copy.appending(SitePath.rootFolder)).compactMap { try? SiteChannel($0) }
    for channel in Set(options.channels + [.live] + others) {
      predecessor.roots.updateValue(roots[channel]?.digest, forKey: channel)
      let name = SitePath.root(channel).description
      guard pathExists(copy.appending(name)) else { continue }
      let bytes = try InputFile(name, in: copy).contents(limit: SiteRoot.byteCountLimit)
      guard bytes != roots[channel]?.bytes else { continue }
      made.raise(try SignedSiteRoot(decoding: bytes, file: name))
      try move([name], from: copy, to: draft, channel == .live ? nil : SitePath.rootFolder)
    }
    try replaceFile(
      RemoteSitePredecessor.fileName, in: draft, by: Array(predecessor.text.utf8),
      draft: RemoteSitePredecessor.fileName + ".new")
    makeReadable(folder: draft)
    try place(draft)
    removeTree(copy)
    let next = made
    state.withLock { state in
      state = State(marks: state.marks.merging(next), predecessors: state.predecessors)
    }
  }

  private func move(_ names: [String], from copy: FilePath, to draft: FilePath, _ folder: String?) throws {
    guard !names.isEmpty else { return }
    if let folder {
      try makeFolder(draft.appending(folder))
      makeReadable(folder: draft.appending(folder))
    }
    for name in names { try renameFile(FilePlace(name, in: copy), to: FilePlace(name, in: draft)) }
    if let folder { try syncFolder(draft.appending(folder)) }
  }

  /// Renames the folder into place, where an empty folder or none may be.
  private func place(_ draft: FilePath) throws {
    try requireEmpty()
    if pathExists(folder) { try removeEmptyFolder(FilePlace(folder)) }
    try renameFile(FilePlace(draft), to: FilePlace(folder))
    try syncFolder(temporaryParent)
  }

  public func close() async {}

  /// Deletes the files of an abandoned publication. Calling it after ``finish()`` has no effect.
  public func discard() {
    let copy = state.withLock { state in
      defer { state = State() }
      return state.copy
    }
    if let copy { removeTree(copy) }
  }
}
