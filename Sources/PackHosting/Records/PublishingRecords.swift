#if Hosting
  import Foundation
  import GRDB

  /// The root of a channel: wanted, written and intended.
  struct ChannelRecord: Codable, FetchableRecord, PersistableRecord, Sendable {
    static let databaseTableName = "channel"

    let appID: AppID
    let name: String
    let context: ReleaseContext

    /// Rises with each change of the wanted offers.
    var wantedRevision: Int64

    /// The revision that the published root contains.
    var writtenRevision: Int64

    /// SHA-256 of the root that this host published last; `nil` before the first.
    var writtenDigest: Data?

    /// The root that is about to be written: stored before the first write, so that a crash writes the same bytes.
    var intendedRoot: Data?

    /// The revision that ``intendedRoot`` contains.
    var intendedRevision: Int64?

    /// Why the host stopped to write this channel; `nil` if it did not.
    var alarm: String?
  }

  /// A request for a delegation, and its state. The host holds the release key in the app's folder, and never a root key.
  struct DelegationRecord: Codable, FetchableRecord, PersistableRecord, Sendable {
    static let databaseTableName = "delegation"

    let appID: AppID

    /// The public half of the release key, as 64 hexadecimal digits.
    let releaseKey: String

    /// The root key, once the delegation was imported.
    var rootKey: String?
    var endDate: Timestamp?
  }

  /// Work of the background worker.
  struct JobRecord: Codable, FetchableRecord, PersistableRecord, Sendable {
    static let databaseTableName = "job"

    enum State: String, Codable, DatabaseValueConvertible {
      case waiting = "WAITING"
      case done = "DONE"
      /// The machine failed too often; an operator must act.
      case stuck = "STUCK"
    }

    let id: Identifier<JobRecord>
    let versionID: Identifier<VersionRecord>
    var state: State

    /// Attempts that ended with a fault of the machine.
    var faults: Int
    var cause: String?
    let createdDate: Timestamp
  }
#endif
