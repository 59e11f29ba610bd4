/// One version of a pack that a site offers to this app. The value may be out of date once the site changes.
public struct AssetPack: Identifiable, Hashable, Sendable {
  /// The name of the pack, unique within the manifest.
  public let id: String

  public let version: Int

  /// The download size for an empty store, in bytes.
  public let downloadSize: Int

  /// The JSON that the publisher attached for the app, byte for byte; `nil` if none.
  public let userInfo: Data?

  /// The language of the pack's content; `nil` if it is for every language.
  public let language: Locale.Language?

  /// The events that download the pack without a request of the app.
  public let downloadPolicy: DownloadPolicy

  /// The publisher of the pack.
  public let origin: Store.Origin

  /// The language tag, as the publisher wrote it.
  let languageTag: LanguageTag?

  /// The index of the offering site in the configuration.
  let site: Int

  /// The archive that a download manifest lists, if the app read the manifest itself.
  let archiveURL: String?

  /// The group for which the app read a download manifest; `nil` for packs of a manager.
  let appGroupID: String?

  package init(
    id: PackID, version: UInt64, downloadByteCount: Int, attributes: Attributes, origin: Store.Origin, site: Int = 0,
    archiveURL: String? = nil, appGroupID: String? = nil
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
    self.archiveURL = archiveURL
    self.appGroupID = appGroupID
  }
}

extension AssetPack: CustomStringConvertible {
  /// `Tutorial@3`.
  public var description: String { "\(id)@\(version)" }
}

extension AssetPack {
  /// The state of a pack on this machine and on its site.
  public struct Status: OptionSet, Hashable, Sendable {
    public let rawValue: Int

    public init(rawValue: Int) { self.rawValue = rawValue }

    /// The site offers the pack to this app.
    public static let downloadAvailable = Self(rawValue: 1 << 0)
    /// The site offers a newer version than the installed one, and an update would install it.
    public static let updateAvailable = Self(rawValue: 1 << 1)
    /// The installed version is the version it is compared with.
    public static let upToDate = Self(rawValue: 1 << 2)
    /// The installed version differs from the version it is compared with.
    public static let outOfDate = Self(rawValue: 1 << 3)
    /// The site no longer lists the pack: it cannot be updated, or downloaded again after its removal.
    public static let obsolete = Self(rawValue: 1 << 4)
    /// The pack is being downloaded or is queued.
    public static let downloading = Self(rawValue: 1 << 5)
    /// The pack is complete on this machine.
    public static let downloaded = Self(rawValue: 1 << 6)
  }
}

extension AssetPack.Status: CustomStringConvertible {
  /// For example `downloadAvailable|upToDate|downloaded`.
  public var description: String {
    let names: [(Self, String)] = [
      (.downloadAvailable, "downloadAvailable"), (.updateAvailable, "updateAvailable"), (.upToDate, "upToDate"),
      (.outOfDate, "outOfDate"), (.obsolete, "obsolete"), (.downloading, "downloading"), (.downloaded, "downloaded"),
    ]
    return names.filter { contains($0.0) }.map(\.1).joined(separator: "|")
  }
}
