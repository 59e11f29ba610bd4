import PackAuthoring
import PackDelivery
import PackFormats
public import PackStore

/// Whether a site is still served as it was when a publication went on from it: asked just before its roots are copied there.
public struct ServedCheck: Sendable {
  /// What was found.
  public enum Finding: String, Hashable, Codable, Sendable {
    /// The roots are those from which the publication went on, or its own as far as they were copied: the others may be.
    case unchanged

    /// The same, but the publication had no mark of the newest root: a stale cache may have shown it an older state, and may do so
    /// again.
    case unmarked

    /// The publication's own roots are served already.
    case published
  }

  private let folder: FilePath
  private let site: ServedSource

  /// - Parameters:
  ///   - folder: the one with the new files.
  ///   - site: where these are to go.
  public init(_ folder: FilePath, at site: ServedSource) {
    self.folder = folder
    self.site = site
  }

  /// - Throws: `conflict` when another publisher was faster; `notFound`, `corrupt` for a folder that says nothing of where it went on
  ///   from; `noSite`, `unreachable`, `denied`, `badResponse`.
  public func run() async throws -> Finding {
    let before = try Predecessor(in: folder)
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

  private func compare(_ before: Predecessor, _ served: ServedSite) async throws -> Finding {
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

  /// The publication's own root of a channel.
  private func own(_ channel: SiteChannel) throws -> Digest256? {
    do {
      let file = try InputFile(SitePath.root(channel).description, in: folder)
      return Digest256(hashing: try file.contents(limit: SiteRoot.byteCountLimit))
    } catch let error as PackStoreError where error.code == .notFound { return nil }
  }

  private func conflict(_ channel: SiteChannel) -> PackStoreError {
    var error = PackStoreError(
      .conflict, "the root of the channel '\(channel)' changed since the publication began", about: .site(site.location)
    )
    error.specificRemedy =
      "another job has published meanwhile: leave the roots there as they are, and publish again into an empty folder"
    return error
  }
}
