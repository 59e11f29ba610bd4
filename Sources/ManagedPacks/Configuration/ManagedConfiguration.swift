/// The configuration of a manager: its group of apps, and the sites of its packs.
///
/// An app declares it in a property list in the program's folder; see ``init(contentsOf:)``.
public struct ManagedConfiguration: Hashable, Sendable {
  /// The group of apps that share packs: `BAAppGroupID`.
  public var appGroupID: PackID

  /// The sites of the packs. The first site that lists a pack provides it. Empty if the property list has `BAUsesAppleHosting` and no
  /// site: then requests fail unless a URL override is active.
  public var sites: [Site]

  /// The app's id in the group's journal: `CFBundleIdentifier` (default: the name of the program).
  public var appID: String

  /// The version of the app: `CFBundleShortVersionString`. If `nil`, the app accepts pack versions for any app version, and updates
  /// of the app are not detected.
  public var appVersion: AppVersion?

  /// The estimated size of the essential packs in bytes, until a site has answered: `BAEssentialMaxInstallSize`, or
  /// `BAEssentialDownloadAllowance` if that is missing.
  public var essentialByteCount: Int?

  /// Whether the app has asset packs, instead of downloads of its own: `BAHasManagedAssetPacks`. Without that key, it is false if
  /// `BAManifestURL` is an `https` URL and the list has none of the keys `PackStoreChannel`, `PackStoreTrustedKey`,
  /// `PackStoreAllowsUnsigned` and `PackStoreSites`.
  public var hasManagedAssetPacks = true

  /// The limits for downloads before the app's first launch; `nil` for no limits.
  public var restrictions: InitialDownloadRestrictions?

  /// The disk space for downloads that are not essential, in bytes: `BAMaxInstallSize`. A limit for asset packs until the app's first
  /// launch; for the app's own downloads, for display in app stores. `nil` if the list does not specify it.
  public var maxInstallByteCount: Int?

  /// The disk space for essential downloads, in bytes: `BAEssentialMaxInstallSize`; otherwise as ``maxInstallByteCount``.
  public var essentialMaxInstallByteCount: Int?

  /// The folder of the group; `nil` for `$XDG_DATA_HOME/packstore/GROUP`, or `~/.local/share/packstore/GROUP`.
  public var groupFolder: FilePath?

  /// The absolute path of the property list that the configuration was read from; `nil` if the program created it. The agent then
  /// does nothing for the app.
  public var propertyList: FilePath?

  /// The app's extension, which the agent starts to select downloads: `PackStoreExtension`. `nil` if none.
  public var downloaderExtension: FilePath?

  /// A site of packs.
  public struct Site: Hashable, Sendable {
    /// An `http:`, `https:` or `file:` URL, or the path of a folder or archive: a site, or a download manifest.
    public var location: String

    /// The channel to follow; `nil` for the channel last followed, or `live`.
    public var channel: SiteChannel?

    /// The key that must have signed the site; if `nil`, the first contact pins the site's key.
    public var trustedKey: SitePublicKey?

    /// Whether to accept an unsigned site from a folder or archive, and unsigned archives that a download manifest lists. With a
    /// ``trustedKey``, archives of a download manifest must be signed.
    public var allowsUnsigned: Bool

    public init(
      _ location: String, channel: SiteChannel? = nil, trustedKey: SitePublicKey? = nil, allowsUnsigned: Bool = false
    ) {
      self.location = location
      self.channel = channel
      self.trustedKey = trustedKey
      self.allowsUnsigned = allowsUnsigned
    }
  }

  /// Creates a configuration.
  ///
  /// - Throws: ``ManagedPacksError`` `invalidConfiguration` if `sites` is empty or a location is empty.
  public init(
    appGroupID: PackID, sites: [Site], appID: String = programName(), appVersion: AppVersion? = nil,
    essentialByteCount: Int? = nil, groupFolder: FilePath? = nil
  ) throws {
    guard !sites.isEmpty, sites.allSatisfy({ !$0.location.isEmpty }) else {
      throw ManagedPacksError(
        .invalidConfiguration, "no site is set", remedy: "set BAManifestURL to the URL of a site")
    }
    self.init(
      unchecked: appGroupID, sites: sites, appID: appID, appVersion: appVersion, essentialByteCount: essentialByteCount,
      groupFolder: groupFolder)
  }

  /// The same without a check that there are sites.
  init(
    unchecked appGroupID: PackID, sites: [Site], appID: String, appVersion: AppVersion?, essentialByteCount: Int?,
    groupFolder: FilePath?
  ) {
    self.appGroupID = appGroupID
    self.sites = sites
    self.appID = appID
    self.appVersion = appVersion
    self.essentialByteCount = essentialByteCount
    self.groupFolder = groupFolder
  }
}

/// Returns the name of the running program, without its folder.
public func programName() -> String {
  FilePath(CommandLine.arguments.first ?? "").lastComponent?.string ?? "program"
}
