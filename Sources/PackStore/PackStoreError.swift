import CPackStore

/// What went wrong, where, and what to do about it.
///
/// Compare ``code`` to decide:
///
///     do {
///       model = try store.contents(of: "Models/faces.bin")
///     } catch let error as PackStoreError where error.code == .notFound {
///       model = fallback
///     }
///
/// Show ``description`` to people, or its parts: ``finding`` and ``remedy``.
///
///     checksum mismatch in segments/3f2a at byte 4096: call Store.verify, then Store.repair
///
/// A cancelled task ends a call with `CancellationError`, not with one of these.
public struct PackStoreError: Error, Hashable, Codable, Sendable {
  public var code: Code

  /// What went wrong, in a few English words.
  public var reason: String

  /// The file, folder, asset or pack concerned; of a read that failed, the store's file.
  public var file: String?

  /// Of a read that failed, the path of the asset that lies in ``file``.
  public var asset: String?

  /// Where in ``file``, in bytes.
  public var offset: UInt64?

  /// Why the system refused.
  public var systemError: Errno?

  /// With ``Code/noSpace``: a number of bytes that would have been enough for this step.
  public var neededByteCount: UInt64?

  /// With ``Code/purged``: how many bytes of what was asked for are gone, at least.
  public var missingByteCount: UInt64?

  /// With ``Code/busy``: the id of the process that holds the writer's lock, where it is known.
  public var holder: UInt64?

  /// With ``Code/refused``: what could not be stored, at most the first 1,000.
  public var notices: [Store.InstallNotice] = []

  /// What to do about it, where what ``code`` suggests is of no help.
  package var specificRemedy: String?

  /// What a program may know a better remedy for than the library, which speaks of its API.
  package enum Topic: String, Hashable, Codable, Sendable {
    /// A site's root is damaged.
    case damagedRoot
    /// A site's root is lost, and what only it said.
    case lostRoot
  }

  package var topic: Topic?

  /// The pack concerned, where ``file`` does not name it.
  package var pack: PackID?

  /// What may have been meant: names of packs, or versions as `Tutorial@3`.
  package var suggestions: [String] = []

  package init(_ code: Code, _ reason: String, file: String? = nil, systemError: Errno? = nil) {
    self.code = code
    self.reason = reason
    self.file = file
    self.systemError = systemError
  }

  /// What stands between a store's file and the asset that lies in it.
  private static let assetLink = ", asset "

  init(_ error: UnsafePointer<pks_error>) {
    let error = error.pointee
    self.init(Code(error.status), String(cString: error.text ?? pks_status_name(error.status)))
    if code == .tooManyRows {
      let rows = formatCount(Int(clamping: error.needed)), limit = formatCount(Int(clamping: error.limit))
      reason = "the pack has at least \(rows) chunks and extents, and \(limit) are allowed"
    }
    withUnsafeBytes(of: error.file) { bytes in
      let name = bytes.prefix { $0 != 0 }
      let assetOffset = Int(error.asset_offset)
      let hasAsset = assetOffset > Self.assetLink.utf8.count && assetOffset <= name.count
      let file = hasAsset ? name.prefix(assetOffset - Self.assetLink.utf8.count) : name
      self.file = file.isEmpty ? nil : String(decoding: file, as: UTF8.self)
      asset = hasAsset ? String(decoding: name.dropFirst(assetOffset), as: UTF8.self) : nil
    }
    systemError = error.system_error == 0 ? nil : Errno(rawValue: error.system_error)
    offset = error.offset == UInt64.max ? nil : error.offset
    neededByteCount = code == .noSpace && error.needed > 0 ? error.needed : nil
    missingByteCount = code == .purged && error.needed > 0 ? error.needed : nil
    holder = code == .busy && error.needed > 0 ? error.needed : nil
  }
}

