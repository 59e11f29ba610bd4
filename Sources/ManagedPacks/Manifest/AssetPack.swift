/// A pack as a site offers it to this app: one version of it. What it says may be out of date when the site changes.
public struct AssetPack: Identifiable, Hashable, Sendable {
  public let id: String

  public let version: Int

  /// What a device that has nothing fetches for it, in bytes.
  public let downloadSize: Int

  /// The JSON that the publisher attached for the app, byte for byte; nil: none.
  public let userInfo: Data?

  /// The language of what is in the pack; nil: it is for every language.
  public let language: Locale.Language?

  /// When the pack is fetched before the app asks for it.
  public let downloadPolicy: DownloadPolicy

  /// By whose word the pack is offered.
  public let origin: Store.Origin

  /// The language as it was written.
  let languageTag: LanguageTag?

  /// Which of the configuration's sites offers it.
  let site: Int

  package init(
    id: PackID, version: UInt64, downloadByteCount: Int, attributes: Attributes, origin: Store.Origin, site: Int = 0
  ) {
    self.id = id.name
    self.version = Int(clamping: version)
    downloadSize = downloadByteCount
    userInfo = attributes.userInfo?.json
    languageTag = attributes.language
    language = attributes.language.map { Locale.Language(identifier: $0.text) }
    downloadPolicy = attributes.downloadPolicy
    self.origin = origin
    self.site = site
  }
}

extension AssetPack: CustomStringConvertible {
  /// `Tutorial@3`.
  public var description: String { "\(id)@\(version)" }
}

extension AssetPack {
  /// What is known of a pack here and on its site.
  public struct Status: OptionSet, Hashable, Sendable {
    public let rawValue: Int

    public init(rawValue: Int) { self.rawValue = rawValue }

    /// The site offers the pack to this app.
    public static let downloadAvailable = Self(rawValue: 1 << 0)
    /// The site offers a newer version than the one that is here, and it would be taken.
    public static let updateAvailable = Self(rawValue: 1 << 1)
    /// The version that is here is the one that it is compared with.
    public static let upToDate = Self(rawValue: 1 << 2)
    /// The version that is here is another one.
    public static let outOfDate = Self(rawValue: 1 << 3)
    /// The pack is gone from its site: it cannot be updated, nor fetched again once it is removed.
    public static let obsolete = Self(rawValue: 1 << 4)
    /// The pack is being fetched, or waits for it.
    public static let downloading = Self(rawValue: 1 << 5)
    /// The pack is here.
    public static let downloaded = Self(rawValue: 1 << 6)
  }
}

extension AssetPack.Status: CustomStringConvertible {
  /// `downloadAvailable|upToDate|downloaded`.
  public var description: String {
    let names: [(Self, String)] = [
      (.downloadAvailable, "downloadAvailable"), (.updateAvailable, "updateAvailable"), (.upToDate, "upToDate"),
      (.outOfDate, "outOfDate"), (.obsolete, "obsolete"), (.downloading, "downloading"), (.downloaded, "downloaded"),
    ]
    return names.filter { contains($0.0) }.map(\.1).joined(separator: "|")
  }
}
