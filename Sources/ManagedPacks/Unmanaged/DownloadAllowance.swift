/// The bytes that an app may still download before its first launch.
///
/// The sizes that the app or the server states for open downloads are deducted. So are the bytes received by ended downloads, and
/// the discarded bytes. A download with an unknown size is deducted when it ends. Until then each such download may use everything
/// that was left when its transfer began, so several together may exceed the allowance.
struct DownloadAllowance {
  /// The remaining bytes by whether a download is essential; empty without a limit.
  private let left: [Bool: Int]
  private let restrictions: InitialDownloadRestrictions?

  init(_ restrictions: InitialDownloadRestrictions?, _ list: DownloadList) {
    self.restrictions = list.isLaunched ? nil : restrictions
    guard let restrictions = self.restrictions else {
      left = [:]
      return
    }
    func rest(_ isEssential: Bool, _ total: Int, _ spent: Int) -> Int {
      list.downloads.filter { $0.countsAsEssential == isEssential && $0.phase == .waiting }
        .reduce(total.subtractingClamped(spent)) { $0.subtractingClamped($1.reservedByteCount) }
    }
    left = [
      true: rest(true, restrictions.essentialByteCount, list.spentEssentialByteCount),
      false: rest(false, restrictions.byteCount, list.spentByteCount),
    ]
  }

  var isRestricted: Bool { restrictions != nil }

  func remaining(isEssential: Bool) -> Int? { left[isEssential].map { max($0, 0) } }

  /// Checks whether a download may be scheduled.
  ///
  /// - Throws: ``BAError``.
  func admit(_ record: DownloadRecord) throws(BAError) {
    if let left = left[record.countsAsEssential], record.byteCount > left {
      throw BAError(.downloadWouldExceedAllowance)
    }
    guard let host = FileLocation(record.url)?.host else { throw BAError(.downloadInvalid) }
    try admit(host: host)
  }

  func admit(host: String) throws(BAError) {
    guard let restrictions, !restrictions.allows(host: host) else { return }
    throw BAError(
      .sessionDownloadDisallowedByDomain,
      "the server '\(host)' is not in BADownloadDomainAllowList; add it, or wait for the first launch")
  }

  /// Returns the total that an open download may use, including its present bytes; `nil` without a limit.
  func limit(of record: DownloadRecord) -> Int? {
    left[record.countsAsEssential].map { max($0.addingClamped(record.reservedByteCount), 0) }
  }
}

extension DownloadRecord {
  /// The expected number of bytes, including discarded bytes.
  var reservedByteCount: Int { lostByteCount.addingClamped(max(byteCount, totalByteCount ?? 0)) }
}
