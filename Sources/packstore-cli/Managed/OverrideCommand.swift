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

      'set' requests the site's root first and reports the packs that it offers; if that fails, nothing changes. A URL \
      without a path selects the site that 'packstore serve' offers there. The group need not exist yet.

      '--ca' sets the certificates for the server, and '--trust' the key that must have signed the site; both apply \
      only to this group and this override. Without '--trust', the first contact pins the site's key in the \
      override's store.

      '--group' is a group's id, the property list of one of its apps, or its folder. The default is the group of the \
      property list in PACKSTORE_BACKGROUND_ASSETS, or the only group of this user.
      """
  )

  @Argument(help: .init("The action: 'set' and a URL, 'clear', or 'status'.", valueName: "what"))
  var words: [String] = ["status"]

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

  @Flag(help: "Set the override without a request to the server.")
  var noCheck = false

  @OptionGroup var report: ReportOptions

  func validate() throws {
    switch words.first {
    case "set":
      guard words.count == 2 else { throw ValidationError("name the URL to set") }
      guard words[1].utf8.count <= URLOverride.urlByteCountLimit else { throw ValidationError("the URL is too long") }
    case "clear", "status":
      guard words.count == 1 else { throw ValidationError("'\(words[0])' accepts only --group") }
      guard ca == nil, trust == nil, channel == nil, time == nil, !noCheck else {
        throw ValidationError("--ca, --trust, --channel, --for and --no-check need 'set'")
      }
    default: throw ValidationError("unknown action: use 'set' and a URL, 'clear' or 'status'")
    }
    if let time, time < .seconds(60) || time > .seconds(URLOverride.longestTime) {
      throw ValidationError("--for must be from 1m to 366d")
    }
  }

  func run() async throws {
    let folder: GroupFolder
    var found: FoundSite?
    switch words.first {
    case "set":
      // Before the group is made, so that a mistake leaves nothing behind.
      try Self.check(words[1])
      let authority = try ca.map { try Self.certificates(in: $0) }
      found = noCheck ? nil : try await find(words[1], authority)
      folder = try openGroup()
      try set(found?.url ?? words[1], authority, in: folder)
    case "clear":
      folder = try openGroup()
      if pathExists(folder.path) { try OverrideFile(in: folder).clear() }
    default: folder = try openGroup()
    }
    // An agent that runs hears of it at once.
    if words.first != "status" { AgentClient(in: folder).refresh() }
    try OverrideReport(folder, found).write(report)
  }

  private func openGroup() throws -> GroupFolder {
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
    // A group can be overridden before the first launch of an app. Other actions create nothing.
    return words.first == "set" ? try name.make() : try name.find().folder
  }

  /// Requests the root of the site at a URL.
  ///
  /// - Throws: the errors of `Store.offers(at:)`.
  private func find(_ url: String, _ authority: String?) async throws -> FoundSite {
    var options = Store.PullOptions()
    options.authority = authority
    options.trustedKey = trust
    options.channel = channel
    if let served = Self.servedSite(url) {
      do {
        return FoundSite(url: served, packs: try await Store.offers(at: served, options: options).packs)
      } catch let error as DeliveryError where [.noSite, .denied, .badResponse].contains(error.code) {}
    }
    return FoundSite(url: url, packs: try await Store.offers(at: url, options: options).packs)
  }

  /// The site of `packstore serve` at a host and port; `nil` if the URL has a path.
  private static func servedSite(_ url: String) -> String? {
    let parts = url.split(separator: "/", omittingEmptySubsequences: false)
    let hasPath = parts.count > 4 || parts.count == 4 && !parts[3].isEmpty || url.contains(where: { "?#".contains($0) })
    guard url.lowercased().hasPrefix("http"), parts.count >= 3, !hasPath else { return nil }
    return parts[..<3].joined(separator: "/") + "/site"
  }

  private func set(_ url: String, _ authority: String?, in folder: GroupFolder) throws {
    let now = Int(Date().timeIntervalSince1970), seconds = Int((time ?? .seconds(7200)).components.seconds)
    let override = URLOverride(
      url: url, channel: channel, authority: authority, key: trust, begin: now, end: now + seconds)
    let file = OverrideFile(in: folder)
    try file.set(override)
    file.sweep(keeping: override)
    guard trust == nil, report.isTalkative else { return }
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

/// A site that answered.
private struct FoundSite {
  let url: String
  /// The packs that it offers this client, as `Tutorial@3`.
  let packs: [String]

  init(url: String, packs: [Store.SiteOffers.Pack]) {
    self.url = url
    self.packs = packs.compactMap { pack in pack.offer.map { "\(pack.pack.name)@\($0.version)" } }
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
  let endsAt: String?
  let store: String?
  let reason: String?
  /// After 'set': the versions that the site offers.
  let packs: [String]?

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
