import PackStore

/// The kinds of warning, each with a stable word: `code` of the warning object that `--json` prints.
enum WarningCode: String, CaseIterable, Encodable {
  /// The agent or an app's extension failed.
  case agentProblem = "agent_problem"
  /// A file with authorizations is readable by other users, or an authorization is sent without TLS.
  case authorization
  /// The clock of this machine is implausible.
  case clock
  /// A control file is damaged and may hide a commit.
  case damagedControl = "damaged_control"
  /// The install log of a store is damaged.
  case damagedLog = "damaged_log"
  /// The ledger of a site contained a job that no publisher wrote.
  case discardedJob = "discarded_job"
  /// The site has no packs.
  case emptySite = "empty_site"
  /// Files were excluded by the built-in list.
  case excludedFiles = "excluded_files"
  /// One of several sites failed.
  case failedSite = "failed_site"
  /// The command trusts a new key from now on, or would do so without `--dry-run`.
  case firstContact = "first_contact"
  /// A write to the log file failed, so the log ends.
  case fullLog = "full_log"
  /// The key expires soon.
  case keyExpires = "key_expires"
  /// Data of a purgeable pack is missing.
  case lackingData = "lacking_data"
  /// The site lost a version that the source lacks.
  case lostVersion = "lost_version"
  /// A manifest has a likely mistake.
  case manifest
  /// A delta was not made.
  case missingDelta = "missing_delta"
  /// Objects of a site in object storage were missing.
  case missingObject = "missing_object"
  /// The site moved to another place.
  case movedSite = "moved_site"
  /// A secret key was created.
  case newKey = "new_key"
  /// The file system has no locks.
  case noLocks = "no_locks"
  /// A file was skipped, or will cause problems on other systems.
  case notice
  /// The site's root is old.
  case oldRoot = "old_root"
  /// Another version of libzstd compressed the previous archive.
  case otherCompressor = "other_compressor"
  /// The key may not sign a channel.
  case otherKey = "other_key"
  /// Another publisher was faster.
  case otherPublisher = "other_publisher"
  /// A notice of the development server.
  case server
  /// One root key signs two sites for the same product that are not copies of each other.
  case sharedKey = "shared_key"
  /// A pack was not changed.
  case skippedPack = "skipped_pack"
  /// The site's root is older than one already seen.
  case staleRoot = "stale_root"
  /// Two paths differ only in case or Unicode normalization.
  case twin
  /// New devices are offered no version of a pack.
  case unofferedPack = "unoffered_pack"
  /// No site is known for a pack.
  case unknownSite = "unknown_site"
  /// No key was specified, so the first contact trusts the site's key.
  case unnamedKey = "unnamed_key"
  /// The newest root could not be recorded next to the key.
  case unrecordedRoot = "unrecorded_root"
  /// The serial of a delegation could not be recorded next to the key.
  case unrecordedSerial = "unrecorded_serial"
  /// A link out of the folder was not created.
  case unsafeLink = "unsafe_link"
  /// An archive contains metadata that a store does not keep.
  case unsupportedMetadata = "unsupported_metadata"
  /// A pattern matches no file.
  case unusedPattern = "unused_pattern"
}

extension WarningCode {
  init(_ kind: Store.InstallNotice.Kind) {
    self =
      switch kind {
      case .twin: .twin
      case .unusedPattern: .unusedPattern
      case .badName, .link, .linkLoop, .linkOut, .skipped, .ownStore, .unreadable, .secret: .notice
      }
  }
}

/// A warning that is part of a result. The command prints it.
struct Warning {
  let code: WarningCode
  let text: String

  init(_ code: WarningCode, _ text: String) {
    self.code = code
    self.text = text
  }
}
