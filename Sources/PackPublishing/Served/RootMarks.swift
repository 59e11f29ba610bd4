public import PackFormats
import PackStore

/// The highest sequence numbers of the roots that a key signed, for each site and channel: a publication that continues from a served
/// site refuses an older root. A stale cache, a lagging mirror or an attacker would otherwise show an older state, which the
/// publication would sign again.
///
/// As a file it is UTF-8 text in which every line ends with a line feed: `packstore marks 1`, then `root SITE CHANNEL SEQUENCE` for
/// each root, in bytewise order of the lines.
public struct RootMarks: Hashable, Sendable {
  private struct Place: Hashable {
    let site: SiteID
    let channel: SiteChannel
  }

  private var sequences: [Place: UInt64] = [:]

  private static let title = ["packstore", "marks", "1"]
  private static let byteCountLimit = 1 << 20

  public init() {}

  /// The highest known sequence number; `nil` if none is known.
  package func sequence(of site: SiteID, _ channel: SiteChannel) -> UInt64? {
    sequences[Place(site: site, channel: channel)]
  }

  /// Records a signed root. A lower number than the known one changes nothing.
  package mutating func raise(_ root: SiteRoot) {
    let place = Place(site: root.site, channel: root.channel)
    sequences[place] = max(sequences[place] ?? 0, root.sequence)
  }

  /// Returns the higher number of each root.
  package func merging(_ other: RootMarks) -> RootMarks {
    var marks = self
    marks.sequences.merge(other.sequences) { max($0, $1) }
    return marks
  }

  // MARK: - As a file

  package var text: String {
    let lines = sequences.map { "root \($0.key.site) \($0.key.channel) \($0.value)\n" }
    return Self.title.joined(separator: " ") + "\n" + lines.sorted().joined()
  }

  /// - Throws: `corrupt`.
  package init(decoding bytes: [UInt8], file: String) throws {
    var lines = TextLines(bytes, file: file)
    guard lines.next(["packstore"]) == Self.title else { throw lines.damage(isNext: true) }
    while let words = lines.next(["root"]) {
      guard words.count == 4, let site = ID128(hex: words[1]).map(SiteID.init), "\(site)" == words[1],
        let channel = try? SiteChannel(words[2]), let sequence = UInt64(words[3]), sequence > 0,
        "\(sequence)" == words[3], sequences.updateValue(sequence, forKey: Place(site: site, channel: channel)) == nil
      else { throw lines.damage() }
    }
    try lines.end()
  }

  /// Reads the file; a missing file has no marks.
  ///
  /// - Throws: `corrupt`, `ioError`.
  public init(contentsOf file: FilePath) throws {
    do {
      let bytes = try InputFile(file).contents(limit: Self.byteCountLimit)
      try self.init(decoding: bytes, file: file.string)
    } catch let error as PackStoreError where error.code == .notFound { self.init() }
  }

  /// Raises the marks in a file.
  ///
  /// - Throws: `corrupt`, `ioError`, `noSpace`.
  public func raise(in file: FilePath) throws {
    let known = try RootMarks(contentsOf: file), marks = known.merging(self)
    guard marks != known, let name = file.lastComponent?.string else { return }
    let folder = file.removingLastComponent()
    try replaceFile(
      name, in: folder.isEmpty ? "." : folder, by: Array(marks.text.utf8), draft: name + ".new")
  }
}
