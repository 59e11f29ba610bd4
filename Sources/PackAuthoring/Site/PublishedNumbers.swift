import PackFormats
import PackStore

/// The version numbers that a site used and no longer keeps. A number identifies one content permanently: devices keep versions by
/// number, and refuse other content under a number that they have.
///
/// They are stored in the text file `numbers`: `Docs/FORMAT.md`, section 21. Versions that the site's store keeps are not listed.
struct PublishedNumbers: Hashable, Sendable {
  /// Identifies the content and the attributes of a version: the first 8 bytes of a SHA-256. It detects mistakes, not attacks.
  private struct Content: Hashable {
    let prefix: [UInt8]

    init(_ version: PackVersion) {
      let attributes = version.attributesDigest?.bytes ?? [UInt8](repeating: 0, count: 32)
      prefix = Array(Digest256(hashing: version.catalog.bytes + attributes).bytes.prefix(8))
    }

    init?(_ text: Substring) {
      guard text.utf8.count == 16 else { return nil }
      var bytes: [UInt8] = []
      var rest = Array(text.utf8)[...]
      while !rest.isEmpty {
        guard let byte = UInt8(String(decoding: rest.prefix(2), as: UTF8.self), radix: 16) else { return nil }
        bytes.append(byte)
        rest = rest.dropFirst(2)
      }
      prefix = bytes
    }

    var text: String { prefix.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined() }
  }

  private var packs: [PackID: [UInt64: Content]] = [:]

  static let fileName = "numbers"
  static let byteCountLimit = 64 << 20
  private static let title = "packstore numbers \(SiteFormat.current & 0xffff) \(SiteFormat.current >> 16)"

  init() {}

  /// Returns the highest listed number of a pack; 0 if no number is listed.
  func highest(of pack: PackID) -> UInt64 { packs[pack]?.keys.max() ?? 0 }

  /// The highest listed number of each pack.
  var highestNumbers: [PackID: UInt64] { packs.compactMapValues { $0.keys.max() } }

  /// Lists a version that will leave the site's store. If the number is already listed, its content does not change.
  mutating func add(_ version: PackVersion) {
    guard packs[version.pack]?[version.number] == nil else { return }
    packs[version.pack, default: [:]][version.number] = Content(version)
  }

  /// Checks that a version has a new number, or the content that its number always had.
  ///
  /// - Throws: `exists`.
  func check(_ version: PackVersion) throws {
    guard let before = packs[version.pack]?[version.number], before != Content(version) else { return }
    var error = PackStoreError(
      .exists, "published before with other content or attributes", about: .version(version.pack, version.number),
      detail: .otherContent)
    error.specificRemedy =
      "use a version number above \(highest(of: version.pack)): devices may have the earlier version"
    throw error
  }

  // MARK: - As a file

  func encode() -> [UInt8] {
    var lines = [Self.title]
    for (pack, numbers) in packs.sorted(by: { $0.key < $1.key }) {
      lines += numbers.sorted { $0.key < $1.key }.map { "\($0.key) \($0.value.text) \(pack)" }
    }
    return Array(lines.map { $0 + "\n" }.joined().utf8)
  }

  /// - Throws: `corrupt`; `otherDraft`, `newerFormat`.
  init(decoding bytes: [UInt8], file: String) throws {
    var lines = bytes.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
    guard lines.popLast()?.isEmpty == true, let title = lines.first else { throw Self.damage(file, line: 1) }
    try Self.checkTitle(String(decoding: title, as: UTF8.self), file)
    for (index, line) in lines.enumerated().dropFirst() {
      let words = String(decoding: line, as: UTF8.self).split(separator: " ", omittingEmptySubsequences: false)
      guard words.count == 3, let number = UInt64(words[0]), 1...PackVersion.lastNumber ~= number,
        let content = Content(words[1]), let pack = try? PackID(validating: String(words[2])),
        packs[pack]?[number] == nil
      else { throw Self.damage(file, line: index + 1) }
      packs[pack, default: [:]][number] = content
    }
    guard encode() == bytes else { throw Self.damage(file, line: 2) }
  }

  private static func checkTitle(_ title: String, _ file: String) throws {
    let words = title.split(separator: " ", omittingEmptySubsequences: false)
    guard words.count == 4, words[0...1].elementsEqual(["packstore", "numbers"]), let version = UInt16(words[2]),
      let draft = UInt16(words[3]), "packstore numbers \(version) \(draft)" == title
    else { throw damage(file, line: 1) }
    try SiteFormat.check(UInt32(version) | UInt32(draft) << 16, file: file)
  }

  private static func damage(_ file: String, line: Int) -> PackStoreError {
    var error = PackStoreError(.corrupt, "line \(line) differs from the format of a list of numbers", file: file)
    error.specificRemedy = "restore the file, or remove it: the site then accepts numbers that it used before"
    return error
  }
}
