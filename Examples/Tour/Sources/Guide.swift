import BackgroundAssets

/// What the app knows of its packs, and does with them: all by the manager that the property list beside the program sets up.
@MainActor final class Guide {
  let manager = AssetPackManager.shared

  private(set) var texts = Texts()
  /// Called with each thing that happens to a download.
  var onNews: (String) -> Void = { _ in }

  /// Downloads that are under way.
  private(set) var downloads: [String: Download] = [:]
  private var waiters: [CheckedContinuation<Void, Never>] = []
  /// How many downloads of a pack have ended.
  private var endCounts: [String: Int] = [:]
  /// What was offered when a site was last asked.
  private var offered: [String: AssetPack] = [:]

  struct Download {
    var pack: AssetPack
    var progress: Progress?
    var isPaused = false
    /// What was told of it last, in quarters.
    var quarter = 0
  }

  // MARK: - Setting up

  /// Returns when all is here without which the app does not start.
  func begin() async throws {
    let updates = manager.statusUpdates
    Task { [weak self] in
      for await update in updates { self?.take(update) }
    }
    try await manager.ensureEssential()
    loadTexts()
    await refresh()
  }

  func loadTexts() { texts = Texts(try? manager.contents(at: "Texts/texts.json")) }

  // MARK: - Downloads

  private func take(_ update: AssetPackManager.DownloadStatusUpdate) {
    let pack = update.assetPack
    switch update {
    case .began:
      let known = downloads[pack.id]
      downloads[pack.id] = known ?? Download(pack: pack)
      downloads[pack.id]?.isPaused = false
      onNews(known == nil ? "\(pack) begins" : "\(pack) goes on")
    case .paused:
      downloads[pack.id]?.isPaused = true
      onNews("\(pack) waits")
    case .downloading(_, let progress):
      downloads[pack.id, default: Download(pack: pack)].progress = progress
      let quarter = Int(progress.fractionCompleted * 4)
      guard quarter > downloads[pack.id]?.quarter ?? 0, quarter < 4 else { return }
      downloads[pack.id]?.quarter = quarter
      onNews("\(pack) \(25 * quarter)%: \(size(progress.completedUnitCount)) of \(size(progress.totalUnitCount))")
    case .finished:
      let count = downloads[pack.id]?.progress?.completedUnitCount ?? 0
      onNews("\(pack) is here: fetched \(size(count)), all of it is \(size(pack.downloadSize))")
      ended(pack)
      loadTexts()
    case .failed(_, let error):
      onNews("\(pack) did not come: \(error)")
      ended(pack)
    }
  }

  private func ended(_ pack: AssetPack) {
    downloads[pack.id] = nil
    endCounts[pack.id, default: 0] += 1
    for waiter in waiters { waiter.resume() }
    waiters = []
  }

  /// Returns when the next download has ended, and was told of.
  private func nextEnd() async { await withCheckedContinuation { waiters.append($0) } }

  /// Returns when no download is under way.
  func settle() async {
    try? await manager.finishRequests()
    while !downloads.isEmpty { await nextEnd() }
  }

  /// Fetches a pack, if it is not here whole.
  func fetch(_ id: String) async throws {
    let isHere = manager.assetPackIsAvailableLocally(withID: id), endCount = endCounts[id, default: 0]
    if let pack = offered[id] {
      try await manager.ensureLocalAvailability(of: pack)
    } else {
      try await manager.ensureLocalAvailability(of: manager.assetPack(withID: id))
    }
    // The news comes on another way.
    while !isHere, endCounts[id, default: 0] == endCount { await nextEnd() }
  }

  /// Asks for newer versions; they come while the app goes on.
  func update() async throws -> (updatingIDs: Set<String>, removedIDs: Set<String>) {
    try await manager.checkForUpdates()
  }

