import ArgumentParser
import ManagedPacks
import PackDelivery
import PackStore

/// Sends the apps of a group to another server for a while.
struct OverrideURL: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "url-override",
    abstract: "Redirect a group of apps to another site temporarily.",
    discussion: """
      A group's apps and its agent receive packs from the site at a URL, with a separate store below the group's \
      folder. The packs, keys and minimum versions of the real store do not change, and apply again when the override \
      ends: after the time of '--for', or by 'clear'. Running apps notice an override at their next request to a \
      site.

        packstore url-override set https://localhost:8443 \\
            --ca authority.pem --trust KEY --for 2h
        packstore url-override status
        packstore url-override clear

      'set' requests the site's root first and reports the packs that it offers; if that fails, nothing changes. The \
      URL may also be a download manifest. A URL without a path selects the site, or else the manifest, that 'packstore \
      serve' offers there. The group need not exist yet. As in Apple's ba-serve, a URL alone sets it, and '--clear' \
      clears it.

      '--ca' sets the certificates for the server, and '--trust' the key that must have signed the site; both apply \
      only to this group and this override. Without '--trust', the first contact pins the site's key in the \
      override's store.

      '--group' is a group's id, the property list of one of its apps, or its folder. The default is the group of the \
      property list in PACKSTORE_BACKGROUND_ASSETS, or the only group of this user.
      """
  )

  @Argument(help: .init("The action: 'set' and a URL, 'clear', or 'status' (the default).", valueName: "what"))
  var words: [String] = []

  @Flag(name: .customLong("clear"), help: "Like the action 'clear'.")
  var clears = false

  @Option(help: .init("The group's id, folder, or the property list of an app.", valueName: "group"))
  var group: String?

  @Option(
    help: .init(
      "PEM file with the trusted certificates, in place of the system's.", valueName: "file"),
    completion: .file())
  var ca: String?

  @Option(help: .trustedKey, transform: parsePublicKey)
  var trust: SitePublicKey?

  @Option(help: .init("Channel of the site (default: live).", valueName: "name"), transform: parseChannel)
  var channel: SiteChannel?

  @Option(
    name: .customLong("for"),
    help: .init("Duration, such as 30m, 2h or 7d; at most a year (default: 2h).", valueName: "time"),
    transform: parseDuration)
  var time: Duration?

  @Flag(
    help: "Accept unsigned packs of the URL, such as Apple's asset packs; only over https, or http from this machine.")
  var allowUnsigned = false

  @Flag(help: "Set the override without a request to the server.")
  var noCheck = false

  @OptionGroup var report: ReportOptions

  private enum Action: Equatable {
    case set(String)
    case clear, status
  }

  private func action() throws -> Action {
    if clears {
      guard words.isEmpty else { throw ValidationError("--clear and an action exclude each other") }
      return .clear
    }
    switch (words.first, words.count) {
    case (nil, _), ("status", 1): return .status
    case ("clear", 1): return .clear
    case ("set", 2): return .set(words[1])
    case ("set", _): throw ValidationError("name the URL to set")
    case ("clear", _), ("status", _): throw ValidationError("'\(words[0])' accepts only --group")
    case (let url?, 1) where url.contains("://"): return .set(url)
    default: throw ValidationError("unknown action: use 'set' and a URL, 'clear' or 'status'")
    }
  }

  func validate() throws {
    if case .set(let url) = try action() {
      guard url.utf8.count <= URLOverride.urlByteCountLimit else { throw ValidationError("the URL is too long") }
      guard !allowUnsigned || trust == nil else {
        throw ValidationError("--allow-unsigned and --trust exclude each other")
      }
    } else {
      guard ca == nil, trust == nil, channel == nil, time == nil, !noCheck, !allowUnsigned else {
        throw ValidationError("--ca, --trust, --channel, --for, --no-check and --allow-unsigned need 'set'")
      }
    }
    if let time, time < .seconds(60) || time > .seconds(URLOverride.longestTime) {
      throw ValidationError("--for must be from 1m to 366d")
    }
  }

  func run() async throws {
    let folder: GroupFolder
    var found: FoundSite?
    let action = try action()
    switch action {
    case .set(let url):
      // Before the group is made, so that a mistake leaves nothing behind.
      try Self.check(url)
      let authority = try ca.map { try Self.certificates(in: $0) }
      found = noCheck ? nil : try await find(url, authority)
      folder = try openGroup(makes: true)
      try set(found?.url ?? url, authority, in: folder)
    case .clear:
      folder = try openGroup(makes: false)
      if pathExists(folder.path) { try OverrideFile(in: folder).clear() }
    case .status: folder = try openGroup(makes: false)
    }
    // A running agent reads the file immediately.
    if action != .status { AgentClient(in: folder).refresh() }
    try OverrideReport(folder, found).write(report)
  }

  /// - Parameter makes: whether to create a group that does not exist, because its apps were never launched.
  private func openGroup(makes: Bool) throws -> GroupFolder {
    let name: GroupName
    if let group {
      guard let named = GroupName(group) else {
        throw ValidationError(
          "'\(escaped(group))' is not a group's id, nor an existing property list or folder")
      }
      name = named
    } else {
      name = try GroupName.only(ProcessInfo.processInfo.environment)
    }
    return makes ? try name.make() : try name.find().folder
  }

  /// Requests the root of the site at a URL, or the download manifest there.
  ///
  /// - Throws: the errors of `Store.offers(at:)`, if neither exists.
  private func find(_ url: String, _ authority: String?) async throws -> FoundSite {
    var options = Store.PullOptions()
    options.authority = authority
    options.trustedKey = trust
    options.allowsUnsigned = allowUnsigned
    options.channel = channel
    let served = Self.served(url)
    if let site = served?.site, let found = try await ifExists({ try await Self.site(site, options) }) { return found }
    do {
      return FoundSite(url: url, packs: try await Store.offers(at: url, options: options).packs)
    } catch let error as DeliveryError where Self.meansAnotherKind(error) {
      for location in [served?.manifest, url].compactMap({ $0 }) {
        if let found = try await ifExists({ try await Self.manifest(location, options) }) { return found }
      }
      throw error
    }
  }

  private static func site(_ url: String, _ options: Store.PullOptions) async throws -> FoundSite {
    FoundSite(url: url, packs: try await Store.offers(at: url, options: options).packs)
  }

  private static func manifest(_ url: String, _ options: Store.PullOptions) async throws -> FoundSite {
    FoundSite(url: url, archives: try await DownloadManifestFile(url, options).archives())
  }

  /// Returns `nil` if nothing of the kind exists at the URL.
  private func ifExists(_ body: () async throws -> FoundSite) async throws -> FoundSite? {
    do { return try await body() } catch let error as DeliveryError where Self.meansAnotherKind(error) { return nil }
  }

  private static func meansAnotherKind(_ error: DeliveryError) -> Bool {
    [.noSite, .denied, .badResponse, .corrupt].contains(error.code)
  }

  /// The site and the manifest of `packstore serve` at a host and port; `nil` if the URL has a path.
  private static func served(_ url: String) -> (site: String, manifest: String)? {
    let parts = url.split(separator: "/", omittingEmptySubsequences: false)
    let hasPath = parts.count > 4 || parts.count == 4 && !parts[3].isEmpty || url.contains(where: { "?#".contains($0) })
    guard url.lowercased().hasPrefix("http"), parts.count >= 3, !hasPath else { return nil }
    let base = parts[..<3].joined(separator: "/")
    return (base + "/site", base + "/manifest")
  }

  private func set(_ url: String, _ authority: String?, in folder: GroupFolder) throws {
    let now = Int(Date().timeIntervalSince1970), seconds = Int((time ?? .seconds(7200)).components.seconds)
    let override = URLOverride(
      url: url, channel: channel, authority: authority, key: trust, allowsUnsigned: allowUnsigned, begin: now,
      end: now + seconds)
    let file = OverrideFile(in: folder)
    try file.set(override)
    file.sweep(keeping: override)
    guard trust == nil, !allowUnsigned, report.isTalkative else { return }
    warn(.unnamedKey, "no key is given, so the first contact trusts the key of the site; set it with --trust")
  }

  /// - Throws: the error that a pull from the URL would throw.
  private static func check(_ url: String) throws {
    guard !url.hasPrefix("file:///") else { return }
    #if Delivery
      _ = try SiteURL(url)
    #else
      throw DeliveryError(.noHTTP, "this program was built without HTTP", at: withoutSecrets(url))
    #endif
  }

  /// The certificates of a file; a secret key in the file is skipped.
  ///
  /// - Throws: `Failure` for a file without any.
  private static func certificates(in file: String) throws -> String {
    let bytes = try InputFile(FilePath(file)).contents(limit: URLOverride.authorityByteCountLimit)
    let text = String(validating: bytes, as: UTF8.self) ?? ""
    let found = text.matches(of: /-----BEGIN CERTIFICATE-----[^-]*-----END CERTIFICATE-----/).map { String($0.output) }
    guard !found.isEmpty else {
      throw Failure(
        .invalidArgument, "'\(escaped(file))': does not contain a certificate in PEM",
        remedy: "name the file with the server's authority", path: file)
    }
    return found.joined(separator: "\n") + "\n"
  }
}

