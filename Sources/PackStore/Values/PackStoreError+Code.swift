import CPackStore

extension PackStoreError {
  /// The kind of an error. 100 to 199: the call or the store's contents do not allow the operation; 200 to 299: the machine failed;
  /// 300 to 399: the data is unusable.
  public struct Code: RawRepresentable, Hashable, Codable, Sendable {
    public let rawValue: UInt32

    public init(rawValue: UInt32) { self.rawValue = rawValue }

    init(_ status: pks_status) { rawValue = UInt32(status.rawValue) }

    /// A parameter is invalid.
    public static let invalidArgument = Self(PKS_INVALID_ARGUMENT)
    /// No such asset, folder, pack or version.
    public static let notFound = Self(PKS_NOT_FOUND)
    /// The directory does not exist, or contains other files.
    public static let notAStore = Self(PKS_NOT_A_STORE)
    /// A link or folder where a file is required, or the reverse.
    public static let wrongKind = Self(PKS_WRONG_KIND)
    /// The store was opened for reading only.
    public static let readOnly = Self(PKS_READ_ONLY)
    /// Another writer holds the lock, and the call was not to wait.
    public static let busy = Self(PKS_BUSY)
    /// The folder contains files that cannot be stored; ``PackStoreError/notices`` lists them.
    public static let refused = Self(PKS_REFUSED)
    /// A file of the folder shrank, grew or vanished while it was read.
    public static let sourceChanged = Self(PKS_SOURCE_CHANGED)
    /// The pack version exists with other content, or a file exists where an asset is extracted.
    public static let exists = Self(PKS_EXISTS)
    /// The asset cannot be borrowed: it is compressed, or stored in several pieces.
    public static let notContiguous = Self(PKS_NOT_CONTIGUOUS)
    /// Another writer changed the same pack since it was staged: stage it again.
    public static let conflict = Self(PKS_CONFLICT)
    /// The pack is held at its current version since a rollback.
    public static let held = Self(PKS_HELD)
    /// This process was forked after the store was opened.
    public static let forked = Self(PKS_FORKED)
    /// The pack's paths were crafted to make look-ups slow: it was not added.
    public static let hostileNames = Self(PKS_HOSTILE_NAMES)
    /// A version has more chunks and extents than allowed: few bytes of metadata can describe billions of them.
    public static let tooManyRows = Self(PKS_TOO_MANY_ROWS)

    /// The pack belongs to another origin.
    public static let otherOrigin = Self(PKS_OTHER_ORIGIN)
    /// The version is lower than an accepted version, or its publisher withdrew it.
    public static let downgrade = Self(PKS_DOWNGRADE)
    /// The root is older than an accepted root. This is normal for an outdated mirror.
    public static let stale = Self(PKS_STALE)
    /// The store belongs to a site: only publications change it.
    public static let isSite = Self(PKS_IS_SITE)

    /// Not enough memory.
    public static let outOfMemory = Self(PKS_OUT_OF_MEMORY)
    /// A system call failed; ``PackStoreError/systemError`` has the reason.
    public static let ioError = Self(PKS_IO_ERROR)
    /// The disk is full.
    public static let noSpace = Self(PKS_NO_SPACE)

    /// Bytes on disk differ from the written ones.
    public static let corrupt = Self(PKS_CORRUPT)
    /// Written by a later version of this library.
    public static let newerFormat = Self(PKS_NEWER_FORMAT)
    /// Written in another draft of format 0: undamaged, but readable only by the version of PackStore that wrote it.
    public static let otherDraft = Self(PKS_OTHER_DRAFT)
    /// Purgeable data was deleted: ``PackStoreError/missingByteCount``. Other assets are not affected.
    public static let purged = Self(PKS_PURGED)
    /// Data from a site or an archive is not signed by a trusted key, is expired, or is older than data seen before; or others can
    /// read a secret key.
    public static let untrusted = Self(PKS_UNTRUSTED)
  }
}

extension PackStoreError.Code {
  /// The codes of this version of the library as an enumeration, for exhaustive `switch` statements. A later core may return
  /// others.
  package enum Known: UInt32, CaseIterable, Sendable {
    case invalidArgument = 100
    case notFound, notAStore, wrongKind, readOnly
    case busy = 106
    case refused, sourceChanged, exists, notContiguous, conflict, held, forked, hostileNames, isSite, tooManyRows
    case otherOrigin = 120
    case downgrade, stale
    case outOfMemory = 200
    case ioError, noSpace
    case corrupt = 300
    case newerFormat, purged, untrusted, otherDraft
  }

  package var known: Known? { Known(rawValue: rawValue) }
}

extension PackStoreError.Code: CustomStringConvertible {
  /// A short name, such as `corrupt`.
  public var description: String { String(cString: pks_status_name(pks_status(rawValue: rawValue))) }
}
