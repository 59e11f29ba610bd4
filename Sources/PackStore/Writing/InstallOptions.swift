import CPackStore

extension Store {
  /// How a folder becomes a pack version.
  public struct InstallOptions: Hashable, Sendable {
    /// The number of the version; by default one more than the highest that the pack ever had, or 1.
    ///
    /// Numbers rise, up to 2^53 - 1: one that is not above all that the pack ever had is `exists`, unless it is that of
    /// the current version and the content is the same.
    public var version: UInt64?

    /// Takes a ``version`` that is lower than others that the pack had, too.
    public var allowsDowngrade = false

    /// Who wins when several packs have the same path: the higher. By default an update keeps the pack's priority, and
    /// a new pack gets 0.
    public var priority: Int32?

    /// What the version is to say besides its content. By default an update keeps what the pack's current version says, but for
    /// the label. A priority of theirs counts where ``priority`` says none, their patterns besides ``mappedPaths``, also those of
    /// attributes that are kept.
    public var attributes: Attributes?

    /// The version's label, which the ``attributes`` get. `exists` if it is that of a version with other content. Other labels
    /// make other versions, also of equal content.
    public var label: VersionLabel?

    /// What the publisher notes down of the version: it stays in this store, and goes nowhere with the version. Of a version that
    /// is current already it is the note from then on.
    public var note: VersionNote?

    /// Makes the ``note`` a part of the version's ``attributes``: devices get it, and it cannot be changed. Other notes make
    /// other versions then, also of equal content.
    public var publishesNote = false

    /// Takes over a pack of another origin. Its history goes then, and versions are numbered from 1 again.
    public var adopts = false

    /// The ``Store/CompressionLevel``. From 1 to 22 higher is smaller and slower to install; -1 to -7 are larger and faster to read.
    /// Nil: 3, 4 with the sequential layout, and 6 with the compact one.
    public var level: Int32?

    /// How assets are read later.
    public var layout: Layout = .random

    /// What becomes of symbolic links.
    public var links: Links = .store

    /// With ``Links/follow``: links may be absolute and lead out of the folder. Otherwise such a link is a refusal,
    /// ``Store/InstallNotice/Kind/linkOut``: what it points to may be anything that this user can read.
    public var followsUnsafeLinks = false

    /// Refuses paths in one folder that differ by case or Unicode normal form only, which some disks cannot tell apart.
    public var isPortable = false

    /// Patterns of files to store as *map assets*: raw whatever they hold, in one piece that begins at a page, so that
    /// ``Snapshot/Asset/bytes()`` always lends them.
    ///
    /// An update writes such a file whole when any of it changed. Say so with every installation: a file that changed
    /// and is not meant is stored like any other; one that did not change stays as it is stored, and is laid out afresh
    /// if it is meant now and was not before.
    ///
    /// `*` stands for any characters of one part of a path, `**` for any characters, `**/` at the beginning of a part
    /// for any folders or none, `?` for one character, `[a-z]` and `[!a-z]` for one of these or of the others; a
    /// backslash takes the next character as it is. A pattern with a slash means whole paths, and one at its beginning
    /// is left out; a pattern without a slash means the last part of a path, at any depth. One that means no file is
    /// noticed: ``Store/InstallNotice/Kind/unusedPattern``.
    public var mappedPaths: [String] = []

    /// What of the folder is left out; nil: nothing. It means nothing for what is selected file by file.
    public var ignoring: IgnoreRules?

    /// How many raw bytes are compressed together, from 65,536 to 16,777,216. By default as the layout says.
    public var frameByteCount: Int?

    /// Up to how many raw bytes small assets share a frame. By default as the layout says: with
    /// ``Store/InstallOptions/Layout/random``, only the smallest do, where frames of their own take at most a hundredth more, with
    /// or without a dictionary of what assets of their kind have in common. That is tried for kinds of 2 MiB or more.
    public var sharedFrameByteCount: Int?

    /// How many rows the version may have beyond 64 for each KiB of its distinct catalog pages: a row is a chunk of a file or an
    /// extent of the layout. By default 4,194,304, as for clients, which pull no version with more unless they allow it. Only long
    /// runs of equal chunks reach the limit: about 64 GiB of holes in sparse files. More is `tooManyRows`.
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
      /// Frames of 128 KiB: for assets that are read at random.
      case random
      /// Frames of 2 MiB: smaller, for assets that are read from front to back.
      case sequential
      /// Frames of 256 KiB, which small assets share: smaller, for assets that are read at random, but rarely. Reading a small one
      /// takes about five times as long as with ``random``.
      case compact
    }

    public enum Links: String, CaseIterable, Sendable {
      /// Links are stored as links, dangling ones too.
      case store
      /// What links point to is stored in their place, if it lies within the folder: see
      /// ``Store/InstallOptions/followsUnsafeLinks``.
      case follow
      /// Any link is a refusal.
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
