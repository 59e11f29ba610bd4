import CPackStore

/// An error: the object concerned, the fault, and the remedy.
///
/// Compare ``code`` to decide, and ``detail`` to distinguish cases of one code:
///
///     do {
///       model = try store.contents(of: "Models/faces.bin")
///     } catch let error as PackStoreError where error.code == .notFound {
///       model = fallback
///     }
///
/// Show ``description`` to people, or its parts: ``finding`` and ``remedy``. The words may change with any version.
///
///     segments/3f2a, byte 4096: checksum mismatch; call Store.verify, then Store.repair
///
/// A cancelled task ends a call with `CancellationError`, not with one of these.
public struct PackStoreError: Error, Hashable, Sendable {
  public var code: Code

  /// The case of ``code``; `nil` if the code is sufficient.
  public var detail: Detail?

  /// The object concerned; after a failed read, the store's file. `nil` if the error has no object.
  public var subject: Subject?

  /// The fault, in a few English words that follow the object's name.
  public var reason: String

  /// The path of the asset in ``subject`` that could not be read.
  public var asset: String?

  /// The byte offset in ``subject``.
  public var offset: UInt64?

  /// The system's error.
  public var systemError: Errno?

  /// With ``Code/noSpace``: a number of bytes that would be enough for this step.
  public var neededByteCount: UInt64?

  /// With ``Code/purged``: the number of requested bytes that are missing, at least.
  public var missingByteCount: UInt64?

  /// With ``Code/busy``: the id of the process that holds the writer's lock, if known.
  public var holder: UInt64?

  /// With ``Code/refused``: the files that could not be stored, at most the first 1,000.
  public var notices: [Store.InstallNotice] = []

  /// The remedy, if the general remedy for ``code`` does not help.
  package var specificRemedy: String?

  /// Similar names that exist: names of packs, or versions as `Tutorial@3`.
  package var suggestions: [String] = []

  /// - Parameters:
  ///   - reason: the fault, without its object.
  ///   - subject: the object; `nil` if the fault names none.
  package init(
    _ code: Code, _ reason: String, about subject: Subject?, detail: Detail? = nil, systemError: Errno? = nil,
    remedy: String? = nil
  ) {
    self.code = code
    self.detail = detail
    self.subject = subject
    self.reason = reason
    self.systemError = systemError
    specificRemedy = remedy
  }

  /// Creates an error about a file, or without an object.
  package init(
    _ code: Code, _ reason: String, file: String? = nil, detail: Detail? = nil, systemError: Errno? = nil,
    remedy: String? = nil
  ) {
    self.init(
      code, reason, about: file.map(Subject.file), detail: detail, systemError: systemError, remedy: remedy)
  }

  /// The separator between a store's file and the asset in it.
  private static let assetLink = ", asset "

  init(_ error: UnsafePointer<pks_error>) {
    let error = error.pointee
    var name = "", asset: String?
    withUnsafeBytes(of: error.file) { bytes in
      let names = bytes.prefix { $0 != 0 }
      let assetOffset = Int(error.asset_offset)
      let hasAsset = assetOffset > Self.assetLink.utf8.count && assetOffset <= names.count
      name = String(decoding: hasAsset ? names.prefix(assetOffset - Self.assetLink.utf8.count) : names, as: UTF8.self)
      asset = hasAsset ? String(decoding: names.dropFirst(assetOffset), as: UTF8.self) : nil
    }
    self.init(
      Code(error.status), String(cString: error.text ?? pks_status_name(error.status)),
      about: Subject(error.subject, name: name), detail: Detail(error.detail))
    self.asset = asset
    if code == .tooManyRows {
      let rows = formatCount(Int(clamping: error.needed)), limit = formatCount(Int(clamping: error.limit))
      reason = "has at least \(rows) chunks and extents, and \(limit) are allowed"
    }
    systemError = error.system_error == 0 ? nil : Errno(rawValue: error.system_error)
    offset = error.offset == UInt64.max ? nil : error.offset
    neededByteCount = code == .noSpace && error.needed > 0 ? error.needed : nil
    missingByteCount = code == .purged && error.needed > 0 ? error.needed : nil
    holder = code == .busy && error.needed > 0 ? error.needed : nil
  }
}

extension PackStoreError: Codable {
  private enum CodingKeys: String, CodingKey {
    case code, detail, subject, reason, asset, offset, systemError, neededByteCount, missingByteCount, holder, notices,
      specificRemedy, suggestions
  }

  /// Members of earlier versions, which named objects without their kind.
  private enum EarlierKeys: String, CodingKey { case file, pack }

  /// Decodes errors that this version or an earlier one encoded.
  public init(from decoder: any Decoder) throws {
    let values = try decoder.container(keyedBy: CodingKeys.self)
    let earlier = try decoder.container(keyedBy: EarlierKeys.self)
    code = try values.decode(Code.self, forKey: .code)
    detail = try values.decodeIfPresent(Detail.self, forKey: .detail)
    reason = try values.decode(String.self, forKey: .reason)
    subject =
      try values.decodeIfPresent(Subject.self, forKey: .subject)
      ?? earlier.decodeIfPresent(String.self, forKey: .file).map(Subject.file)
      ?? earlier.decodeIfPresent(PackID.self, forKey: .pack).map(Subject.pack)
    asset = try values.decodeIfPresent(String.self, forKey: .asset)
    offset = try values.decodeIfPresent(UInt64.self, forKey: .offset)
    systemError = try values.decodeIfPresent(Errno.self, forKey: .systemError)
    neededByteCount = try values.decodeIfPresent(UInt64.self, forKey: .neededByteCount)
    missingByteCount = try values.decodeIfPresent(UInt64.self, forKey: .missingByteCount)
    holder = try values.decodeIfPresent(UInt64.self, forKey: .holder)
    notices = try values.decodeIfPresent([Store.InstallNotice].self, forKey: .notices) ?? []
    specificRemedy = try values.decodeIfPresent(String.self, forKey: .specificRemedy)
    suggestions = try values.decodeIfPresent([String].self, forKey: .suggestions) ?? []
  }
}
