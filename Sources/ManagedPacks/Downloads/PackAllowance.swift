import Synchronization

/// Enforces the limits of an app's property list on the downloads of its packs before its first launch: allowances and servers of
/// `BAInitialDownloadRestrictions`, `BAMaxInstallSize` and `BAEssentialMaxInstallSize`. Packs with the policy `essential` and other
/// packs have separate limits.
///
/// The agent and an extension that runs by itself are limited; the app is not, because its own process is its launch. The journal
/// records the use of the limits.
final class PackAllowance: Sendable {
  private let app: String
  private let restrictions: InitialDownloadRestrictions?
  private let installLimits: [Bool: Int]
  private let journal: JournalFile
  /// The open downloads. All of them together stay within the allowances.
  private let open = Mutex(OpenDownloads())

  /// Returns `nil` if the property list has no limits.
  init?(_ configuration: ManagedConfiguration, in journal: JournalFile) {
    app = configuration.appID
    restrictions = configuration.restrictions
    var limits: [Bool: Int] = [:]
    limits[false] = configuration.maxInstallByteCount
    limits[true] = configuration.essentialMaxInstallByteCount
    installLimits = limits
    self.journal = journal
    guard restrictions != nil || !installLimits.isEmpty else { return nil }
  }

  /// The codes of errors that end with the first launch.
  static let refusals: Set<BAError.Code> = [
    .downloadWouldExceedAllowance, .sessionDownloadDisallowedByDomain, .sessionDownloadDisallowedByAllowance,
    .sessionDownloadAllowanceExceeded,
  ]

  /// Returns `nil` after the first launch.
  private func use() throws -> Journal.Launch? {
    let use = try journal.read().launches[app] ?? Journal.Launch()
    return use.isLaunched ? nil : use
  }

  /// - Throws: ``BAError`` `sessionDownloadDisallowedByDomain`.
  func admit(host: String) throws {
    guard let restrictions, !restrictions.allows(host: host), try use() != nil else { return }
    throw BAError(
      .sessionDownloadDisallowedByDomain,
      "the server '\(host)' is not in BADownloadDomainAllowList: add it, or wait for the first launch")
  }

  // MARK: - Packs

  /// Checks whether a pack may be downloaded, and reserves its download size until the reservation ends.
  ///
  /// - Returns: `nil` if the app is not limited any more.
  /// - Throws: ``BAError`` `downloadWouldExceedAllowance`.
  func reserve(_ pack: AssetPack) throws -> Reservation? {
    guard let use = try use() else { return nil }
    let isEssential = if case .essential = pack.downloadPolicy { true } else { false }
    try checkInstallSize(pack, isEssential, use)
    let total = isEssential ? restrictions?.essentialByteCount : restrictions?.byteCount
    let spent = isEssential ? use.spentEssentialByteCount : use.spentByteCount
    let allowed = total.map { $0.subtractingClamped(spent) }
    let number = try open.withLock { open in
      if let allowed, open.byteCount(isEssential).addingClamped(pack.downloadSize) > allowed {
        let key = isEssential ? "BAEssentialDownloadAllowance" : "BADownloadAllowance"
        throw refusal(pack, "\(pack.downloadSize) bytes to download exceed \(key)")
      }
      return open.add(pack.downloadSize, isEssential)
    }
    return Reservation(of: pack, isEssential, number, allowed: allowed, in: self)
  }

  /// The installed size is known after the download; it is at least the download size.
  private func checkInstallSize(_ pack: AssetPack, _ isEssential: Bool, _ use: Journal.Launch) throws {
    guard let limit = installLimits[isEssential] else { return }
    let installed = use.installed.filter { $0.key != pack.id && $0.value.isEssential == isEssential }.values
      .reduce(0) { $0.addingClamped($1.byteCount) }
    guard installed.addingClamped(pack.downloadSize) > limit else { return }
    let key = isEssential ? "BAEssentialMaxInstallSize" : "BAMaxInstallSize"
    throw refusal(pack, "\(pack.downloadSize) bytes and \(installed) installed bytes exceed \(key)")
  }

  private func refusal(
    _ pack: AssetPack, _ fault: String, code: BAError.Code = .downloadWouldExceedAllowance
  ) -> BAError {
    BAError(code, "the asset pack '\(pack.id)': \(fault); it is downloaded after the first launch")
  }

  /// The bytes of open downloads: each one's download size, or the number that the server sent or states, if it is higher.
  private struct OpenDownloads {
    private var downloads: [Int: (isEssential: Bool, byteCount: Int)] = [:]
    private var nextNumber = 0

