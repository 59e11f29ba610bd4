import CPackStore

extension Store {
  /// How to store a folder as a pack version.
  public struct InstallOptions: Hashable, Sendable {
    /// The number of the version; by default one more than the highest number the pack ever had, or 1.
    ///
    /// Numbers only rise, up to 2^53 - 1. A number that does not exceed every earlier number of the pack is `exists`, unless it is
    /// the current version's and the content is equal.
    public var version: UInt64?

    /// Whether ``version`` may be lower than earlier numbers of the pack.
    public var allowsDowngrade = false

    /// The pack's priority: if several packs have the same path, the highest priority wins. By default an update keeps the pack's
    /// priority, and a new pack gets 0.
    public var priority: Int32?

    /// The attributes of the version. By default an update keeps the attributes of the pack's current version, except the label.
    /// Their priority applies if ``priority`` is `nil`. Their patterns for mapped files apply in addition to ``mappedPaths``, also
    /// when the attributes are kept.
    public var attributes: Attributes?

    /// The version's label, which becomes part of the ``attributes``. A label of a version with other content is `exists`. Another
    /// label creates another version, even with equal content.
    public var label: VersionLabel?

    /// The publisher's note about the version. It stays in this store, and is not transferred with the version. If the version is
    /// already current, the note replaces its earlier note.
    public var note: VersionNote?

    /// Whether to include the ``note`` in the version's ``attributes``: devices receive it, and it cannot be changed. Another note
    /// then creates another version, even with equal content.
    public var publishesNote = false

    /// Whether to take over a pack of another origin. This deletes its history, and its versions are numbered from 1 again.
    public var adopts = false

    /// The origin of the version and the file that lists it, for a folder that was unpacked from a publisher's archive; requires
    /// ``version``. `nil`: the pack is local.
    package var provenance: Provenance?

    /// The ``Store/CompressionLevel``. From 1 to 22, higher levels are smaller and slower to install; -1 to -7 are larger and
    /// faster to read. `nil`: 3, 4 with the sequential layout, and 6 with the compact layout.
    public var level: Int32?

    /// The expected access pattern of the assets.
    public var layout: Layout = .random

    /// How to store symbolic links.
    public var links: Links = .store

    /// Whether links may be absolute or lead out of the folder, with ``Links/follow``. Otherwise such a link is refused with
    /// ``Store/InstallNotice/Kind/linkOut``, because its target may be any file that this user can read.
    public var followsUnsafeLinks = false

    /// Whether to refuse paths in one folder that differ only by case or Unicode normal form, which some disks do not distinguish.
    public var isPortable = false

    /// Patterns of files to store as *map assets*: raw, in one piece that begins at a page, so that ``Snapshot/Asset/bytes()``
    /// always works.
    ///
    /// An update writes such a file completely if any part of it changed. Pass the patterns with every installation. A changed file
    /// that no pattern matches is stored like any other file. An unchanged file stays as it is stored, but becomes a map asset if a
    /// pattern matches it now and none did before.
    ///
    /// `*` matches any characters of one part of a path, `**` any characters, and `**/` at the beginning of a part any folders or
    /// none. `?` matches one character, `[a-z]` one of these characters, and `[!a-z]` any other character; a backslash quotes the
    /// next character. A pattern with a slash matches whole paths, and a leading slash is ignored. A pattern without a slash
    /// matches the last part of a path, at any depth. A pattern that matches no file is reported:
    /// ``Store/InstallNotice/Kind/unusedPattern``.
    public var mappedPaths: [String] = []

    /// The rules for files to skip; `nil`: none. Ignored for a selection of single files.
    public var ignoring: IgnoreRules?

    /// The number of raw bytes per frame, from 65,536 to 16,777,216. By default determined by the layout.
    public var frameByteCount: Int?

    /// The size in raw bytes up to which small assets share a frame. By default determined by the layout: with
    /// ``Store/InstallOptions/Layout/random``, all but the smallest assets get frames of their own if that takes at most 1 % more
    /// space, with or without a dictionary for their kind. This is measured for kinds of 2 MiB or more.
    public var sharedFrameByteCount: Int?

    /// The number of rows that the version may have in addition to 64 for each KiB of its distinct catalog pages. A row is a chunk
    /// of a file or an extent of the layout. The default is 4,194,304, as for clients, which pull no version with more unless they
    /// allow it. Only long runs of equal chunks reach the limit: about 64 GiB of holes in sparse files. More rows are
    /// `tooManyRows`.
    public var rowLimit: Int?

    public init(
      version: UInt64? = nil, allowsDowngrade: Bool = false, priority: Int32? = nil, attributes: Attributes? = nil,
      label: VersionLabel? = nil, note: VersionNote? = nil, publishesNote: Bool = false, adopts: Bool = false,
      level: Int32? = nil, layout: Layout = .random,
      links: Links = .store, followsUnsafeLinks: Bool = false,
      isPortable: Bool = false, mappedPaths: [String] = [], ignoring: IgnoreRules? = nil, frameByteCount: Int? = nil,
      sharedFrameByteCount: Int? = nil, rowLimit: Int? = nil
    ) {
      self.version = version
      self.allowsDowngrade = allowsDowngrade
      self.priority = priority
      self.attributes = attributes
      self.label = label
      self.note = note
      self.publishesNote = publishesNote
      self.adopts = adopts
      self.level = level
      self.layout = layout
      self.links = links
      self.followsUnsafeLinks = followsUnsafeLinks
      self.isPortable = isPortable
      self.mappedPaths = mappedPaths
      self.ignoring = ignoring
      self.frameByteCount = frameByteCount
      self.sharedFrameByteCount = sharedFrameByteCount
      self.rowLimit = rowLimit
    }

    public enum Layout: String, CaseIterable, Sendable {
      /// Frames of 128 KiB: for random access.
      case random
      /// Frames of 2 MiB: smaller, for assets that are read from start to end.
      case sequential
      /// Frames of 256 KiB, shared by small assets: smaller, for rare random access. Reading a small asset takes about five times
      /// as long as with ``random``.
      case compact
    }

    public enum Links: String, CaseIterable, Sendable {
      /// Links are stored as links, including dangling ones.
      case store
      /// The target is stored in place of the link, if it is in the folder: see ``Store/InstallOptions/followsUnsafeLinks``.
      case follow
      /// Any link is refused.
      case refuse
    }
  }
}

extension Store.InstallOptions.Layout {
  var core: pks_layout {
    switch self {
    case .random: PKS_LAYOUT_RANDOM
    case .sequential: PKS_LAYOUT_SEQUENTIAL
    case .compact: PKS_LAYOUT_COMPACT
    }
  }
}

extension Store.InstallOptions.Links {
  var core: pks_links {
    switch self {
    case .store: PKS_LINKS_STORE
    case .follow: PKS_LINKS_FOLLOW
    case .refuse: PKS_LINKS_REFUSE
    }
  }
}
