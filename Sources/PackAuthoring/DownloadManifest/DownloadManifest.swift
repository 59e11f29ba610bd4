public import PackStore

/// The list of packs that a publisher hosts for Apple's Background Assets: the file at `BAManifestURL`.
///
/// Apple does not document the format; these are the members that Apple's tool writes. Unknown members are kept unchanged.
public struct DownloadManifest: Sendable {
  private var entries: [Entry]

  /// The other members of the object, as written.
  private var otherMembers: [(name: String, value: String)]

  private struct Entry {
    let id: String
    let version: UInt64
    let byteCount: UInt64
    let url: String
    /// The other terms of the pack, in canonical form for comparison: policy, user info and language.
    let terms: [UInt8]

    /// The SHA-256 of an archive without a version number; `nil` if the entry does not contain it.
    let archiveDigest: String?

    /// The whole entry, as JSON.
    let text: String
  }

  /// The maximum size of a manifest in bytes.
  public static let byteCountLimit = 16 << 20

  /// The result for a pack.
  public struct Change: Hashable, Sendable {
    public let id: String
    public let version: UInt64
    public let byteCount: UInt64
    public let outcome: Outcome

    public enum Outcome: String, Codable, Sendable {
      case added, updated, unchanged
      /// The pack is for none of the manifest's platforms. An existing entry is removed.
      case leftOut = "left_out"
    }
  }

  /// Creates a manifest without packs.
  public init() {
    entries = []
    otherMembers = []
  }

  /// Reads an existing manifest.
  ///
  /// - Throws: `notFound`; `refused` if the file is not a download manifest.
  public init(contentsOf path: FilePath) throws {
    let bytes = try InputFile(path).contents(limit: Self.byteCountLimit)
    let document = JSONReader.read(bytes)
    if let fault = document.faults.first {
      throw PackStoreError(.refused, fault.finding, file: "\(path):\(fault.position.line):\(fault.position.column)")
    }
    guard let members = document.root?.object, let list = members.first(where: { $0.name == "assetPacks" })?.value.array
    else {
      throw PackStoreError(.refused, "not a download manifest: the list 'assetPacks' is missing", file: path.string)
    }
    otherMembers = members.filter { $0.name != "assetPacks" }.map { ($0.name, Self.text($0.value, document)) }
    entries = try list.map { try Self.entry($0, document, path) }
    guard Set(entries.map { ExactText($0.id) }).count == entries.count else {
      throw PackStoreError(.refused, "contains a pack twice", file: path.string)
    }
  }

  private static func text(_ value: JSONValue, _ document: JSONDocument) -> String {
    String(decoding: document.source(of: value), as: UTF8.self)
  }

  private static func entry(_ value: JSONValue, _ document: JSONDocument, _ path: FilePath) throws -> Entry {
    func member(_ name: String) -> JSONValue? { value.object?.first { $0.name == name }?.value }
    guard let id = member("id")?.string, let version = member("version")?.integer(UInt64.self),
      let url = member("url")?.string, let byteCount = member("downloadSize")?.integer(UInt64.self)
    else {
      let place = value.position
      throw PackStoreError(
        .refused, "a pack lacks id, version, url or downloadSize", file: "\(path):\(place.line):\(place.column)")
    }
    return Entry(
      id: id, version: version, byteCount: byteCount, url: url,
      terms: terms(member("downloadPolicy"), member("userInfo"), member("language")),
      archiveDigest: archiveDigest(member("packstore")),
      text: text(value, document))
  }

  /// Creates the entry of a pack.
  private static func entry(of pack: HostedPack, version: UInt64, url: String) -> Entry {
    let text = text(of: pack, version: version, url: url)
    let members = JSONReader.read(Array(text.utf8)).root?.object ?? []
    func member(_ name: String) -> JSONValue? { members.first { $0.name == name }?.value }
    return Entry(
      id: pack.id, version: version, byteCount: pack.byteCount, url: url,
      terms: terms(member("downloadPolicy"), member("userInfo"), member("language")),
      archiveDigest: pack.archiveDigest?.hex, text: text)
  }

  private static func terms(_ values: JSONValue?...) -> [UInt8] {
    canonicalJSONArray(
      values.map { value in
        var text: [UInt8] = []
        value?.appendCanonical(to: &text)
        return text
      })
  }

  private static func archiveDigest(_ own: JSONValue?) -> String? {
    own?.object?.first { $0.name == "sha256" }?.value.string
  }

  // MARK: - Changing

