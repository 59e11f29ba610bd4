public import PackFormats
import PackStore

/// The newest roots that a key signed, for each site and channel: a publication that continues from a served site refuses an older
/// root. Otherwise, an outdated cache or mirror, or an attacker, could show an older state, which the publication would sign again.
///
/// As a file it is UTF-8 text in which every line ends with a line feed: `packstore marks 1`, then `root SITE CHANNEL SEQUENCE` for
/// each root, in bytewise order of the lines. If the root's delegation revokes serials below V, the line ends with ` V`.
public struct RootMarks: Hashable, Sendable {
  private struct Place: Hashable {
    let site: SiteID
    let channel: SiteChannel
  }

  private var roots: [Place: RootOrder] = [:]

  private static let title = ["packstore", "marks", "1"]
  private static let byteCountLimit = 1 << 20

  public init() {}

  /// The newest known root; `nil` if none is known.
  package func newest(of site: SiteID, _ channel: SiteChannel) -> RootOrder? {
    roots[Place(site: site, channel: channel)]
  }

  /// Records a signed root. An older root than the known one changes nothing.
  package mutating func raise(_ signed: SignedSiteRoot) {
    raise(RootOrder(signed), of: signed.root.site, signed.root.channel)
  }

  mutating func raise(_ root: RootOrder, of site: SiteID, _ channel: SiteChannel) {
    let place = Place(site: site, channel: channel)
    roots[place] = roots[place].map { max($0, root) } ?? root
  }

  /// Returns the newer one of each root.
  package func merging(_ other: RootMarks) -> RootMarks {
    var marks = self
    marks.roots.merge(other.roots) { max($0, $1) }
    return marks
  }

  // MARK: - As a file

  package var text: String {
    let lines = roots.map { place, root in
      let revoked = root.revokedBelow > 0 ? " \(root.revokedBelow)" : ""
      return "root \(place.site) \(place.channel) \(root.sequence)\(revoked)\n"
    }
    return Self.title.joined(separator: " ") + "\n" + lines.sorted().joined()
  }

  /// - Throws: `corrupt`.
  package init(decoding bytes: [UInt8], file: String) throws {
    var lines = TextLines(bytes, file: file)
    guard lines.next(["packstore"]) == Self.title else { throw lines.damage(isNext: true) }
    while let words = lines.next(["root"]) {
      let numbers = words.dropFirst(3).map(Self.number)
      guard 1...2 ~= numbers.count, let sequence = numbers[0], let revoked = numbers.count > 1 ? numbers[1] : 0,
        let site = ID128(hex: words[1]).map(SiteID.init), "\(site)" == words[1],
        let channel = try? SiteChannel(words[2]),
        roots.updateValue(
          RootOrder(revokedBelow: revoked, sequence: sequence), forKey: Place(site: site, channel: channel)) == nil
      else { throw lines.damage() }
    }
    try lines.end()
  }

  /// Parses a number above 0 without leading zeros; `nil` if the text is anything else.
  private static func number(_ text: String) -> UInt64? {
    guard let number = UInt64(text), number > 0, "\(number)" == text else { return nil }
    return number
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
