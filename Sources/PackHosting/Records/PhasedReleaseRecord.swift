#if Hosting
  import GRDB

  /// The phased release of an app version. It phases the app, never its packs: each release of a pack has its own share.
  struct PhasedReleaseRecord: Codable, FetchableRecord, PersistableRecord, Sendable {
    static let databaseTableName = "phasedRelease"

    let id: Identifier<PhasedReleaseRecord>
    let appVersionID: Identifier<AppVersionRecord>
    let appID: AppID
    var state: PhasedReleaseStates.State

    /// When the app version was released; `nil` before.
    var startDate: Timestamp?

    /// When the present pause began; `nil` while it is not paused.
    var pauseDate: Timestamp?

    /// The length of all earlier pauses, in seconds.
    var pausedSeconds: Int64
    let createdDate: Timestamp

    static let secondsOfDay: Int64 = 86_400

    /// The length of all pauses in seconds, at most ``Assumptions/phasedReleasePauseDays``.
    func pausedSeconds(at now: Timestamp) -> Int64 {
      let present = pauseDate.map { max(0, now.seconds - $0.seconds) } ?? 0
      return min(Assumptions.phasedReleasePauseDays * Self.secondsOfDay, pausedSeconds + present)
    }

    /// The day from 1 without pauses; `nil` before the start.
    func day(at now: Timestamp) -> Int64? {
      startDate.map { max(0, now.seconds - $0.seconds - pausedSeconds(at: now)) / Self.secondsOfDay + 1 }
    }
  }
#endif
