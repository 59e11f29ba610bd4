#if Hosting
  /// The roles of App Store Connect.
  enum Role: String, CaseIterable, Codable, Sendable {
    case admin = "ADMIN"
    case finance = "FINANCE"
    case accountHolder = "ACCOUNT_HOLDER"
    case sales = "SALES"
    case marketing = "MARKETING"
    case appManager = "APP_MANAGER"
    case developer = "DEVELOPER"
    case accessToReports = "ACCESS_TO_REPORTS"
    case customerSupport = "CUSTOMER_SUPPORT"
    case createApps = "CREATE_APPS"
    case cloudManagedDeveloperID = "CLOUD_MANAGED_DEVELOPER_ID"
    case cloudManagedAppDistribution = "CLOUD_MANAGED_APP_DISTRIBUTION"
    case generateIndividualKeys = "GENERATE_INDIVIDUAL_KEYS"
  }

  /// A permission of a principal.
  enum Right: CaseIterable, Sendable {
    /// Read apps, packs, versions, releases and submissions.
    case read
    /// Create packs and versions, upload, and submit for review.
    case managePacks
    /// Approve and reject submissions, release, halt and step back.
    case release
    case manageWebhooks
    /// Change an app's rules: reviewers, quotas, channel names.
    case manageApps
  }

  extension Role {
    /// Apple documents the roles for packs and webhooks; the other rows are ours.
    var rights: Set<Right> {
      switch self {
      case .accountHolder, .admin: Set(Right.allCases)
      case .appManager: [.read, .managePacks, .release, .manageWebhooks]
      case .developer: [.read, .managePacks]
      case .marketing, .customerSupport, .sales, .finance: [.read]
      default: []
      }
    }
  }
#endif
