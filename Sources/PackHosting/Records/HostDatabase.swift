#if Hosting
  import GRDB

  /// The host's records: SQLite in one file, with one writer and concurrent readers.
  enum HostDatabase {
    /// Opens the database file, creates it if it is missing, and applies missing migrations.
    ///
    /// - Throws: `DatabaseError`, also for a file of a newer version of the program.
    static func open(at path: String) throws -> DatabasePool {
      var configuration = Configuration()
      configuration.foreignKeysEnabled = true
      configuration.busyMode = .timeout(10)
      configuration.label = "packstore-host"
      configuration.prepareDatabase { database in
        // A commit that was answered survives a loss of power.
        try database.execute(sql: "PRAGMA synchronous = FULL")
      }
      let pool = try DatabasePool(path: path, configuration: configuration)
      let migrator = Schema.migrator
      let isNewer = try pool.read { try migrator.hasBeenSuperseded($0) }
      guard !isNewer else {
        throw DatabaseError(
          resultCode: .SQLITE_ERROR, message: "database: written by a newer version; update packstore-host")
      }
      try migrator.migrate(pool)
      return pool
    }
  }
#endif
