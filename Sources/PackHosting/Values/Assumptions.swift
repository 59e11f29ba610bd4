#if Hosting
  /// Behaviour for which no public source exists, or sources disagree. This is the one place to change it.
  enum Assumptions {
    // MARK: Tokens

    /// Longest life of a token in seconds; without `iat` it is counted from now.
    static let tokenLifetime: Int64 = 20 * 60
    /// Tolerated difference of clocks in seconds.
    static let clockLeeway: Int64 = 60
    /// A revoked key, or a scope that does not match the request.
    static let revokedKeyStatus = 401
    /// Requests in a rolling hour for each key.
    static let requestsPerHour = 3500

    // MARK: Parameters and errors

    static let defaultPageSize = 50
    static let largestPageSize = 200
    static let largestIncludedSize = 50
    /// A relationship to an object that is unknown or belongs to another team.
    static let unknownRelationshipCode = "ENTITY_ERROR.RELATIONSHIP.INVALID"
    static let duplicatePackCode = "ENTITY_ERROR.ATTRIBUTE.INVALID.DUPLICATE"
    /// A body without `data`, of another type, or with another id than the path.
    static let malformedEntityCode = "ENTITY_ERROR"
    static let unknownAttributeCode = "ENTITY_ERROR.ATTRIBUTE.UNKNOWN"
    static let unknownRelationshipNameCode = "ENTITY_ERROR.RELATIONSHIP.UNKNOWN"
    /// A request for a host name that is not configured.
    static let foreignHostStatus = 421

    // MARK: Packs and versions

    static let packIdentifierLimit = 64
    static let packsPerApp = 200
    static let bytesPerApp: Int64 = 200_000_000_000
    /// The share of a quota, in percent, at which a mail is sent.
    static let quotaWarningPercent: Int64 = 80
    /// Least difference of `createdDate` between versions of a pack in seconds: clients sort by it.
    static let versionDateStep: Int64 = 1

    // MARK: Uploads

    /// Life of upload URLs and reservations in seconds.
    static let reservationLifetime: Int64 = 7 * 86_400
    static let partByteCount: Int64 = 64 << 20
    static let fileNameLimit = 255
    static let manifestByteCountLimit: Int64 = 1 << 20

    /// Versions with larger archives get no deltas: building them takes too long.
    static let deltaByteCountLimit: Int64 = 2 << 30

    // MARK: Review

    static let packsPerSubmission = 10
    static let webhooksPerApp = 10
    /// Days of a phased release of an app version, and the most days that it may be paused in all.
    static let phasedReleaseDays: Int64 = 7
    static let phasedReleasePauseDays: Int64 = 30

    // MARK: Webhooks

    /// Delays before the retries of a delivery in seconds: eight within a day.
    static let retryDelays: [Int64] = [60, 300, 900, 3600, 2 * 3600, 4 * 3600, 6 * 3600, 7 * 3600]
    // MARK: Mail

    static let mailRecipientsPerApp = 10

    /// Mails about an app in a day; further ones are not recorded.
    static let mailsPerDay = 100

    /// Age in seconds after which a mail is not sent any more, and age after which its record is deleted.
    static let mailLifetime: Int64 = 86_400
    static let mailRecordLifetime: Int64 = 30 * 86_400

    /// Largest body of an answer that a delivery records, in bytes.
    static let recordedBodyByteCount = 4096
  }
#endif