extension PackStoreError {
  /// Decodes what this version or an earlier one encoded: lists that an earlier one did not have are empty.
  public init(from decoder: any Decoder) throws {
    let values = try decoder.container(keyedBy: CodingKeys.self)
    code = try values.decode(Code.self, forKey: .code)
    reason = try values.decode(String.self, forKey: .reason)
    file = try values.decodeIfPresent(String.self, forKey: .file)
    asset = try values.decodeIfPresent(String.self, forKey: .asset)
    offset = try values.decodeIfPresent(UInt64.self, forKey: .offset)
    systemError = try values.decodeIfPresent(Errno.self, forKey: .systemError)
    neededByteCount = try values.decodeIfPresent(UInt64.self, forKey: .neededByteCount)
    missingByteCount = try values.decodeIfPresent(UInt64.self, forKey: .missingByteCount)
    holder = try values.decodeIfPresent(UInt64.self, forKey: .holder)
    notices = try values.decodeIfPresent([Store.InstallNotice].self, forKey: .notices) ?? []
    specificRemedy = try values.decodeIfPresent(String.self, forKey: .specificRemedy)
    topic = try values.decodeIfPresent(Topic.self, forKey: .topic)
    pack = try values.decodeIfPresent(PackID.self, forKey: .pack)
    suggestions = try values.decodeIfPresent([String].self, forKey: .suggestions) ?? []
  }
}

extension PackStoreError {
  /// The kind of an error, grouped by whose fault it is: 100 the caller's, 200 the machine's, 300 the file's.
  public struct Code: RawRepresentable, Hashable, Codable, Sendable {
    public let rawValue: UInt32

    public init(rawValue: UInt32) { self.rawValue = rawValue }

    init(_ status: pks_status) { rawValue = UInt32(status.rawValue) }

    /// A parameter makes no sense.
    public static let invalidArgument = Self(PKS_INVALID_ARGUMENT)
    /// No such asset, folder, pack or version.
    public static let notFound = Self(PKS_NOT_FOUND)
    /// The directory exists and holds something else, or there is none.
    public static let notAStore = Self(PKS_NOT_A_STORE)
    /// A link or folder where a file is needed, or the reverse.
    public static let wrongKind = Self(PKS_WRONG_KIND)
    /// The store was opened for reading only.
    public static let readOnly = Self(PKS_READ_ONLY)
    /// Another writer holds the lock and the caller would not wait.
    public static let busy = Self(PKS_BUSY)
    /// The folder holds what cannot be stored; ``PackStoreError/notices`` lists it.
    public static let refused = Self(PKS_REFUSED)
    /// A file of the folder shrank, grew or vanished while it was read.
    public static let sourceChanged = Self(PKS_SOURCE_CHANGED)
    /// What is to be made is there already: a pack version with other content, or a file where an asset is extracted.
    public static let exists = Self(PKS_EXISTS)
    /// The asset cannot be borrowed: it is compressed or lies in pieces.
    public static let notContiguous = Self(PKS_NOT_CONTIGUOUS)
    /// Another writer changed the same pack meanwhile: stage it again.
    public static let conflict = Self(PKS_CONFLICT)
    /// The pack is held at its current version since a rollback.
    public static let held = Self(PKS_HELD)
    /// This process was forked after the store was opened.
    public static let forked = Self(PKS_FORKED)
    /// Paths of the pack were chosen to make look-ups slow: it was not added.
    public static let hostileNames = Self(PKS_HOSTILE_NAMES)
    /// A version has more chunks and extents than allowed: few bytes of metadata can describe billions of them.
    public static let tooManyRows = Self(PKS_TOO_MANY_ROWS)

    /// The pack is of another origin than what is to change it.
    public static let otherOrigin = Self(PKS_OTHER_ORIGIN)
    /// A lower version than was accepted before, or one that its publisher took back.
    public static let downgrade = Self(PKS_DOWNGRADE)
    /// A root that is older than what was accepted before: no alarm, and nothing to do.
    public static let stale = Self(PKS_STALE)
    /// The store is a site's: only publications change it.
    public static let isSite = Self(PKS_IS_SITE)

