#if Hosting
  import Foundation
  import GRDB

  struct PackRecord: Codable, FetchableRecord, PersistableRecord, Sendable {
    static let databaseTableName = "pack"

    let id: Identifier<PackRecord>
    let appID: AppID

    /// Unique in the app permanently, archived packs included.
    let identifier: String
    var archived: Bool

    /// The number of the last version that was created; 0 for none. Numbers are never used twice.
    var lastNumber: Int64
    let createdDate: Timestamp
  }

  struct VersionRecord: Codable, FetchableRecord, PersistableRecord, Sendable {
    static let databaseTableName = "packVersion"

    let id: Identifier<VersionRecord>
    let packID: Identifier<PackRecord>
    let appID: AppID

    /// The number in the site. The API shows it as text.
    let number: Int64
    var state: VersionStates.State

    /// Rises by at least a second with the number.
    let createdDate: Timestamp

    /// Apple's platforms only; empty until processing.
    var platforms: [ApplePlatform]

    /// All platforms by their names in manifests; empty for all platforms.
    var allPlatforms: [String]
    var locale: String?
    var details: StateDetails

    /// The SHA-256 of the version's catalog, once it is on the site.
    var catalog: Data?

    /// Bytes of the archive, once it was committed.
    var byteCount: Int64

    /// Who created the version: a principal's id.
    let creator: String
    let creatorKind: Principal.Kind
  }

  struct UploadFileRecord: Codable, FetchableRecord, PersistableRecord, Sendable {
    static let databaseTableName = "uploadFile"

    let id: Identifier<UploadFileRecord>
    let versionID: Identifier<VersionRecord>
    let appID: AppID
    let assetType: AssetType
    let fileName: String

    /// Bytes that the client announced.
    let byteCount: Int64
    var state: UploadStates.State
    var errors: [StateDetail]
    var warnings: [StateDetail]

    /// SHA-256 of the whole file as lower-case hexadecimal digits, of a reservation whose known ranges the host copies; otherwise
    /// `nil`.
    var contentSHA256: String?

    /// Checksums as the client sent them with the commit; `nil` until then.
    var checksums: UploadChecksums?

    /// Who reserved the file: a principal's id.
    let uploader: String
    let uploaderKind: Principal.Kind
    let createdDate: Timestamp
    let expirationDate: Timestamp
    var committedDate: Timestamp?
  }

  /// The checksums of a commit. All values are lower-case hexadecimal digits.
  struct UploadChecksums: Hashable, Codable, Sendable {
    /// Over the whole file.
    var fileMD5: String?
    var fileSHA256: String?

    /// MD5 over the binary MD5s of the parts, or for one part also the MD5 of the file.
    var compositeMD5: String?

    /// The value of the deprecated attribute.
    var deprecatedMD5: String?
  }

  /// A part of an upload file.
  struct UploadPartRecord: Codable, FetchableRecord, PersistableRecord, Sendable {
    static let databaseTableName = "uploadPart"

    let fileID: Identifier<UploadFileRecord>

    /// From 1.
    let number: Int
    let offset: Int64
    let length: Int64

    /// The name of the received file in the upload's folder; `nil` until a complete part was received.
    var storedName: String?

    /// Lower-case hexadecimal digits.
    var md5: String?

    /// The frames that the host copies from the app's site, which fill the range: lengths of 4 bytes, little-endian, and digests of
    /// 32. `nil` for a part that the client sends.
    var frames: Data?
  }
#endif
