/// What a manager is set up with: which group of apps it belongs to, and from where its packs come.
///
/// An app says it in a property list beside the program; see ``init(contentsOf:)``.
public struct ManagedConfiguration: Hashable, Sendable {
  /// The group of apps that share packs: `BAAppGroupID`.
  public var appGroupID: PackID

  /// Where packs come from; the first site that has a pack supplies it. Empty if the property list has `BAUsesAppleHosting` and no
  /// site: then requests fail unless a URL override is active.
  public var sites: [Site]

  /// What the group's journal knows the app by: `CFBundleIdentifier`; by default the name of the program.
  public var appID: String

  /// The version of the app: `CFBundleShortVersionString`. Nil: versions of packs for any app are taken, and no update of the
  /// app is noticed.
  public var appVersion: AppVersion?

  /// What the essential packs take, in bytes, as long as no site was asked: `BAEssentialMaxInstallSize`, else
  /// `BAEssentialDownloadAllowance`.
  public var essentialByteCount: Int?

  /// Whether the app has asset packs, or downloads of its own: `BAHasManagedAssetPacks`. Where a property list does not say, it is
  /// the latter if `BAManifestURL` is a web URL and no key tells of a site.
  public var hasManagedAssetPacks = true

  /// What downloads of the app's own may take before its first launch; nil: there is no limit.
  public var restrictions: InitialDownloadRestrictions?

  /// What such downloads take on the disk, in bytes: `BAMaxInstallSize`, for stores to show. Nil: the list does not say.
  public var maxInstallByteCount: Int?

  /// The folder of the group; nil: `$XDG_DATA_HOME/packstore/GROUP`, or `~/.local/share/packstore/GROUP`.
  public var groupFolder: FilePath?

  /// The property list that this was read from, an absolute path; nil: the program set it up, and the agent does nothing for the
  /// app.
  public var propertyList: FilePath?

  /// The app's extension, which the agent asks what to fetch: `PackStoreExtension`. Nil: there is none.
  public var downloaderExtension: FilePath?

  /// Where packs come from.
  public struct Site: Hashable, Sendable {
    /// An `http:`, `https:` or `file:` URL, or the path of a folder or archive.
    public var location: String

    /// The channel to follow; nil: the one that was followed last, or `live`.
    public var channel: SiteChannel?

    /// The key that must have signed the site; nil: the first contact pins the one that is found.
    public var trustedKey: SitePublicKey?

    /// Takes a site that is not signed, from a folder or archive only.
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

  public init(
    appGroupID: PackID, sites: [Site], appID: String = programName(), appVersion: AppVersion? = nil,
    essentialByteCount: Int? = nil, groupFolder: FilePath? = nil
  ) throws {
    guard !sites.isEmpty, sites.allSatisfy({ !$0.location.isEmpty }) else {
      throw ManagedPacksError(
        .invalidConfiguration, "no site is named to take packs from", remedy: "set BAManifestURL to the URL of one")
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

/// The name of the program that runs, without its folder.
public func programName() -> String {
  FilePath(CommandLine.arguments.first ?? "").lastComponent?.string ?? "program"
}