    /// There is no memory left.
    public static let outOfMemory = Self(PKS_OUT_OF_MEMORY)
    /// A system call failed; ``PackStoreError/systemError`` says why.
    public static let ioError = Self(PKS_IO_ERROR)
    /// The disk is full.
    public static let noSpace = Self(PKS_NO_SPACE)

    /// Bytes on disk are not what was written.
    public static let corrupt = Self(PKS_CORRUPT)
    /// Written by a later version of this library.
    public static let newerFormat = Self(PKS_NEWER_FORMAT)
    /// Written in another draft of format 0. Nothing is damaged; the version of PackStore that wrote it reads it.
    public static let otherDraft = Self(PKS_OTHER_DRAFT)
    /// Data that may vanish is gone: ``PackStoreError/missingByteCount``. Other assets are not concerned.
    public static let purged = Self(PKS_PURGED)
    /// What came from a site or an archive is not signed, not by a key that is trusted, expired, or older than what was
    /// seen before; or a secret key is open to others.
    public static let untrusted = Self(PKS_UNTRUSTED)
  }
}

extension PackStoreError.Code {
  /// The codes of this version of the library as an enumeration, for a `switch` that the compiler checks. A later core
  /// may report others.
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

extension PackStoreError: CustomStringConvertible {
  /// One sentence: what, where, why, and what to do.
  public var description: String { remedy.map { "\(finding): \($0)" } ?? finding }

  /// What, where and why.
  public var finding: String { systemError.map { "\(placedReason): \($0)" } ?? placedReason }

  /// The reason with the name of what it is about.
  private var placedReason: String {
    guard let file else { return reason }
    let assetPart = asset.map { Self.assetLink + $0 } ?? ""
    if let offset { return "\(reason) in \(file) at byte \(offset)\(assetPart)" }
    if asset != nil { return "\(reason) in \(file)\(assetPart)" }
    if code == .corrupt, !reason.hasPrefix("the file "), !reason.hasPrefix("the directory ") {
      return "\(reason) in \(file)"
    }
    if reason.contains("'\(file)'") { return reason }
    // The core's texts do not change: "the folder holds what cannot be stored" is about the folder 'Assets'.
    if let subject = reason.prefixMatch(
      of: /(|.*? )the (pack|folder|file|store|site|directory|archive|delta|root)(?= )/)
    {
      return "\(subject.output.0) '\(file)'\(reason[subject.range.upperBound...])"
    }
    return reason.hasPrefix("not ") ? "'\(file)' is \(reason)" : "\(reason) '\(file)'"
  }

  /// What to do about it, in terms of this library; nil where the finding says it all.
  public var remedy: String? {
    if let specificRemedy { return specificRemedy }
    return switch code {
    case .ioError where systemError == .noLocks: "mount the file system with locks, or keep the store on a local disk"
    case .readOnly: systemError == nil ? "open the store for writing" : "see who owns it and how its disk is mounted"
    case .busy: holder.map { "wait for process \($0)" } ?? "wait for the other process"
    case .noSpace: neededByteCount.map { "make room for \(formatBytes(Int(clamping: $0)))" } ?? "make room on the disk"
    case .refused: notices.first.map { "\($0)" }
    case .sourceChanged: "try again when nothing writes to the folder"
    case .notContiguous: "read a copy, by contents() or read(into:range:)"
    case .conflict: "stage it again, as Store.change does by itself"
    case .held: "unpin the pack to let it move again"
    case .hostileNames: "see where the pack comes from; nothing of it was added"
    case .tooManyRows: "raise the option rowLimit if you trust the publisher"
    case .otherOrigin: "set the option adopts to take the pack over"
    case .downgrade: "set the option allowsDowngrade to take it all the same"
    case .stale: "try again later"
    case .isSite: "change it by Site.publish and Site.unpublish; when it is damaged, repair it by Site.repair"
    case .corrupt: "call Store.verify, then Store.repair"
    case .newerFormat: "update PackStore"
    case .otherDraft:
      "nothing is damaged; add the folders to a new store, publish to a new site, or use the version of PackStore that wrote it"
    case .purged: "pull or install the pack again, which brings what is gone"
    default: nil
    }
  }
}
