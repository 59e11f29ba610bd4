import PackAuthoring
import PackDelivery
import PackFormats
public import PackStore

/// Checks whether a site is still in the state from which a publication continued. Run it just before copying the new roots.
public struct RemoteSiteCheck: Sendable {
  /// The result of the check.
  public enum Finding: String, Hashable, Codable, Sendable {
    /// The served roots are those from which the publication continued. Some may already be its own: copying can continue.
    case unchanged

    /// The roots are unchanged, but the publication had no mark of the newest root: an outdated cache may have shown it an older
    /// state, and may do so again.
    case unmarked

    /// The publication's own roots are served already.
    case published
  }

  private let folder: FilePath
  private let site: RemoteSiteLocation

  /// - Parameters:
  ///   - folder: the folder with the new files.
  ///   - site: the destination of these files.
  public init(_ folder: FilePath, at site: RemoteSiteLocation) {
    self.folder = folder
    self.site = site
  }

  /// - Throws: `conflict` if another publisher was faster; `notFound`, `corrupt` if the folder has no valid predecessor; `noSite`,
  ///   `unreachable`, `denied`, `badResponse`.
  public func run() async throws -> Finding {
    let before = try RemoteSitePredecessor(in: folder)
    let served = try site.open(channels: Array(before.roots.keys))
    do {
      let finding = try await compare(before, served)
      await served.close()
      return finding
    } catch {
      await served.close()
      throw error
    }
  }

  private func compare(_ before: RemoteSitePredecessor, _ served: RemoteSiteCopy) async throws -> Finding {
    var newCount = 0, pendingCount = 0
    for (channel, known) in before.roots.sorted(by: { $0.key < $1.key }) {
      let digest = try await served.readRoot(of: channel).map { Digest256(hashing: $0.bytes) }
      guard digest != known else {
        if try own(channel) != nil { pendingCount += 1 }
        continue
      }
      guard let digest, try own(channel) == digest else { throw conflict(channel) }
      newCount += 1
    }
    guard newCount == 0 || pendingCount > 0 else { return .published }
    return before.isMarked ? .unchanged : .unmarked
  }

  /// Returns the publication's own root of a channel.
  private func own(_ channel: SiteChannel) throws -> Digest256? {
    do {
      let file = try InputFile(SitePath.root(channel).description, in: folder)
      return Digest256(hashing: try file.contents(limit: SiteRoot.byteCountLimit))
    } catch let error as PackStoreError where error.code == .notFound { return nil }
  }

  private func conflict(_ channel: SiteChannel) -> PackStoreError {
    var error = PackStoreError(
      .conflict, "the root of the channel '\(channel)' changed since the publication began",
      about: .site(site.location),
      detail: .otherRoot)
    error.specificRemedy =
      "another job has published since then: do not copy the roots; publish again into an empty folder"
    return error
  }
}
