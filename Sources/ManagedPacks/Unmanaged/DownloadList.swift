/// What an app and those who download for it know together of the app's own downloads: `downloads/APP/list` in the group's folder.
///
/// It is the truth; whatever processes tell each other is a hint to read it again. One that is damaged counts as empty: then what was
/// asked for is asked for again, and files that were delivered are the app's.
package struct DownloadList: Hashable, Sendable {
  /// In the order in which they were asked for.
  package var downloads: [DownloadRecord] = []

  /// Files that were handed over and may be purged.
  package var delivered: [DeliveredFile] = []

  /// Ids of downloads that were cancelled last: a second cancel is one.
  package var cancelled: [String] = []

  /// The app was launched: nothing restricts its downloads any more.
  package var isLaunched = false

  /// On which day (UTC, since 1970) it was launched last; nil: never.
  package var launchDay: Int?

  /// Bytes that ended downloads have taken of the allowances before the first launch.
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

  /// Adds a download that waits; gives it its place in the order.
  mutating func schedule(_ record: DownloadRecord, isForeground: Bool) {
    var record = record
    record.phase = .waiting
    record.isForeground = isForeground
    record.number = nextNumber
    nextNumber = nextNumber < Int(Int32.max) ? nextNumber + 1 : nextNumber
    downloads.append(record)
  }

  /// A download has ended: what came of it counts against the allowances. It stays until its callback has returned.
  ///
  /// - Parameters:
  ///   - byteCount: what came of it beside what was thrown away before.
  ///   - error: nil: it is complete.
  mutating func end(_ id: String, byteCount: Int, _ error: (any Error)?) {
    guard let record = self[id], record.phase == .waiting else { return }
    spend(record.lostByteCount.addingClamped(max(byteCount, 0)), isEssential: record.countsAsEssential)
    self[id]?.phase = error == nil ? .finished : .failed
    self[id]?.failure = error.map { DownloadRecord.Failure($0) }
    if error == nil { self[id]?.totalByteCount = min(byteCount, DownloadRecord.sizeLimit) }
  }

  /// It cannot be begun.
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

  /// A download without which the app does not start.
  package var hasOpenEssential: Bool { downloads.contains { $0.isEssential && $0.phase == .waiting } }
}

extension DownloadRecord {
  /// The manifest is within the allowance of essential downloads.
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
