import PackFormats
import PackStore

/// The versions that each channel of a site offered before its current versions. A publisher can go back to them.
///
/// It is stored in the text file `offered`: `Docs/FORMAT.md`, section 21. If the file is lost, versions count as never offered.
struct OfferHistory: Hashable, Sendable {
  /// The numbers of versions that a channel offered before, but does not offer now. The latest is last.
  private var lists: [SiteChannel: [PackID: [UInt64]]] = [:]

  /// The times of the versions' last offers, in seconds since 1970: of the replacement of a root with the version by a root without it.
  private var endings: [RetentionPolicy.Pin: Int64] = [:]

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

  /// Returns the time of a version's last offer, in nanoseconds since 1970; `nil` if unknown.
  func ending(of number: UInt64, of pack: PackID) -> Int64? {
    endings[.init(pack, number)].map {
      let (product, overflows) = $0.multipliedReportingOverflow(by: 1_000_000_000)
      return overflows ? .max : product
    }
  }

  /// Records that a channel offers other versions of a pack.
  ///
  /// - Parameter time: the time of the change, in nanoseconds since 1970.
  mutating func replace(
    _ before: [UInt64], by after: [UInt64], of pack: PackID, on channel: SiteChannel, at time: Int64
  ) {
    for number in before where !after.contains(number) { endings[.init(pack, number)] = time / 1_000_000_000 }
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
    endings = endings.filter { isKept($0.key.pack, $0.key.version) }
  }

  // MARK: - As a file

  func encode() -> [UInt8] {
    var lines = [Self.title]
    for (channel, packs) in lists.sorted(by: { $0.key < $1.key }) {
      lines += packs.sorted { $0.key < $1.key }.map { pack, numbers in
        "\(channel) \(pack) \(numbers.map { "\($0)" }.joined(separator: " "))"
      }
    }
    lines += endings.sorted { $0.key < $1.key }.map { "@\($0.value) \($0.key.pack) \($0.key.version)" }
    return Array(lines.map { $0 + "\n" }.joined().utf8)
  }

  /// Reads the intact lines. Ignores damaged lines, because no check depends on the file.
  init(decoding bytes: [UInt8]) {
    for line in String(decoding: bytes, as: UTF8.self).split(separator: "\n").dropFirst() {
      let words = line.split(separator: " "), numbers = words.dropFirst(2).compactMap { UInt64($0) }
      if words.count == 3, words[0].first == "@", let pack = try? PackID(validating: String(words[1])) {
        guard let time = Int64(words[0].dropFirst()), time >= 0, numbers.count == 1 else { continue }
        endings[.init(pack, numbers[0])] = time
        continue
      }
      guard words.count > 2, numbers.count == words.count - 2, Set(numbers).count == numbers.count,
        let channel = try? SiteChannel(String(words[0])), let pack = try? PackID(validating: String(words[1]))
      else { continue }
      lists[channel, default: [:]][pack] = numbers
    }
  }
}
