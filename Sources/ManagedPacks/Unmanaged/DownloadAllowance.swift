/// What an app may still download before its first launch.
///
/// What the app or the server states of open downloads counts as taken, and so does what came of those that have ended,
/// and what was thrown away. A download of which neither states a size counts when it has ended: until then each of
/// these may take all that was left when its transfer began, so that several at a time may together take more than the
/// allowance.
struct DownloadAllowance {
  /// Bytes that are left; nil: there is no limit.
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

  /// Whether a download may be asked for.
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
      "the server '\(host)' is not in BADownloadDomainAllowList: add it, or wait for the first launch")
  }

  /// What one of the open downloads may take in all, with what it has; nil: there is no limit.
  func limit(of record: DownloadRecord) -> Int? {
    left[record.countsAsEssential].map { max($0.addingClamped(record.reservedByteCount), 0) }
  }
}

extension DownloadRecord {
  /// What it is expected to take, with what it took and threw away.
  var reservedByteCount: Int { lostByteCount.addingClamped(max(byteCount, totalByteCount ?? 0)) }
}
