public import PackStore

extension Store {
  /// How far a repair from sites has come.
  public enum SiteRepairProgress: Sendable {
    case repair(RepairProgress)
    /// Versions of a site are fetched.
    case fetch(PullProgress)
  }

  /// Repairs the damaged store in the directory `path`, as `Store.repair(at:from:isDryRun:waitsForWriters:progress:)` does, also with
  /// versions that sites offer. A version is dropped only if neither the store, nor a donor, nor a site has its bytes.
  ///
  /// A repair that changes nothing finds the losses first. Then the sites' versions of these packs are fetched into `scratch`, which
  /// becomes another donor.
  ///
  /// - Parameters:
  ///   - path: the store's folder.
  ///   - donors: folders of other stores.
  ///   - sites: `http:`, `https:` or `file:` URLs, and paths of folders or archives.
  ///   - scratch: an empty folder with room for the versions that are fetched. The caller removes it.
  ///   - authorize: returns the authorization for the server of a site; `nil` if it needs none. ``PullOptions/authorization`` is
  ///     ignored, so that no server receives the token of another one.
  ///   - options: as for a pull. The channel, the trusted key, limits and the clock count.
  ///   - isDryRun: whether to return the result of the repair without changing the store.
  ///   - waitsForWriters: whether to wait for a process that is committing now, or to fail with `busy`.
  ///   - progress: called on a thread of the store.
  /// - Throws: `DeliveryError` if a site cannot be read, `notAStore` or `corrupt` if a donor cannot; the other errors of a repair;
  ///   `CancellationError`. The store is as it was then.
  /// - Complexity: O(*n*) in stored bytes, twice if sites are given; and in the bytes that are fetched.
  @discardableResult
  public static func repair(
    at path: FilePath, from donors: [FilePath], sites: [String], scratch: FilePath,
    authorize: (String) throws -> SiteAuthorization? = { _ in nil }, options: PullOptions = .init(),
    isDryRun: Bool = false, waitsForWriters: Bool = true, progress: (@Sendable (SiteRepairProgress) -> Void)? = nil
  ) async throws -> RepairResult {
    func run(_ donors: [FilePath], isDryRun: Bool) async throws -> RepairResult {
      try await repair(at: path, from: donors, isDryRun: isDryRun, waitsForWriters: waitsForWriters) {
        progress?(.repair($0))
      }
    }
    for donor in donors { _ = try Store(at: donor, options: .readOnly).makeSnapshot() }
    guard !sites.isEmpty else { return try await run(donors, isDryRun: isDryRun) }
    let donor = try await SiteDonor.open(sites, scratch: scratch, authorize: authorize, options: options)
    do {
      while true {
        let losses = try await run(donors + donor.paths, isDryRun: true).losses
        guard !losses.isEmpty else { break }
        if try await donor.fetch(losses, progress: { progress?(.fetch($0)) }) { continue }
        // The versions with these numbers do not suffice, or the result lists others: it has at most 1,000 losses.
        guard try await donor.fetchAll(progress: { progress?(.fetch($0)) }) else { break }
      }
      await donor.close()
    } catch {
      await donor.close()
      throw error
    }
    return try await run(donors + donor.paths, isDryRun: isDryRun)
  }
}
