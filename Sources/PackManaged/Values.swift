// MARK: - Strings

/// Returns a copy of a text in C's memory, to be released with `pkm_text_free`. The copy ends at the first zero byte.
func copied(_ text: String) -> UnsafeMutablePointer<CChar>? { strdup(text) }

/// Returns a string of the caller. Invalid UTF-8 becomes a name that does not exist.
func text(_ pointer: UnsafePointer<CChar>) -> String { String(cString: pointer) }

@c(pkm_text_free)
public func freeText(_ text: UnsafeMutablePointer<CChar>?) { free(text) }

// MARK: - Errors

/// Runs `body`, and returns its result as a C status.
func status(_ error: UnsafeMutablePointer<pkm_error>?, _ body: () throws -> Void) -> pkm_status {
  do {
    try body()
    return PKM_OK
  } catch let failure {
    let value = pkm_error(failure)
    error?.pointee = value
    return value.status
  }
}

extension pkm_error {
  init(_ error: any Error) {
    self.init()
    status = pkm_status(error)
    let capacity = MemoryLayout.size(ofValue: message)
    let bytes = Self.cut("\(error)", to: capacity - 1)
    withUnsafeMutableBytes(of: &message) { $0.copyBytes(from: bytes) }  // the rest is zeros
  }

  /// Returns the beginning of a text that fits into `limit` bytes, in whole characters.
  private static func cut(_ text: String, to limit: Int) -> [UInt8] {
    var bytes = Array(text.utf8.prefix(limit))
    guard text.utf8.count > limit else { return bytes }
    while let last = bytes.last, last & 0xc0 == 0x80 { bytes.removeLast() }
    if let last = bytes.last, last >= 0xc0 { bytes.removeLast() }
    return bytes
  }
}

extension pkm_status {
  init(_ error: any Error) {
    self =
      switch error {
      case is CancellationError: PKM_CANCELLED
      case ManagedBackgroundAssetsError.assetPackNotFound: PKM_ASSET_PACK_NOT_FOUND
      case ManagedBackgroundAssetsError.fileNotFound: PKM_FILE_NOT_FOUND
      case is AssetPackManager.LocalAvailabilityError, is MissingPacks: PKM_LOCAL_AVAILABILITY
      case let error as ManagedPacksError: Self.of(error.code)
      case let error as PackStoreError where error.code == .noSpace: PKM_NO_SPACE
      case let error as PackStoreError where error.code == .invalidArgument: PKM_INVALID_ARGUMENT
      case is PackStoreError: PKM_STORE
      case is DeliveryError: PKM_DELIVERY
      default: PKM_OTHER
      }
  }

  private static func of(_ code: ManagedPacksError.Code) -> pkm_status {
    switch code {
    case .noConfiguration, .invalidConfiguration, .groupFolder, .newerJournal: PKM_CONFIGURATION
    case .invalidPath: PKM_INVALID_ARGUMENT
    case .notOffered, .staleSite, .appsDisagree, .override: PKM_DELIVERY
    case .agent: PKM_OTHER
    case .lowSpace: PKM_NO_SPACE
    @unknown default: PKM_OTHER
    }
  }
}

// MARK: - Packs

extension pkm_withheld_reason {
  init(_ reason: WithheldReason) {
    self =
      switch reason {
      case .share: PKM_WITHHELD_SHARE
      case .undrawnShare: PKM_WITHHELD_UNDRAWN_SHARE
      case .schedule: PKM_WITHHELD_SCHEDULE
      case .paused: PKM_WITHHELD_PAUSED
      case .halted: PKM_WITHHELD_HALTED
      case .appVersion: PKM_WITHHELD_APP_VERSION
      case .platform: PKM_WITHHELD_PLATFORM
      case .withdrawn: PKM_WITHHELD_WITHDRAWN
      case .held: PKM_WITHHELD_HELD
      case .otherOrigin: PKM_WITHHELD_OTHER_ORIGIN
      case .publisherOutOfDate: PKM_WITHHELD_PUBLISHER_OLD
      case .stale: PKM_WITHHELD_STALE
      case .reusedNumber: PKM_WITHHELD_REUSED_NUMBER
      case .purged: PKM_WITHHELD_PURGED
      case .keyNotTrusted: PKM_WITHHELD_KEY_NOT_TRUSTED
      case .expired: PKM_WITHHELD_EXPIRED
      case .noSpace: PKM_WITHHELD_NO_SPACE
      case .releaseIncomplete: PKM_WITHHELD_RELEASE
      }
  }
}

extension pkm_withheld {
  init(_ withheld: AssetPackManager.WithheldPack?) {
    self.init()
    reason = withheld.map { pkm_withheld_reason($0.reason) } ?? PKM_NOT_WITHHELD
    version = UInt64(clamping: withheld?.version ?? 0)
    // The rest stays zero, which ends the text.
    let name = (withheld?.blockingPack ?? "").utf8.prefix(Int(PKM_PACK_ID_SIZE) - 1)
    withUnsafeMutableBytes(of: &blocking_pack) { $0.copyBytes(from: name) }
  }
}

extension pkm_pack {
  /// Creates a value with its own strings, which `freeTexts` releases. Returns `nil` if memory is exhausted.
  init?(_ pack: AssetPack) {
    guard let id = copied(pack.id) else { return nil }
    self.init(
      id: UnsafePointer(id), version: UInt64(clamping: pack.version),
      download_bytes: UInt64(clamping: pack.downloadSize),
      language: pack.language.flatMap { copied($0.minimalIdentifier) }.map { UnsafePointer($0) },
      user_info: pack.userInfo.flatMap { copied(String(decoding: $0, as: UTF8.self)) }.map { UnsafePointer($0) })
  }

  func freeTexts() {
    for text in [id, language, user_info] { free(UnsafeMutablePointer(mutating: text)) }
  }
}