/// A site or a download manifest that answered.
private struct FoundSite {
  let url: String
  var isManifest = false
  /// The packs that it offers this client, as `Tutorial@3`.
  let packs: [String]

  init(url: String, packs: [Store.SiteOffers.Pack]) {
    self.url = url
    self.packs = packs.compactMap { pack in pack.offer.map { "\(pack.pack.name)@\($0.version)" } }
  }

  init(url: String, archives: [ListedArchive]) {
    self.url = url
    isManifest = true
    packs = archives.map { "\($0.id.name)@\($0.number)" }
  }
}

/// The state of a group's override.
private struct OverrideReport: Encodable {
  enum State: String, Encodable { case none, active, ended, refused }

  let group: String
  let state: State
  let url, channel, key: String?
  /// Whether certificates are named in place of the system's.
  let hasAuthority: Bool?
  let allowsUnsigned: Bool?
  let endsAt: String?
  let store: String?
  let reason: String?
  /// After 'set': the versions that the site offers.
  let packs: [String]?
  /// Whether the URL is a download manifest, and its unsigned archives are refused.
  private let refusesAppleArchives: Bool

  private enum CodingKeys: CodingKey {
    case group, state, url, channel, key, hasAuthority, allowsUnsigned, endsAt, store, reason, packs
  }

