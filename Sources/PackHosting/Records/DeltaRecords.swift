#if Hosting
  import GRDB

  /// The work of building a delta between two versions. A missing record is work that did not begin.
  struct DeltaJobRecord: Codable, FetchableRecord, PersistableRecord, Sendable {
    static let databaseTableName = "deltaJob"

    let fromVersionID: Identifier<VersionRecord>
    let toVersionID: Identifier<VersionRecord>

    /// `STUCK` after repeated faults, or if the proof of the delta failed.
    var state: JobRecord.State
    var faults: Int
    var cause: String?
    let createdDate: Timestamp
  }

  extension Schema {
    static let deltas = """
      CREATE TABLE deltaJob (
        fromVersionID TEXT NOT NULL REFERENCES packVersion, toVersionID TEXT NOT NULL REFERENCES packVersion, state TEXT NOT NULL,
        faults INTEGER NOT NULL, cause TEXT, createdDate INTEGER NOT NULL, PRIMARY KEY (fromVersionID, toVersionID)) STRICT;
      """
  }
#endif
