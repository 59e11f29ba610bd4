public import PackAuthoring
import PackDelivery
import PackFormats
public import PackStore

/// Reads the status of a site for its operator, without a key: a folder, a bucket, or a site on a web server.
///
///     let status = try await SiteStatusReader(.folder("public/packs")).run()
///     for alarm in status.alarms where alarm.isUrgent { print(alarm.code.rawValue) }
///
/// Use it in one task at a time.
public struct SiteStatusReader: Sendable {
  /// The place of a site.
  public enum Place: Sendable {
    case folder(FilePath)
    case bucket(BucketSite)

    /// A web server does not list its channels: `live` is read, and these, which must exist. Only their roots and the files that the roots
    /// refer to are known.
    case served(RemoteSiteLocation, channels: [SiteChannel])

    /// Closes connections. The place cannot be used afterwards.
    public func close() async { if case .bucket(let bucket) = self { await bucket.close() } }
  }

  private let place: Place

  public init(_ place: Place) { self.place = place }

  /// - Parameters:
  ///   - checksObjects: whether to check that every file exists with its recorded length: one request for each file of a bucket or
  ///     served site.
  ///   - now: the current time.
  ///   - progress: receives the number of checked files, on any thread.
  /// - Throws: `notAStore`, `noSite`; `unreachable`, `denied`, `badResponse`; `untrusted` if served roots are signed by different
  ///   publishers; `corrupt`, `ioError`, `outOfMemory`; `CancellationError`. Faults of the site itself are alarms.
  public func run(
    checksObjects: Bool = true, now: Date = Date(), progress: @escaping @Sendable (Int) -> Void = { _ in }
  ) async throws -> Site.Status {
    let time = Int64(min(max(now.timeIntervalSince1970 * 1e9, 0), 9e18))
    switch place {
    case .folder(let path):
      if MirrorMark.exists(in: path) {
        let mirrored = try RemoteSiteLocation.channels(inFolder: path)
        return try await Self(.served(RemoteSiteLocation(path.string), channels: mirrored)).run(
          checksObjects: checksObjects, now: now, progress: progress)
      }
      let site = try Site(existingAt: path)
      return try await complete(
        SiteSurvey(of: site, now: time), checksObjects ? .folder(site) : nil, progress)
    case .bucket(let bucket):
      let survey = try await bucket.readVersions { try SiteSurvey(of: $0, now: time) }
      return try await complete(survey, checksObjects ? .storage(bucket.storage) : nil, progress)
    case .served(let location, let channels):
      let served = try location.open(channels: channels)
      do {
        let survey = try await ServedSurvey(served).run(now: time, hasHistory: false)
        let result = try await complete(
          survey.status, survey.rules.mapValues(\.byteCount), checksObjects ? .source(served.source) : nil, progress)
        await served.close()
        return result
      } catch {
        await served.close()
        throw error
      }
    }
  }

  private func complete(
    _ survey: SiteSurvey, _ access: ObjectProbe.Access?, _ progress: @escaping @Sendable (Int) -> Void
  ) async throws -> Site.Status {
    try await complete(survey.status, survey.files, access, progress)
  }

  private func complete(
    _ status: Site.Status, _ files: [SitePath: UInt64], _ access: ObjectProbe.Access?,
    _ progress: @escaping @Sendable (Int) -> Void
  ) async throws -> Site.Status {
    guard let access else { return status }
    var status = status
    status.record(try await ObjectProbe(access).check(files, progress: progress))
    return status
  }
}
