#if Hosting
  import GRDB

  extension Identifier: DatabaseValueConvertible {}
  extension AppID: DatabaseValueConvertible {}
  extension Timestamp: DatabaseValueConvertible {}
  extension AssetType: DatabaseValueConvertible {}
  extension ReleaseState: DatabaseValueConvertible {}
  extension ReleaseContext: DatabaseValueConvertible {}
  extension VersionStates.State: DatabaseValueConvertible {}
  extension UploadStates.State: DatabaseValueConvertible {}
  extension SubmissionStates.State: DatabaseValueConvertible {}
  extension SubmissionItemStates.State: DatabaseValueConvertible {}
  extension AppVersionStates.State: DatabaseValueConvertible {}
  extension PhasedReleaseStates.State: DatabaseValueConvertible {}
  extension DeliveryState: DatabaseValueConvertible {}
  extension ReleaseType: DatabaseValueConvertible {}
  extension ApplePlatform: DatabaseValueConvertible {}
  extension Principal.Kind: DatabaseValueConvertible {}
  extension MailKind: DatabaseValueConvertible {}
  extension MailAddress: DatabaseValueConvertible {}
#endif