    mutating func add(_ byteCount: Int, _ isEssential: Bool) -> Int {
      nextNumber += 1
      downloads[nextNumber] = (isEssential, byteCount)
      return nextNumber
    }

    mutating func raise(_ number: Int, to byteCount: Int) {
      guard let known = downloads[number]?.byteCount else { return }
      downloads[number]?.byteCount = max(known, byteCount)
    }

    mutating func end(_ number: Int) { downloads[number] = nil }

    func byteCount(_ isEssential: Bool, without number: Int? = nil) -> Int {
      downloads.filter { $0.key != number && $0.value.isEssential == isEssential }.values
        .reduce(0) { $0.addingClamped($1.byteCount) }
    }
  }

  /// The download of one pack.
  final class Reservation: Sendable {
    private let pack: AssetPack
    private let isEssential: Bool
    private let number: Int
    private let allowance: PackAllowance
    /// The bytes that all open downloads may receive together; `nil` without an allowance.
    private let allowed: Int?
    private let received = Mutex<[PackID: Int]>([:])
    private let transfer = Mutex<Transfer>(Transfer())

    private struct Transfer {
      var cancel: (@Sendable () -> Void)?
      var breach: BAError?
    }

    fileprivate init(
      of pack: AssetPack, _ isEssential: Bool, _ number: Int, allowed: Int?, in allowance: PackAllowance
    ) {
      self.pack = pack
      self.isEssential = isEssential
      self.number = number
      self.allowed = allowed
      self.allowance = allowance
    }

    /// Records the number of bytes that the download has received so far, and the number that the server states. Numbers above the
    /// limit end the download.
    ///
    /// - Parameter part: the pack of the bytes: a download of a pack of a release includes other packs of the release.
    func record(_ byteCount: Int, of total: Int, for part: PackID) {
      let (all, others) = received.withLock { received in
        received[part] = max(received[part] ?? 0, byteCount)
        let all = received.values.reduce(0) { $0.addingClamped($1) }
        return (all, all.subtractingClamped(received[part] ?? 0))
      }
      let stated = others.addingClamped(max(byteCount, total))
      let limit = allowance.open.withLock { open in
        open.raise(number, to: stated)
        return allowed.map { $0.subtractingClamped(open.byteCount(isEssential, without: number)) }
      }
      guard let limit, stated > limit else { return }
      let breach =
        all > limit
        ? allowance.refusal(
          pack, "the server sent more than the allowed \(limit) bytes", code: .sessionDownloadAllowanceExceeded)
        : allowance.refusal(
          pack, "the server states \(stated) bytes, and \(limit) are allowed",
          code: .sessionDownloadDisallowedByAllowance)
      transfer.withLock { transfer in
        transfer.breach = transfer.breach ?? breach
        transfer.cancel?()
      }
    }

    /// Runs a download, which ``record(_:of:)`` may end.
    ///
    /// - Throws: ``BAError`` `sessionDownloadDisallowedByAllowance` or `sessionDownloadAllowanceExceeded`, or the error of the download.
    func limiting<Result: Sendable>(_ body: @escaping @Sendable () async throws -> Result) async throws -> Result {
      let task = Task { try await body() }
      transfer.withLock { transfer in
        transfer.cancel = { task.cancel() }
        if transfer.breach != nil { task.cancel() }
      }
      do {
        return try await withTaskCancellationHandler {
          try await task.value
        } onCancel: {
          task.cancel()
        }
      } catch {
        // The cancelled transfer may have failed in any way.
        throw transfer.withLock { $0.breach } ?? error
      }
    }

    /// Ends the reservation. The received bytes of a failed download are reused, so only a complete download is spent.
    func end() { allowance.open.withLock { $0.end(number) } }

    /// Records a complete download.
    func finish(installedByteCount: Int) throws {
      let spent = received.withLock { $0.values.reduce(0) { $0.addingClamped($1) } }
      try allowance.journal.update { journal in
        var use = journal.launches[allowance.app] ?? Journal.Launch()
        guard !use.isLaunched else { return }
        if isEssential {
          use.spentEssentialByteCount = use.spentEssentialByteCount.addingClamped(spent)
        } else {
          use.spentByteCount = use.spentByteCount.addingClamped(spent)
        }
        use.installed[pack.id] = .init(isEssential: isEssential, byteCount: installedByteCount)
        journal.launches[allowance.app] = use
      }
    }
  }
}
