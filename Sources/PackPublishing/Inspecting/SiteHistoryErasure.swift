import PackAuthoring
public import PackFormats
public import PackStore

/// Erases private parts of a channel's history: user, job, commit and note. The records and the chain stay valid.
///
/// In a folder, the files are deleted at once. In a bucket, the next image omits them, and a command that changes the site 20 minutes later or
/// more deletes the objects. Copies, such as backups and earlier versions of objects, are not erased.
public struct SiteHistoryErasure: Sendable {
  public struct Result: Hashable, Sendable {
    /// The numbers of the changes whose private parts were erased, in increasing order.
    public let numbers: [UInt64]
  }

  /// A place where publishers keep private parts.
  public enum Place: Sendable {
    case folder(FilePath)

    /// - Parameter key: the key that signed the site before.
    case bucket(BucketSite, signedBy: SiteKey)
  }

  private let place: Place
  private let waitsForOthers: Bool

  /// - Parameter waitsForOthers: whether to wait while another process publishes to a site in a folder, rather than fail with `busy`.
  public init(_ place: Place, waitsForOthers: Bool = true) {
    self.place = place
    self.waitsForOthers = waitsForOthers
  }

  /// - Parameters:
  ///   - channel: the channel.
  ///   - numbers: the positions in the history of the changes to erase.
  ///   - isDryRun: whether to report the result without changing anything.
  /// - Throws: `notFound` if the channel does not exist; `corrupt` if the history is damaged before the last change to erase; `busy`; the errors of
  ///   ``SiteHistoryReader/run(of:limit:)``; for a bucket, the errors of ``BucketSite/change(signedBy:makesSite:isDryRun:events:reading:_:)``.
  public func run(
    of channel: SiteChannel = .live, numbers: ClosedRange<UInt64>, isDryRun: Bool = false
  ) async throws -> Result {
    let reading: SiteStatusReader.Place =
      switch place {
      case .folder(let path): .folder(path)
      case .bucket(let bucket, _): .bucket(bucket)
      }
    let history = try await SiteHistoryReader(reading).run(of: channel)
    if let fault = history.fault, fault.number >= numbers.lowerBound {
      var error = PackStoreError(
        .corrupt, "the record of change \(fault.number) is \(fault.isMissing ? "missing" : "damaged")", file: fault.path
      )
      error.specificRemedy = "restore it from a backup or a mirror, or erase only later changes"
      throw error
    }
    let chosen = history.changes.filter { numbers.contains($0.number) && $0.noteBytes != nil }
    let records = Set(chosen.compactMap { Digest256(hex: $0.record) })
    if !isDryRun, !records.isEmpty { try await erase(records) }
    return Result(numbers: chosen.map(\.number).sorted())
  }

  private func erase(_ records: Set<Digest256>) async throws {
    switch place {
    case .folder(let path):
      _ = try await BlockingExecutor.run { [waitsForOthers] in
        try Site(existingAt: path).eraseNotes(of: records, waitsForOthers: waitsForOthers)
      }
    case .bucket(var bucket, let key):
      bucket.erasedNotes = records
      try await bucket.change(signedBy: key) { _ in }
    }
  }
}
