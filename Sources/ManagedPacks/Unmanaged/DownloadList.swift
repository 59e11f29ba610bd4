/// The app's own downloads: the file `downloads/APP/list` in the group's folder, shared by the app and the processes that download
/// for it.
///
/// The file is authoritative; messages between processes only prompt them to read it again. A damaged list counts as empty: its
/// downloads must be scheduled again, and delivered files are not purged any more.
package struct DownloadList: Hashable, Sendable {
  /// In the order in which they were scheduled.
  package var downloads: [DownloadRecord] = []

  /// The delivered files, which may be purged.
  package var delivered: [DeliveredFile] = []

  /// The ids of the downloads cancelled last, so that a second cancel succeeds.
  package var cancelled: [String] = []

  /// Whether the app has been launched: its downloads are then unrestricted.
  package var isLaunched = false

  /// The day of the last launch (UTC, in days since 1970); `nil` if the app was never launched.
  package var launchDay: Int?

  /// The bytes of ended downloads that count against the allowances before the first launch.
  package var spentByteCount = 0
  package var spentEssentialByteCount = 0

  package var nextNumber = 1

  package init() {}

  package static let format = 1
  package static let countLimit = 10_000
  package static let cancelledLimit = 256
  package static let byteCountLimit = 64 << 20
}

extension DownloadList: GroupDocument {
  package static let title = "the app's list of downloads"

  package static var excess: ManagedPacksError {
    ManagedPacksError(
      .groupFolder, "the app would have more than \(countLimit) downloads", remedy: "schedule fewer at a time")
  }

  package var isBounded: Bool {
    let ids = Set(downloads.map(\.id))
    return downloads.count <= Self.countLimit && delivered.count <= Self.countLimit
      && cancelled.count <= Self.cancelledLimit && cancelled.allSatisfy { UUID(uuidString: $0) != nil }
      && ids.count == downloads.count && downloads.allSatisfy(\.isBounded) && delivered.allSatisfy(\.isBounded)
      && (0...DownloadRecord.sizeLimit).contains(spentByteCount)
      && (0...DownloadRecord.sizeLimit).contains(spentEssentialByteCount)
      && (1...Int(Int32.max)).contains(nextNumber)
  }

  package subscript(_ id: String) -> DownloadRecord? {
    get { downloads.first { $0.id == id } }
    set {
      guard let index = downloads.firstIndex(where: { $0.id == id }) else { return }
      if let newValue { downloads[index] = newValue } else { downloads.remove(at: index) }
    }
  }

  /// Adds a waiting download at the end of the order.
  mutating func schedule(_ record: DownloadRecord, isForeground: Bool) {
    var record = record
    record.phase = .waiting
    record.isForeground = isForeground
    record.number = nextNumber
    nextNumber = nextNumber < Int(Int32.max) ? nextNumber + 1 : nextNumber
    downloads.append(record)
  }

  /// Ends a download: its bytes count against the allowances. It stays in the list until its callback has returned.
  ///
  /// - Parameters:
  ///   - byteCount: the downloaded bytes, except those discarded before.
  ///   - error: `nil` if the file is complete.
  mutating func end(_ id: String, byteCount: Int, _ error: (any Error)?) {
    guard let record = self[id], record.phase == .waiting else { return }
    spend(record.lostByteCount.addingClamped(max(byteCount, 0)), isEssential: record.countsAsEssential)
    self[id]?.phase = error == nil ? .finished : .failed
    self[id]?.failure = error.map { DownloadRecord.Failure($0) }
    if error == nil { self[id]?.totalByteCount = min(byteCount, DownloadRecord.sizeLimit) }
  }

  /// Ends a download that cannot begin.
  mutating func fail(_ id: String, _ error: any Error) {
    self[id]?.phase = .failed
    self[id]?.failure = DownloadRecord.Failure(error)
  }

  mutating func spend(_ byteCount: Int, isEssential: Bool) {
    guard !isLaunched else { return }
    if isEssential {
      spentEssentialByteCount = min(spentEssentialByteCount.addingClamped(byteCount), DownloadRecord.sizeLimit)
    } else {
      spentByteCount = min(spentByteCount.addingClamped(byteCount), DownloadRecord.sizeLimit)
    }
  }

  mutating func noteCancel(of id: String) {
    cancelled.append(id)
    cancelled = Array(cancelled.suffix(Self.cancelledLimit))
  }

  /// Whether an essential download is open.
  package var hasOpenEssential: Bool { downloads.contains { $0.isEssential && $0.phase == .waiting } }
}

extension DownloadRecord {
  /// The manifest counts against the allowance of essential downloads.
  var countsAsEssential: Bool { isEssential || kind == .manifest }
}

extension DownloadList: Codable {
  private enum CodingKeys: CodingKey {
    case format, downloads, delivered, cancelled, isLaunched, launchDay, spentByteCount, spentEssentialByteCount
    case nextNumber
  }

  package init(from decoder: any Decoder) throws {
    let values = try decoder.container(keyedBy: CodingKeys.self)
    downloads = try values.decodeIfPresent([DownloadRecord].self, forKey: .downloads) ?? []
    delivered = try values.decodeIfPresent([DeliveredFile].self, forKey: .delivered) ?? []
    cancelled = try values.decodeIfPresent([String].self, forKey: .cancelled) ?? []
    isLaunched = try values.decodeIfPresent(Bool.self, forKey: .isLaunched) ?? false
    launchDay = try values.decodeIfPresent(Int.self, forKey: .launchDay)
    spentByteCount = try values.decodeIfPresent(Int.self, forKey: .spentByteCount) ?? 0
    spentEssentialByteCount = try values.decodeIfPresent(Int.self, forKey: .spentEssentialByteCount) ?? 0
    nextNumber = try values.decodeIfPresent(Int.self, forKey: .nextNumber) ?? 1
  }

  package func encode(to encoder: any Encoder) throws {
    var values = encoder.container(keyedBy: CodingKeys.self)
    try values.encode(Self.format, forKey: .format)
    try values.encode(downloads, forKey: .downloads)
    try values.encode(delivered, forKey: .delivered)
    try values.encode(cancelled, forKey: .cancelled)
    try values.encode(isLaunched, forKey: .isLaunched)
    try values.encodeIfPresent(launchDay, forKey: .launchDay)
    try values.encode(spentByteCount, forKey: .spentByteCount)
    try values.encode(spentEssentialByteCount, forKey: .spentEssentialByteCount)
    try values.encode(nextNumber, forKey: .nextNumber)
  }
}
