import PackFormats
import PackStore

extension SiteFileUses {
  /// - Parameter now: in nanoseconds since 1970.
  /// - Returns: the bytes by use, and the number of files to delete now.
  func space(grace: Duration, now: Int64) throws -> (Site.Status.Space, dueCount: Int) {
    var groups: [Int64: (count: Int, byteCount: UInt64)] = [:]
    for entry in retired.entries.values {
      let until = min(entry.since, now).addingClamped(grace.nanoseconds)
      groups[until, default: (0, 0)].count += 1
      groups[until, default: (0, 0)].byteCount = groups[until, default: (0, 0)].byteCount.addingClamped(entry.byteCount)
    }
    let due = groups.filter { $0.key <= now }
    let strays = stray.map { $0.values.clampedSum() } ?? 0
    var space = Site.Status.Space(
      neededByteCount: Int(clamping: needed.values.clampedSum().addingClamped(rootByteCount)))
    space.keptByteCount = Int(clamping: kept.values.clampedSum())
    space.retired = groups.filter { $0.key > now }.sorted { $0.key < $1.key }.map {
      .init(
        until: Date(nanosecondsSince1970: $0.key), fileCount: $0.value.count,
        byteCount: Int(clamping: $0.value.byteCount))
    }
    space.deadByteCount = Int(clamping: due.values.map(\.byteCount).clampedSum().addingClamped(strays))
    return (space, due.values.map(\.count).reduce(0, +) + (stray?.count ?? 0))
  }
}
