import CPackStore

extension PackStoreError {
  /// Distinguishes cases of one ``Code``. Values are stable; later versions may add some.
  public struct Detail: RawRepresentable, Hashable, Codable, Sendable {
    /// A word such as `no_pack`.
    public let rawValue: String

    public init(rawValue: String) { self.rawValue = rawValue }

    /// `nil` if the status is enough.
    init?(_ detail: pks_detail) {
      guard detail != PKS_DETAIL_NONE else { return nil }
      rawValue = String(cString: pks_detail_name(detail))
    }

    /// With `invalidArgument`: the store has no cache folder for data of purgeable packs.
    public static let noCacheFolder = Self(rawValue: "no_cache_folder")
    /// With `invalidArgument`: a limit of the format is exceeded.
    public static let limit = Self(rawValue: "limit")

    /// With `notFound`: the store or site does not have the pack.
    public static let noPack = Self(rawValue: "no_pack")
    /// With `notFound`: the version is not kept.
    public static let noVersion = Self(rawValue: "no_version")
    /// With `notFound`: no version before the current one is kept.
    public static let noEarlierVersion = Self(rawValue: "no_earlier_version")
    /// With `notFound`: the pack was removed, and versions of it are kept.
    public static let packRemoved = Self(rawValue: "pack_removed")
    /// With `notFound`: no asset has the path.
    public static let noAsset = Self(rawValue: "no_asset")
    /// With `notFound`: the folder does not exist.
    public static let noFolder = Self(rawValue: "no_folder")
    /// With `notFound`: the file does not exist.
    public static let noFile = Self(rawValue: "no_file")

    /// With `notAStore`: the directory does not exist, or the path leads through a file.
    public static let noDirectory = Self(rawValue: "no_directory")
    /// With `notAStore`: the directory exists, but contains no store.
    public static let noControlFile = Self(rawValue: "no_control_file")
    /// With `notAStore`: the directory contains other files, and no store is created there.
    public static let foreignDirectory = Self(rawValue: "foreign_directory")

    /// With `readOnly`: the caller opened the store for reading only.
    public static let openForReading = Self(rawValue: "open_for_reading")
    /// With `readOnly`: the file system refused to write.
    public static let notWritable = Self(rawValue: "not_writable")

    /// With `busy`: another process writes to the store or site.
    public static let otherWriter = Self(rawValue: "other_writer")
    /// With `busy`: another process fetches the same version.
    public static let otherFetch = Self(rawValue: "other_fetch")

    /// With `refused`: the folder contains files that cannot be stored.
    public static let forbiddenFiles = Self(rawValue: "forbidden_files")
    /// With `refused`: the folder contains files that cannot be read.
    public static let unreadableFiles = Self(rawValue: "unreadable_files")
    /// With `refused`: a file begins with a secret key.
    public static let secretKey = Self(rawValue: "secret_key")
    /// With `refused`: a publication would remove more packs than its limit allows.
    public static let removalLimit = Self(rawValue: "removal_limit")

    /// With `refused`: an archive needs more bytes than its limit allows.
    public static let byteLimit = Self(rawValue: "byte_limit")

    /// With `exists`: the version, or the file, exists with other content.
    public static let otherContent = Self(rawValue: "other_content")
    /// With `exists`: the version number does not exceed every earlier number of the pack.
    public static let lowNumber = Self(rawValue: "low_number")
    /// With `exists`: a file or folder already exists.
    public static let fileExists = Self(rawValue: "file_exists")

    /// With `downgrade`: a higher version was accepted before.
    public static let higherAccepted = Self(rawValue: "higher_accepted")
    /// With `downgrade`: the publisher withdrew the version.
    public static let withdrawn = Self(rawValue: "withdrawn")
    /// With `downgrade`: the root is signed by a key that its publisher replaced.
    public static let replacedKey = Self(rawValue: "replaced_key")
    /// With `downgrade`: the root repeats a state from before the publisher withdrew something.
    public static let olderState = Self(rawValue: "older_state")

    /// With `ioError`: the file system has no locks, which writers need.
    public static let noLocks = Self(rawValue: "no_locks")
    /// With `corrupt`: the store's control file is missing or damaged.
    public static let badControlFile = Self(rawValue: "bad_control_file")

    /// With `untrusted`: a site's root is damaged.
    package static let damagedRoot = Self(rawValue: "damaged_root")
    /// With `invalidArgument`: a site's root is lost, and with it the product and the expiry.
    package static let lostRoot = Self(rawValue: "lost_root")
    /// With `invalidArgument`: a version is lower than a version that the channel offers.
    package static let stepBack = Self(rawValue: "step_back")
    /// With `invalidArgument`: a root with the steps of a release would never expire.
    package static let noExpiry = Self(rawValue: "no_expiry")
    /// With `conflict`: a root differs from the root that the caller requires.
    package static let otherRoot = Self(rawValue: "other_root")
    /// With `conflict`: another program changed the files of publishers, or restored older ones.
    package static let foreignChange = Self(rawValue: "foreign_change")
  }
}

extension PackStoreError.Detail: CustomStringConvertible {
  public var description: String { rawValue }
}
