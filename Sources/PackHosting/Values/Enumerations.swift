#if Hosting
  // Values of Apple's enumerations. No value of our own is added: strict clients fail to decode a page that contains one.

  enum AssetType: String, CaseIterable, Codable, Sendable {
    case asset = "ASSET"
    case manifest = "MANIFEST"
  }

  enum ApplePlatform: String, CaseIterable, Codable, Sendable {
    case iOS = "IOS"
    case macOS = "MAC_OS"
    case tvOS = "TV_OS"
    case visionOS = "VISION_OS"
  }

  enum ChecksumAlgorithm: String, CaseIterable, Codable, Sendable {
    case md5 = "MD5"
    case sha256 = "SHA_256"
  }

  /// When an approved app version is released.
  enum ReleaseType: String, CaseIterable, Codable, Sendable {
    case manual = "MANUAL"
    case afterApproval = "AFTER_APPROVAL"
    case scheduled = "SCHEDULED"
  }

  enum DeliveryState: String, CaseIterable, Codable, Sendable {
    case pending = "PENDING"
    case succeeded = "SUCCEEDED"
    case failed = "FAILED"
  }

  enum WebhookEventType: String, CaseIterable, Codable, Sendable {
    case versionState = "BACKGROUND_ASSET_VERSION_STATE_UPDATED"
    case internalRelease = "BACKGROUND_ASSET_VERSION_INTERNAL_BETA_RELEASE_CREATED"
    case externalRelease = "BACKGROUND_ASSET_VERSION_EXTERNAL_BETA_RELEASE_STATE_UPDATED"
    case storeRelease = "BACKGROUND_ASSET_VERSION_APP_STORE_RELEASE_STATE_UPDATED"
    case appVersionState = "APP_STORE_VERSION_APP_VERSION_STATE_UPDATED"
    case buildUpload = "BUILD_UPLOAD_STATE_UPDATED"
    case externalBuild = "BUILD_BETA_DETAIL_EXTERNAL_BUILD_STATE_UPDATED"
    case crashFeedback = "BETA_FEEDBACK_CRASH_SUBMISSION_CREATED"
    case screenshotFeedback = "BETA_FEEDBACK_SCREENSHOT_SUBMISSION_CREATED"
    case alternativePackage = "ALTERNATIVE_DISTRIBUTION_PACKAGE_AVAILABLE_UPDATED"
    case alternativePackageVersion = "ALTERNATIVE_DISTRIBUTION_PACKAGE_VERSION_CREATED"
    case alternativeTerritory = "ALTERNATIVE_DISTRIBUTION_TERRITORY_AVAILABILITY_UPDATED"
  }
#endif