  init(_ folder: GroupFolder, _ site: FoundSite?) throws {
    packs = site?.packs
    group = folder.path.string
    let found = OverrideFile(in: folder).state(at: Date().timeIntervalSince1970)
    var override: URLOverride?, refusal: ManagedPacksError?
    switch found {
    case .none: state = .none
    case .active(let active): (state, override) = (.active, active)
    case .ended(let ended): (state, override) = (.ended, ended)
    case .refused(let error): (state, refusal) = (.refused, error)
    }
    url = override.map { withoutSecrets($0.url) }
    channel = override?.channel?.name
    key = override?.key?.description
    hasAuthority = override.map { $0.authority != nil }
    allowsUnsigned = override?.allowsUnsigned
    refusesAppleArchives = site?.isManifest == true && override?.allowsUnsigned == false
    endsAt = override.map { formatDate(Date(timeIntervalSince1970: Double($0.end))) }
    store = try found.active.map { try folder.under($0, makes: false).store.string }
    reason = refusal?.description
  }

  func write(_ report: ReportOptions) throws {
    let output = Output()
    if report.json {
      try output.json(self)
    } else if !report.quiet {
      try output.line(escaped(text))
      if let packs {
        try output.line(escaped("the site offers \(packs.isEmpty ? "no packs" : packs.joined(separator: ", "))"))
      }
      if refusesAppleArchives {
        try output.line("unsigned packs, such as Apple's asset packs, are refused; --allow-unsigned accepts them")
      }
    }
    try output.flush()
  }

  private var text: String {
    let end = endsAt ?? ""
    return switch state {
    case .none: "\(group): no override; packs come from the sites of the apps"
    case .active: "\(group): packs come from \(url ?? "") until \(end), into \(store ?? "")"
    case .ended: "\(group): the override by \(url ?? "") has ended (\(end)); packs come from the sites of the apps"
    case .refused: "\(group): \(reason ?? "")"
    }
  }
}
