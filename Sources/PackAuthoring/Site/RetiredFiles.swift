package import PackFormats
import PackStore

/// Files that an earlier root of the site referred to, but the current root does not. Clients may be fetching them, so they stay
/// until their grace period is over.
///
/// They are listed in the text file `retired`: `Docs/FORMAT.md`, section 21. The file is checked like all external input, because
/// it determines which files are deleted.
package struct RetiredFiles: Hashable, Sendable {
  package struct Entry: Hashable, Sendable {
    /// The time when the last root with the file was replaced, in nanoseconds since 1970.
    package var since: Int64

    package var byteCount: UInt64

    package init(since: Int64, byteCount: UInt64) {
      self.since = since
      self.byteCount = byteCount
    }
  }

  package private(set) var entries: [SitePath: Entry] = [:]

  package static let fileName = "retired"
  package static let byteCountLimit = 64 << 20
  private static let title =
    "packstore retired \(SiteFormat.current & 0xffff) \(SiteFormat.current >> 16)"

  var isEmpty: Bool { entries.isEmpty }

  func contains(_ file: SitePath) -> Bool { entries[file] != nil }

  var byteCount: UInt64 { entries.values.lazy.map(\.byteCount).clampedSum() }

  /// Returns the time when the first file expires, in nanoseconds since 1970; `nil` if no file is listed.
  func firstEnd(grace: Int64) -> Int64? { entries.values.map { $0.since.addingClamped(grace) }.min() }

  // MARK: - Changes

  /// Records that `files` replaces `named`: files only in `named` are retired from `now` on, and files in `files` are in use.
  mutating func replace(_ named: [SitePath: UInt64], by files: [SitePath: UInt64], now: Int64) {
    for (file, byteCount) in named { entries[file] = Entry(since: now, byteCount: byteCount) }
    for file in files.keys { entries[file] = nil }
  }

  /// Drops files that were retired for longer than the grace period. A date in the future counts as now, so that a wrong clock
  /// neither keeps files permanently nor deletes files early.
  ///
  /// - Parameter latest: the latest plausible date, which replaces later dates.
  mutating func dropDue(now: Int64, latest: Int64, grace: Int64) {
    entries = entries.mapValues { Entry(since: min($0.since, latest), byteCount: $0.byteCount) }
      .filter { min($0.value.since, now).addingClamped(grace) > now }
  }

  // MARK: - As a file

  package func encode() -> [UInt8] {
    let lines = entries.map { (path: $0.key.description, entry: $0.value) }.sorted { $0.path < $1.path }
    return Array((Self.title + "\n").utf8)
      + lines.flatMap { Array("\($0.entry.since) \($0.entry.byteCount) \($0.path)\n".utf8) }
  }

  package init(_ entries: [SitePath: Entry] = [:]) { self.entries = entries }

  /// - Throws: `corrupt`; `otherDraft`, `newerFormat`.
  package init(decoding bytes: [UInt8], file: String) throws {
    var lines = bytes.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
    guard lines.popLast()?.isEmpty == true, let title = lines.first else { throw Self.damage(file, line: 1) }
    try Self.checkTitle(String(decoding: title, as: UTF8.self), file)
    var last = ""
    for (index, line) in lines.enumerated().dropFirst() {
      guard let (path, entry) = Self.entry(String(decoding: line, as: UTF8.self)), last < path.description else {
        throw Self.damage(file, line: index + 1)
      }
      last = path.description
      entries[path] = entry
    }
  }

  private static func checkTitle(_ title: String, _ file: String) throws {
    let words = title.split(separator: " ", omittingEmptySubsequences: false)
    guard words.count == 4, words[0...1].elementsEqual(["packstore", "retired"]), let version = UInt16(words[2]),
      let draft = UInt16(words[3]), "packstore retired \(version) \(draft)" == title
    else { throw damage(file, line: 1) }
    try SiteFormat.check(UInt32(version) | UInt32(draft) << 16, file: file)
  }

  private static func entry(_ line: String) -> (SitePath, Entry)? {
    let words = line.split(separator: " ", omittingEmptySubsequences: false)
    guard words.count == 3, let since = Int64(words[0]), since >= 0, let byteCount = UInt64(words[1]),
      let path = SitePath(String(words[2])), !path.isRoot, "\(since) \(byteCount) \(path)" == line
    else { return nil }
    return (path, Entry(since: since, byteCount: byteCount))
  }

  private static func damage(_ file: String, line: Int) -> PackStoreError {
    var error = PackStoreError(.corrupt, "line \(line) differs from the format of the site", file: file)
    error.specificRemedy = "remove the file: the next publication then deletes the files that it lists"
    return error
  }
}

extension Duration {
  /// The duration in nanoseconds, from 0 to 292 years.
  var nanoseconds: Int64 {
    let (seconds, attoseconds) = components
    let (product, overflows) = seconds.multipliedReportingOverflow(by: 1_000_000_000)
    return overflows ? (seconds < 0 ? 0 : .max) : max(product.addingClamped(attoseconds / 1_000_000_000), 0)
  }
}
