#if Hosting
  import Foundation
  import GRDB

  /// A version in one context.
  struct ReleaseRecord: Codable, FetchableRecord, PersistableRecord, Sendable {
    static let databaseTableName = "release"

    let id: Identifier<ReleaseRecord>
    let versionID: Identifier<VersionRecord>
    let packID: Identifier<PackRecord>
    let appID: AppID
    let context: ReleaseContext
    var state: ReleaseState

    /// The share of devices that get the version, in ten-thousandths. The other devices get the fallback.
    var share: Int = ReleaseRecord.allDevices

    /// The release for devices outside of the share: the last one before it that was for all devices.
    var fallbackID: Identifier<ReleaseRecord>?
    let createdDate: Timestamp

    static let allDevices = 10_000
  }

  struct SubmissionRecord: Codable, FetchableRecord, PersistableRecord, Sendable {
    static let databaseTableName = "submission"

    let id: Identifier<SubmissionRecord>
    let appID: AppID

    /// For which context: `store` for `reviewSubmissions`, `externalBeta` for `betaBackgroundAssetReviewSubmissions`.
    let context: ReleaseContext
    var platform: ApplePlatform?
    var state: SubmissionStates.State
    var submittedDate: Timestamp?

    /// The principal that submitted, and the principal of the last change.
    var submitter: String?
    var submitterKind: Principal.Kind?
    var lastUpdater: String
    var lastUpdaterKind: Principal.Kind
    let createdDate: Timestamp
  }

  struct SubmissionItemRecord: Codable, FetchableRecord, PersistableRecord, Sendable {
    static let databaseTableName = "submissionItem"

    let id: Identifier<SubmissionItemRecord>
    let submissionID: Identifier<SubmissionRecord>
    var state: SubmissionItemStates.State

    /// Exactly one of the two.
    let versionID: Identifier<VersionRecord>?
    let appVersionID: Identifier<AppVersionRecord>?
  }

  /// A person's approval of a submission.
  struct ApprovalRecord: Codable, FetchableRecord, PersistableRecord, Sendable {
    static let databaseTableName = "approval"

    let id: Identifier<ApprovalRecord>
    let submissionID: Identifier<SubmissionRecord>
    let person: String

    /// SHA-256 of the approved versions and terms: the approval covers nothing else.
    let subject: Data
    let createdDate: Timestamp
    var voidedDate: Timestamp?
  }
#endif
