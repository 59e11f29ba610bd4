import PackFormats
import PackStore

/// The versions that each channel of a site offered before its current versions. A publisher can go back to them.
///
/// It is stored in the text file `offered`: `Docs/FORMAT.md`, section 21. If the file is lost, versions count as never offered.
struct OfferHistory: Hashable, Sendable {
  /// The numbers of versions that a channel offered before, but does not offer now. The latest is last.
  private var lists: [SiteChannel: [PackID: [UInt64]]] = [:]

  static let fileName = "offered"
  static let byteCountLimit = 16 << 20
  private static let title = "packstore offered \(SiteFormat.current & 0xffff) \(SiteFormat.current >> 16)"

  init() {}

  /// Whether a channel offered a version before.
  func contains(_ number: UInt64, of pack: PackID) -> Bool {
    lists.values.contains { $0[pack]?.contains(number) ?? false }
  }

  /// Returns the last version that a channel offered before its current versions.
  ///
  /// - Parameter kept: numbers of versions that the site has.
  func previous(of pack: PackID, on channel: SiteChannel, among kept: Set<UInt64>) -> UInt64? {
    lists[channel]?[pack]?.last { kept.contains($0) }
  }

  /// Records that a channel offers other versions of a pack.
  mutating func replace(_ before: [UInt64], by after: [UInt64], of pack: PackID, on channel: SiteChannel) {
    let leaving = before.filter { !after.contains($0) }.sorted()
    let list = (lists[channel]?[pack] ?? []).filter { !leaving.contains($0) && !after.contains($0) } + leaving
    lists[channel, default: [:]][pack] = list.isEmpty ? nil : list
    if lists[channel]?.isEmpty == true { lists[channel] = nil }
  }

  /// Forgets versions that the site does not have.
  mutating func restrict(to isKept: (PackID, UInt64) -> Bool) {
    for (channel, packs) in lists {
      for (pack, numbers) in packs {
        let kept = numbers.filter { isKept(pack, $0) }
        lists[channel]?[pack] = kept.isEmpty ? nil : kept
      }
      if lists[channel]?.isEmpty == true { lists[channel] = nil }
    }
  }

  // MARK: - As a file

  func encode() -> [UInt8] {
    var lines = [Self.title]
    for (channel, packs) in lists.sorted(by: { $0.key < $1.key }) {
      lines += packs.sorted { $0.key < $1.key }.map { pack, numbers in
        "\(channel) \(pack) \(numbers.map { "\($0)" }.joined(separator: " "))"
      }
    }
    return Array(lines.map { $0 + "\n" }.joined().utf8)
  }

  /// Reads the intact lines. Ignores damaged lines, because no check depends on the file.
  init(decoding bytes: [UInt8]) {
    for line in String(decoding: bytes, as: UTF8.self).split(separator: "\n").dropFirst() {
      let words = line.split(separator: " "), numbers = words.dropFirst(2).compactMap { UInt64($0) }
      guard words.count > 2, numbers.count == words.count - 2, Set(numbers).count == numbers.count,
        let channel = try? SiteChannel(String(words[0])), let pack = try? PackID(validating: String(words[1]))
      else { continue }
      lists[channel, default: [:]][pack] = numbers
    }
  }
}
