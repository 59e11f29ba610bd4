public import PackAuthoring
public import PackFormats
import PackStore

/// A publication to a site in any place of storage, with the deltas to its versions.
///
///     let host = FolderHost("public/packs")
///     let result = try await HostPublication(to: host, signedBy: key).run(from: .store(store))
///
/// In a folder, the publication builds the deltas, by default from the previous version. The content of any other site is elsewhere,
/// and building deltas downloads it. By default none are built there; requested ones are built in a second change, when the site
/// offers the versions already.
public struct HostPublication: Sendable {
  public struct Result: Sendable {
    public internal(set) var publication: Site.PublishResult

    /// The error that ended the second change; `nil` if it succeeded or was not needed. The versions are published in any case.
    public internal(set) var deltaFailure: (any Error)?
  }

  private let host: any SiteHost
  private let key: SiteKey
  private let options: Site.PublishOptions
  private let deltaCount: Int?

  /// The private part of the history of the changes; `nil`: none.
  public var changeNote: ChangeNote?

  /// - Parameters:
  ///   - host: the site. The caller closes it.
  ///   - key: the key that signed the site before.
  ///   - options: all options except the number of deltas.
  ///   - deltaCount: the number of previous versions to build deltas from; `nil` for the default of the place.
  public init(
    to host: any SiteHost, signedBy key: SiteKey, options: Site.PublishOptions = .init(), deltaCount: Int? = nil
  ) {
    (self.host, self.key, self.options, self.deltaCount) = (host, key, options, deltaCount)
  }

  /// Publishes versions of packs, and builds deltas to them.
  ///
  /// - Parameters:
  ///   - packs: see ``PackAuthoring/Site/publish(_:from:signedBy:options:isDryRun:progress:)``.
  ///   - source: the source of these versions.
  ///   - makesSite: whether to create a missing site.
  ///   - isDryRun: whether to report the result without changing the site, and without deltas.
  ///   - events: receives events of the transfer, on any thread.
  ///   - opening: called with the folder of the site at the beginning of each change.
  ///   - progress: called on a thread that may block.
  /// - Throws: the errors of ``SiteHost/change(signedBy:makesSite:isDryRun:events:reading:_:)`` and of `Site.publish`.
  @discardableResult
  public func run(
    _ packs: [Site.PublishedPack]? = nil, from source: Site.Source, makesSite: Bool = true, isDryRun: Bool = false,
    events: @escaping @Sendable (SiteChangeEvent) -> Void = { _ in },
    opening: @escaping @Sendable (Site) -> Void = { _ in },
    progress: (@Sendable (Site.PublishProgress) -> Void)? = nil
  ) async throws -> Result {
    var options = options
    options.deltaCount = host.hasContent ? deltaCount ?? Self.standardDeltaCount : 0
    let publication = try await host.change(
      signedBy: key, makesSite: makesSite, isDryRun: isDryRun, events: events, reading: nil
    ) { [key, options, changeNote] site in
      opening(site)
      return try await site.noting(changeNote).publish(
        packs, from: source, signedBy: key, options: options, isDryRun: isDryRun, progress: progress)
    }
    var result = Result(publication: publication)
    guard !host.hasContent, !isDryRun, let deltaCount, deltaCount > 0 else { return result }
    options.deltaCount = deltaCount
    do {
      try await addDeltas(to: &result.publication, options, events, opening, progress)
    } catch { result.deltaFailure = error }
    return result
  }

  /// The default in a folder.
  private static let standardDeltaCount = 1

  private func addDeltas(
    to result: inout Site.PublishResult, _ options: Site.PublishOptions,
    _ events: @escaping @Sendable (SiteChangeEvent) -> Void, _ opening: @escaping @Sendable (Site) -> Void,
    _ progress: (@Sendable (Site.PublishProgress) -> Void)?
  ) async throws {
    guard let channel = options.channel else { return }
    let packs = Set(result.packs.map(\.version.pack)), key = key, changeNote = changeNote
    let (made, missing) = try await host.change(
      signedBy: key, makesSite: false, isDryRun: false, events: events,
      reading: { site in
        try await site.planDeltas(for: channel, of: packs, signedBy: key, options: options)
          .flatMap { [$0.from, $0.to] }
      }
    ) { site in
      opening(site)
      return try await site.noting(changeNote).makeDeltas(
        for: channel, of: packs, signedBy: key, options: options, progress: progress)
    }
    result.add(made, missing)
  }
}