  /// Adds a pack, or replaces an earlier version of it.
  ///
  /// Devices update when the number increases. An archive without its own number gets 1, or one more than the existing entry,
  /// unless it is the same archive: its SHA-256 is stored under the key `packstore`.
  ///
  /// - Parameters:
  ///   - pack: the pack to download.
  ///   - platforms: the manifest's platforms; empty for all.
  ///   - baseURL: the folder of the archives on the server; `nil` to keep the pack's existing URL.
  /// - Throws: `invalidArgument` for a new pack without a URL, and if the number does not increase although the archive changed.
  public mutating func add(_ pack: HostedPack, platforms: Set<Platform> = [], baseURL: BaseURL? = nil) throws -> Change
  {
    let index = entries.firstIndex { ExactText($0.id) == ExactText(pack.id) }
    let before = index.map { entries[$0] }
    let number = try pack.version ?? Self.number(of: pack, after: before)
    func change(_ outcome: Change.Outcome) -> Change {
      Change(id: pack.id, version: number, byteCount: pack.byteCount, outcome: outcome)
    }
    guard
      platforms.isEmpty || pack.attributes.platforms.isEmpty || !platforms.isDisjoint(with: pack.attributes.platforms)
    else {
      if let index { entries.remove(at: index) }
      return change(.leftOut)
    }
    guard let url = baseURL?.url(of: pack.id) ?? before?.url else {
      throw PackStoreError(.invalidArgument, "the URL of the pack on the server is missing", about: .value(pack.id))
    }
    if let before { try Self.check(number, pack, after: before) }
    let next = Self.entry(of: pack, version: number, url: url)
    guard let index, let before else {
      entries.append(next)
      return change(.added)
    }
    let isSame =
      before.version == next.version && before.byteCount == next.byteCount && before.url == next.url
      && before.terms == next.terms && before.archiveDigest == next.archiveDigest
    if !isSame { entries[index] = next }
    return change(isSame ? .unchanged : .updated)
  }

  private static func number(of pack: HostedPack, after before: Entry?) throws -> UInt64 {
    guard let before else { return 1 }
    let isSame = before.byteCount == pack.byteCount && before.archiveDigest == pack.archiveDigest?.hex
    return isSame ? before.version : before.version.addingClamped(1)
  }

  private static func check(_ number: UInt64, _ pack: HostedPack, after before: Entry) throws {
    let digest = pack.archiveDigest?.hex
    let isOther =
      pack.byteCount != before.byteCount
      || digest != nil && before.archiveDigest != nil && digest != before.archiveDigest
    guard number < before.version || (number == before.version && isOther) else { return }
    throw PackStoreError(
      .invalidArgument,
      "version \(number) is not above the manifest's version \(before.version), so devices would not download it",
      about: .value(pack.id))
  }

  // MARK: - As text

  private static func text(of pack: HostedPack, version: UInt64, url: String) -> String {
    let attributes = pack.attributes
    var members: [(name: String, value: String)] = [
      ("id", quoted(pack.id)), ("version", "\(version)"), ("url", quoted(url)), ("downloadSize", "\(pack.byteCount)"),
      ("downloadPolicy", text(of: attributes.downloadPolicy)),
    ]
    if let language = attributes.language { members.append(("language", quoted(language.text))) }
    if let userInfo = attributes.userInfo {
      members.append(("userInfo", String(decoding: userInfo.bytes, as: UTF8.self)))
    }
    members.append(("host", #"{ "thirdParty": {} }"#))
    if let digest = pack.archiveDigest { members.append(("packstore", #"{ "sha256": "\#(digest.hex)" }"#)) }
    let lines = members.map { "      \(quoted($0.name)): \($0.value)" }
    return "{\n\(lines.joined(separator: ",\n"))\n    }"
  }

  private static func text(of policy: DownloadPolicy) -> String {
    guard policy != .onDemand else { return #"{ "onDemand": {} }"# }
    let events = policy.events.sorted().map { quoted($0.rawValue) }.joined(separator: ", ")
    return #"{ "\#(policy.name)": { "installationEventTypes": [\#(events)] } }"#
  }

  private static func quoted(_ text: String) -> String { String(decoding: canonicalJSON(text), as: UTF8.self) }

  /// The JSON text, with a final line feed.
  public var text: String {
    let packs = entries.isEmpty ? "[]" : "[\n" + entries.map { "    \($0.text)" }.joined(separator: ",\n") + "\n  ]"
    let members = [("assetPacks", packs)] + otherMembers.map { ($0.name, $0.value) }
    return "{\n" + members.map { "  \(Self.quoted($0.0)): \($0.1)" }.joined(separator: ",\n") + "\n}\n"
  }
}

extension DownloadManifest {
  /// The URL of the archives on a server. Each archive has the name of its pack, without an extension.
  public struct BaseURL: Hashable, Sendable {
    private let text: String

    /// `nil` unless the URL begins with `https://` and a host, and has neither a query nor a fragment.
    public init?(_ text: String) {
      guard let url = URLComponents(string: text), url.scheme == "https", url.host?.isEmpty == false, url.query == nil,
        url.fragment == nil
      else { return nil }
      var text = text[...]
      while text.hasSuffix("/") { text.removeLast() }
      self.text = String(text)
    }

    /// Creates the URL of a development server, which may lack TLS.
    package init(developing url: String) { text = url }

    func url(of id: String) -> String {
      let name = id.utf8.map { Self.isPlain($0) ? String(UnicodeScalar($0)) : Self.escape($0) }.joined()
      return "\(text)/\(name)"
    }

    /// Whether a byte needs no escape in a URL: RFC 3986, section 2.3.
    private static func isPlain(_ byte: UInt8) -> Bool {
      switch UnicodeScalar(byte) {
      case "a"..."z", "A"..."Z", "0"..."9", "-", ".", "_", "~": true
      default: false
      }
    }

    private static func escape(_ byte: UInt8) -> String {
      let digits = String(byte, radix: 16, uppercase: true)
      return "%" + (digits.count == 1 ? "0" : "") + digits
    }
  }
}
