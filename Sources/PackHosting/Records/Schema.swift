#if Hosting
  import GRDB

  /// The tables of the database, as migrations. A migration that was released never changes.
  enum Schema {
    static var migrator: DatabaseMigrator {
      var migrator = DatabaseMigrator()
      migrator.registerMigration("1 accounts") { try $0.execute(sql: accounts) }
      migrator.registerMigration("2 packs") { try $0.execute(sql: packs) }
      migrator.registerMigration("3 releases") { try $0.execute(sql: releases) }
      migrator.registerMigration("4 publishing") { try $0.execute(sql: publishing) }
      migrator.registerMigration("5 events") { try $0.execute(sql: events) }
      migrator.registerMigration("6 phased releases") { try $0.execute(sql: phasedReleases) }
      migrator.registerMigration("7 uploads by content") { try $0.execute(sql: contentUploads) }
      migrator.registerMigration("8 mail") { try $0.execute(sql: mail) }
      migrator.registerMigration("9 offline signing") { try $0.execute(sql: offlineSigning) }
      migrator.registerMigration("10 deltas") { try $0.execute(sql: deltas) }
      return migrator
    }

    private static let accounts = """
      CREATE TABLE team (id TEXT PRIMARY KEY NOT NULL, name TEXT NOT NULL, createdDate INTEGER NOT NULL) STRICT;
      CREATE TABLE user (
        id TEXT PRIMARY KEY NOT NULL, teamID TEXT NOT NULL REFERENCES team, email TEXT NOT NULL UNIQUE, name TEXT NOT NULL,
        roles TEXT NOT NULL, createdDate INTEGER NOT NULL) STRICT;
      CREATE TABLE app (
        id TEXT PRIMARY KEY NOT NULL, teamID TEXT NOT NULL REFERENCES team, name TEXT NOT NULL, bundleID TEXT NOT NULL UNIQUE,
        sku TEXT NOT NULL, primaryLocale TEXT NOT NULL, internalChannel TEXT NOT NULL, externalChannel TEXT NOT NULL,
        storeApprovals INTEGER NOT NULL CHECK (storeApprovals BETWEEN 0 AND 2),
        externalApprovals INTEGER NOT NULL CHECK (externalApprovals BETWEEN 0 AND 1),
        byteLimit INTEGER NOT NULL, packLimit INTEGER NOT NULL, createdDate INTEGER NOT NULL) STRICT;
      CREATE INDEX appTeam ON app (teamID);
      CREATE TABLE apiKey (
        id TEXT PRIMARY KEY NOT NULL, teamID TEXT NOT NULL REFERENCES team, issuer TEXT NOT NULL, userID TEXT REFERENCES user,
        name TEXT NOT NULL, roles TEXT NOT NULL, publicKey BLOB NOT NULL, createdDate INTEGER NOT NULL, revokedDate INTEGER) STRICT;
      CREATE TABLE token (
        id TEXT PRIMARY KEY NOT NULL, teamID TEXT NOT NULL REFERENCES team, name TEXT NOT NULL, hash BLOB NOT NULL UNIQUE,
        roles TEXT NOT NULL, appID TEXT REFERENCES app, createdDate INTEGER NOT NULL, expirationDate INTEGER,
        revokedDate INTEGER) STRICT;
      CREATE TABLE appVersion (
        id TEXT PRIMARY KEY NOT NULL, appID TEXT NOT NULL REFERENCES app, platform TEXT NOT NULL, versionString TEXT NOT NULL,
        state TEXT NOT NULL, releaseType TEXT NOT NULL, earliestReleaseDate INTEGER, createdDate INTEGER NOT NULL,
        UNIQUE (appID, platform, versionString)) STRICT;
      """

    private static let packs = """
      CREATE TABLE pack (
        id TEXT PRIMARY KEY NOT NULL, appID TEXT NOT NULL REFERENCES app, identifier TEXT NOT NULL, archived INTEGER NOT NULL,
        lastNumber INTEGER NOT NULL, createdDate INTEGER NOT NULL, UNIQUE (appID, identifier)) STRICT;
      CREATE TABLE packVersion (
        id TEXT PRIMARY KEY NOT NULL, packID TEXT NOT NULL REFERENCES pack, appID TEXT NOT NULL REFERENCES app,
        number INTEGER NOT NULL, state TEXT NOT NULL, createdDate INTEGER NOT NULL, platforms TEXT NOT NULL,
        allPlatforms TEXT NOT NULL, locale TEXT, details TEXT NOT NULL, catalog BLOB, byteCount INTEGER NOT NULL,
        creator TEXT NOT NULL, creatorKind TEXT NOT NULL, UNIQUE (packID, number)) STRICT;
      CREATE INDEX packVersionApp ON packVersion (appID);
      CREATE TABLE uploadFile (
        id TEXT PRIMARY KEY NOT NULL, versionID TEXT NOT NULL REFERENCES packVersion, appID TEXT NOT NULL REFERENCES app,
        assetType TEXT NOT NULL, fileName TEXT NOT NULL, byteCount INTEGER NOT NULL, state TEXT NOT NULL, errors TEXT NOT NULL,
        warnings TEXT NOT NULL, checksums TEXT, uploader TEXT NOT NULL, uploaderKind TEXT NOT NULL, createdDate INTEGER NOT NULL,
        expirationDate INTEGER NOT NULL, committedDate INTEGER, UNIQUE (versionID, assetType)) STRICT;
      CREATE INDEX uploadFileOpen ON uploadFile (expirationDate) WHERE state = 'AWAITING_UPLOAD';
      CREATE TABLE uploadPart (
        fileID TEXT NOT NULL REFERENCES uploadFile, number INTEGER NOT NULL, offset INTEGER NOT NULL, length INTEGER NOT NULL,
        storedName TEXT, md5 TEXT, PRIMARY KEY (fileID, number)) STRICT;
      CREATE TABLE job (
        id TEXT PRIMARY KEY NOT NULL, versionID TEXT NOT NULL UNIQUE REFERENCES packVersion, state TEXT NOT NULL,
        faults INTEGER NOT NULL, cause TEXT, createdDate INTEGER NOT NULL) STRICT;
      """

    /// The second index of releases keeps a pack from having two live versions in a context.
    private static let releases = """
      CREATE TABLE release (
        id TEXT PRIMARY KEY NOT NULL, versionID TEXT NOT NULL REFERENCES packVersion, packID TEXT NOT NULL REFERENCES pack,
        appID TEXT NOT NULL REFERENCES app, context TEXT NOT NULL, state TEXT NOT NULL,
        share INTEGER NOT NULL CHECK (share BETWEEN 0 AND 10000), fallbackID TEXT REFERENCES release, createdDate INTEGER NOT NULL,
        UNIQUE (versionID, context)) STRICT;
      CREATE UNIQUE INDEX releaseLive ON release (packID, context) WHERE state IN ('READY_FOR_TESTING', 'READY_FOR_DISTRIBUTION');
      CREATE TABLE submission (
        id TEXT PRIMARY KEY NOT NULL, appID TEXT NOT NULL REFERENCES app, context TEXT NOT NULL, platform TEXT,
        state TEXT NOT NULL, submittedDate INTEGER, submitter TEXT, submitterKind TEXT, lastUpdater TEXT NOT NULL,
        lastUpdaterKind TEXT NOT NULL, createdDate INTEGER NOT NULL) STRICT;
      CREATE INDEX submissionApp ON submission (appID, state);
      CREATE TABLE submissionItem (
        id TEXT PRIMARY KEY NOT NULL, submissionID TEXT NOT NULL REFERENCES submission, state TEXT NOT NULL,
        versionID TEXT REFERENCES packVersion, appVersionID TEXT REFERENCES appVersion,
        CHECK ((versionID IS NULL) <> (appVersionID IS NULL))) STRICT;
      CREATE INDEX submissionItemVersion ON submissionItem (versionID);
      CREATE TABLE approval (
        id TEXT PRIMARY KEY NOT NULL, submissionID TEXT NOT NULL REFERENCES submission, person TEXT NOT NULL,
        subject BLOB NOT NULL, createdDate INTEGER NOT NULL, voidedDate INTEGER) STRICT;
      """

    private static let publishing = """
      CREATE TABLE channel (
        appID TEXT NOT NULL REFERENCES app, name TEXT NOT NULL, context TEXT NOT NULL, wantedRevision INTEGER NOT NULL,
        writtenRevision INTEGER NOT NULL, writtenDigest BLOB, intendedRoot BLOB, intendedRevision INTEGER, alarm TEXT,
        PRIMARY KEY (appID, context)) STRICT;
      CREATE TABLE delegation (
        appID TEXT PRIMARY KEY NOT NULL REFERENCES app, releaseKey TEXT NOT NULL, rootKey TEXT, endDate INTEGER) STRICT;
      """

    private static let phasedReleases = """
      CREATE TABLE phasedRelease (
        id TEXT PRIMARY KEY NOT NULL, appVersionID TEXT NOT NULL UNIQUE REFERENCES appVersion ON DELETE CASCADE,
        appID TEXT NOT NULL REFERENCES app, state TEXT NOT NULL, startDate INTEGER, pauseDate INTEGER,
        pausedSeconds INTEGER NOT NULL, createdDate INTEGER NOT NULL) STRICT;
      """

    private static let contentUploads = """
      ALTER TABLE uploadFile ADD COLUMN contentSHA256 TEXT;
      ALTER TABLE uploadPart ADD COLUMN frames BLOB;
      """

    private static let events = """
      CREATE TABLE webhook (
        id TEXT PRIMARY KEY NOT NULL, appID TEXT NOT NULL REFERENCES app, name TEXT NOT NULL, url TEXT NOT NULL,
        secret TEXT NOT NULL, enabled INTEGER NOT NULL, eventTypes TEXT NOT NULL, createdDate INTEGER NOT NULL) STRICT;
      CREATE TABLE event (
        id TEXT PRIMARY KEY NOT NULL, appID TEXT NOT NULL REFERENCES app, eventType TEXT, payload TEXT NOT NULL,
        ping INTEGER NOT NULL, createdDate INTEGER NOT NULL) STRICT;
      CREATE TABLE delivery (
        id TEXT PRIMARY KEY NOT NULL, webhookID TEXT NOT NULL REFERENCES webhook ON DELETE CASCADE,
        eventID TEXT NOT NULL REFERENCES event, state TEXT NOT NULL, redelivery INTEGER NOT NULL, url TEXT NOT NULL,
        createdDate INTEGER NOT NULL, sentDate INTEGER, attempts INTEGER NOT NULL, dueDate INTEGER, statusCode INTEGER,
        responseBody TEXT, errorMessage TEXT) STRICT;
      CREATE INDEX deliveryDue ON delivery (dueDate) WHERE state = 'PENDING';
      CREATE INDEX deliveryWebhook ON delivery (webhookID, createdDate);
      """
  }
#endif
