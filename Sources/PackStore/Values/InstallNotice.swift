import CPackStore

extension Store {
  /// A file of a folder that was skipped, could not be stored, or may cause problems on other systems.
  public struct InstallNotice: Hashable, Codable, Sendable {
    public let kind: Kind

    /// The path relative to the folder. Bytes that are not UTF-8 appear as `\xe9`.
    public let path: String

    /// The bytes of the path, if it is not UTF-8.
    public let pathBytes: [UInt8]?

    /// With ``Kind/twin``: the path of the other file.
    public let twinPath: String?

    /// With ``Kind/unreadable``: the system's error.
    public let systemError: Errno?

    public enum Kind: String, CaseIterable, Codable, Sendable {
      /// Refused: the name is not UTF-8 or too long, or its path is too deep.
      case badName
      /// Refused: a link, with ``Store/InstallOptions/Links/refuse``.
      case link
      /// Refused: following the link does not end, or its target is missing.
      case linkLoop
      /// Refused: a followed link is absolute or leads out of the folder, and ``Store/InstallOptions/followsUnsafeLinks`` is not
      /// set.
      case linkOut
      /// Differs from ``Store/InstallNotice/twinPath`` in the same folder only by case or Unicode normal form, which some disks
      /// ignore; refused with ``Store/InstallOptions/isPortable``.
      case twin
      /// A warning: a socket, device or FIFO was skipped.
      case skipped
      /// A warning: the store being written is in the folder, and was skipped.
      case ownStore
      /// Refused: a file or folder cannot be read.
      case unreadable
      /// A warning: a pattern of ``Store/InstallOptions/mappedPaths``, given as ``Store/InstallNotice/path``, matches no file of
      /// the folder.
      case unusedPattern
      /// Refused: a file begins like a publisher's secret key.
      case secret
    }

    init(_ notice: pks_add_notice) {
      kind = Kind(notice.kind)
      let bytes = UnsafeRawBufferPointer(start: notice.path, count: notice.path_length)
      path = String(showing: bytes)
      pathBytes = String(validating: bytes, as: UTF8.self) == nil ? Array(bytes) : nil
      twinPath = notice.twin.map { String(showing: UnsafeRawBufferPointer(start: $0, count: notice.twin_length)) }
      systemError = notice.system_error == 0 ? nil : Errno(rawValue: notice.system_error)
    }
  }
}

extension Store.InstallNotice.Kind {
  /// Whether the notice never prevents an installation.
  package var isWarning: Bool { self == .skipped || self == .ownStore || self == .unusedPattern }

  fileprivate init(_ notice: pks_notice) {
    switch notice {
    case PKS_NOTICE_BAD_NAME: self = .badName
    case PKS_NOTICE_LINK_REFUSED: self = .link
    case PKS_NOTICE_LINK_LOOP: self = .linkLoop
    case PKS_NOTICE_TWIN: self = .twin
    case PKS_NOTICE_SKIPPED: self = .skipped
    case PKS_NOTICE_UNUSED_GLOB: self = .unusedPattern
    case PKS_NOTICE_LINK_OUT: self = .linkOut
    case PKS_NOTICE_OWN_STORE: self = .ownStore
    case PKS_NOTICE_SECRET: self = .secret
    default: self = .unreadable
    }
  }

  fileprivate var text: String {
    switch self {
    case .badName: "is no name that can be stored"
    case .link: "is a symbolic link"
    case .linkLoop: "is a symbolic link that leads nowhere"
    case .linkOut: "is a symbolic link that is absolute or leads out of the folder"
    case .twin: "differs from another path by case or normal form only"
    case .skipped: "is neither file, folder nor link and was left out"
    case .ownStore: "is the store that is written and was left out"
    case .unreadable: "cannot be read"
    case .unusedPattern: "matches no file of the folder"
    case .secret: "is the secret key of a publisher: move it out of the folder, or exclude it"
    }
  }
}

extension Store.InstallNotice: CustomStringConvertible {
  /// One sentence, such as `'Videos/tap' is a symbolic link`.
  public var description: String {
    if kind == .linkLoop && systemError == .tooManySymbolicLinkLevels {
      return "'\(path)' is a symbolic link that leads in a circle"
    }
    if kind == .badName && systemError == .illegalByteSequence {
      return "'\(path)' is not valid UTF-8, as names must be: rename it, or leave it out"
    }
    if kind == .twin, let twinPath {
      let (one, other) =
        path == twinPath ? (path.withVisibleForm, twinPath.withVisibleForm) : (path, twinPath)
      return
        "'\(other)' and '\(one)' differ by \(difference(between: path, and: twinPath)) only: some disks take them for one name"
    }
    let subject = path.isEmpty ? "the folder" : "'\(path)'"
    return "\(subject) \(kind.text)" + (systemError.map { ": \($0)" } ?? "")
  }
}