  /// Speaks another language, and fetches what there is in it.
  func speak(_ language: String) async throws {
    manager.resolvedLanguage = Locale.Language(identifier: language)
    try await manager.reconcilePreferredLanguages()
    let packs = try await manager.manifest.localizedAssetPacks(for: Locale.Language(identifier: language))
    try await manager.ensureLocalAvailability(of: packs)
    loadTexts()
  }

  // MARK: - Packs

  struct Pack: Hashable {
    enum State: Hashable { case here, missing, purged, newer, coming(Double), paused }

    var id: String
    var version: Int?
    var state: State
    var byteCount: Int64
    var language: Locale.Language?
  }

  /// Asks the sites what there is. Without a network, what was known before stays.
  func refresh() async {
    guard let packs = try? await manager.allAssetPacks else { return }
    offered = Dictionary(uniqueKeysWithValues: packs.map { ($0.id, $0) })
  }

  /// The packs that are here or can be fetched. Asks no site.
  var packs: [Pack] {
    let local = (try? manager.store.packs()) ?? []
    return Set(offered.keys).union(local.map(\.id.name)).sorted().map { id in
      let version = try? manager.localVersion(ofAssetPackWithID: id)
      let installed = local.first { $0.id.name == id }
      return Pack(
        id: id, version: version, state: state(of: id, version),
        byteCount: installed.map { Int64($0.version.byteCount) } ?? Int64(offered[id]?.downloadSize ?? 0),
        language: offered[id]?.language)
    }
  }

  private func state(of id: String, _ version: Int?) -> Pack.State {
    if let download = downloads[id] {
      return download.isPaused ? .paused : .coming(download.progress?.fractionCompleted ?? 0)
    }
    guard let version else { return .missing }
    guard manager.assetPackIsAvailableLocally(withID: id) else { return .purged }
    return offered[id].map { $0.version > version } ?? false ? .newer : .here
  }

  func describe(_ state: Pack.State) -> String {
    switch state {
    case .here: texts["here"]
    case .missing: texts["missing"]
    case .purged: texts["purged"]
    case .newer: texts["newer"]
    case .paused: texts["paused"]
    case .coming(let fraction): "\(texts["coming"]) \(Int(fraction * 100))%"
    }
  }

  /// The languages that there are packs in.
  var languages: [String] { Set(offered.values.compactMap { $0.language?.minimalIdentifier }).sorted() }

  var language: String { manager.resolvedLanguage?.minimalIdentifier ?? "-" }

  // MARK: - What there is to see

  /// Files of all packs that are here, in one folder of the namespace.
  private func files(in folder: FilePath) -> [String] {
    let entries = (try? manager.entries(in: folder)) ?? []
    return entries.filter { $0.kind == .file }.compactMap { FilePath($0.path).lastComponent?.string }.sorted()
  }

  var caveFiles: [String] { files(in: "Caves") }
  var exhibitNames: [String] { files(in: "Portraits") }

  func cave(_ file: String) async throws -> Cave { try Cave(await contents("Caves/\(file)")) }

  /// What the rock of a cave is made of; nil where no pack says.
  func stone(of file: String) -> Picture? {
    let name = FilePath(file).stem ?? file
    return (try? manager.contents(at: FilePath("Stone/\(name).rgb"))).flatMap { Picture(stone: $0) }
  }

  func exhibit(_ name: String) async throws -> Data { try await contents("Portraits/\(name)") }

  /// Reads a file. Where bytes were deleted to make room, they are fetched again.
  private func contents(_ path: String) async throws -> Data {
    var failure: (any Error)?
    do { try await heal() } catch { failure = error }
    do {
      // What this process has open can be read although it is deleted.
      return try manager.contents(at: FilePath(path))
    } catch let error as PackStoreError where error.code == .purged {
      if let failure { throw failure }
      try await heal()
      return try manager.contents(at: FilePath(path))
    }
  }

  /// Fetches what was lost of packs that are here.
  private func heal() async throws {
    for pack in packs where pack.state == .purged {
      onNews("\(pack.id) has lost bytes")
      try await fetch(pack.id)
    }
  }
}
