public import PackStore

/// An error of a transfer from a site: the location, the fault, and the remedy.
///
/// Errors of the store itself are `PackStoreError`.
public struct DeliveryError: Error, Hashable, Sendable {
  public var code: Code

  /// The fault, in a few English words that follow the name of the location.
  public var reason: String

  /// The URL or path of the file or site concerned. A URL contains no user's name and password, and `?...` in place of its query.
  public var location: String?

  /// The byte offset in the file.
  public var offset: UInt64?

  /// The remedy, if the general remedy for ``code`` does not help.
  package var specificRemedy: String?

  /// A limit of the caller that ended the pull, and that may be raised.
  package enum Limit: String, CaseIterable, Sendable {
    case metadata, redirects, privateRedirects, answer, rate, root
  }

  package var limit: Limit?

  /// Whether the place lacks the root that a site has.
  package private(set) var isMissingRoot = false

  /// Whether the server refused a request without an authorization.
  package var needsAuthorization = false

  /// With ``Code/otherKey``: the origin that the store trusts at the place.
  package var trustedOrigin: Store.Origin?

  /// The pack concerned.
  package var pack: PackID?

  /// Names of existing packs that are similar.
  package var suggestions: [String] = []

  package init(
    _ code: Code, _ reason: String, at location: String? = nil, offset: UInt64? = nil, limit: Limit? = nil
  ) {
    self.code = code
    self.reason = hidingSecrets(in: reason)
    self.location = location.map(withoutSecrets)
    self.offset = offset
    self.limit = limit
  }
}

extension DeliveryError {
  /// Creates an error about a version requested by its number. No signed file refers to other versions than those in the site's
  /// roots.
  init(
    notOffered pack: PackID, _ number: UInt64, but offered: [UInt64], by channel: SiteChannel?, at location: String
  ) {
    let place = channel.map { "the channel '\($0)'" } ?? "the archive"
    let others = offered.map(String.init).joined(separator: ", ")
    self.init(
      .noPack, "\(place) does not offer version \(number) of '\(pack)' (offered: \(others))", at: location)
    self.pack = pack
    specificRemedy =
      "name another store that has this version, or ask the publisher to promote it again"
  }

  /// Creates an error about a place without a root.
  package init(noRoot path: String, at location: String) {
    self.init(.noSite, "not a site (the file '\(path)' does not exist)", at: location)
    isMissingRoot = true
  }

  /// Creates an error about a file of a folder or archive that cannot be read, or is not a file.
  init(cannotRead error: any Error, at location: String, offset: UInt64? = nil) {
    guard let error = error as? PackStoreError else {
      self.init(.ioError, "cannot read the file (\(error))", at: location, offset: offset)
      return
    }
    let cause = error.systemError.map { ": \($0)" } ?? ""
    self.init(.ioError, error.reason + cause, at: location, offset: offset)
  }
}

extension DeliveryError {
  /// The kind of an error. Later versions may add kinds.
  public struct Code: Hashable, Sendable {
    /// The codes as an enumeration, for exhaustive `switch` statements.
    package enum Known: String, CaseIterable, Sendable {
      case invalidLocation, noHTTP, noSite, noPack, unreachable, ioError, denied, badResponse, siteChanged, corrupt,
        newerFormat
      case otherDraft, notSigned, badSignature, otherKey, otherChannel, closedChannel, forkedRoot, fromTheFuture,
        tooOld, expired
    }

    package let known: Known

    package init(_ known: Known) { self.known = known }

    /// The place is invalid: neither a URL that can be fetched nor a folder.
    public static let invalidLocation = Self(.invalidLocation)
    /// This program was built without HTTP, which the trait Delivery of the package adds.
    public static let noHTTP = Self(.noHTTP)
    /// No site exists at the place.
    public static let noSite = Self(.noSite)
    /// The site has no such pack.
    public static let noPack = Self(.noPack)
    /// No usable answer after all attempts: the network or the server is down.
    public static let unreachable = Self(.unreachable)
    /// A file of this machine cannot be read or written.
    public static let ioError = Self(.ioError)
    /// The server refused the request: a status of 400 to 499.
    public static let denied = Self(.denied)
    /// The server, or a proxy, violates HTTP.
    public static let badResponse = Self(.badResponse)
    /// The site changed twice while it was read.
    public static let siteChanged = Self(.siteChanged)
    /// The received bytes do not match the signed root.
    public static let corrupt = Self(.corrupt)
    /// The site was written by a later version of this library.
    public static let newerFormat = Self(.newerFormat)
    /// The site was written by a version of PackStore with another draft of the format.
    public static let otherDraft = Self(.otherDraft)
    /// The root is not signed. Unsigned sites are accepted only in folders, and only on request.
    public static let notSigned = Self(.notSigned)
    /// The root's signature is wrong.
    public static let badSignature = Self(.badSignature)
    /// The root is signed by a key other than the trusted one.
    public static let otherKey = Self(.otherKey)
    /// The site returned the root of another channel.
    public static let otherChannel = Self(.otherChannel)
    /// The site has closed the channel: installed packs stay, and nothing more comes.
    public static let closedChannel = Self(.closedChannel)
    /// Two different roots have the same sequence number: the publisher, or a thief of the key, shows different sites to different
    /// clients.
    public static let forkedRoot = Self(.forkedRoot)
    /// The root's date is in the future.
    public static let fromTheFuture = Self(.fromTheFuture)
    /// The root is older than the requested maximum age.
    public static let tooOld = Self(.tooOld)
    /// The root has expired.
    public static let expired = Self(.expired)
  }
}

extension DeliveryError.Code: CustomStringConvertible {
  /// A short name, such as `corrupt`.
  public var description: String { known.rawValue }
}

extension DeliveryError: CustomStringConvertible {
  /// One line, `object: fault; remedy`.
  public var description: String { remedy.map { "\(finding); \($0)" } ?? finding }

  /// The object and the fault.
  public var finding: String {
    guard let location else { return reason }
    return "'\(location)'" + (offset.map { ", byte \($0)" } ?? "") + ": \(reason)"
  }

  /// What to do about it, in terms of this library; `nil` if the finding is enough.
  public var remedy: String? {
    if let specificRemedy { return specificRemedy }
    if let limit { return remedy(for: limit) }
    if needsAuthorization { return "set PullOptions.authorization to a token or password for the site" }
    return switch code {
    case .noHTTP: "build PackStore with its trait Delivery, or pull from a folder or an archive"
    case .noPack: suggestions.isEmpty ? nil : "did you mean \(alternatives(suggestions))?"
    case .unreachable: "try again later; received data is kept"
    case .badResponse: "try again later; if the error persists, report it to the publisher of the site"
    case .siteChanged: "try again when the site is complete"
    case .corrupt: "try again; if the error persists, report it to the publisher of the site"
    case .newerFormat: "update PackStore"
    case .otherDraft: "use the version of PackStore that published it, or ask the publisher to publish it again"
    case .notSigned: "set PullOptions.allowsUnsigned to accept an unsigned folder"
    case .otherKey: "before you trust the new key, ask the publisher whether the key was replaced"
    case .closedChannel: "follow another channel of the site; the installed packs stay"
    case .otherChannel: "ask the publisher to upload each root to its own path again"
    case .forkedRoot: "ask the publisher whether the key was stolen"
    case .fromTheFuture: "check the clock, and ask the publisher"
    case .tooOld: "try again later, or ask the publisher"
    case .expired: "ask the publisher to publish a newer root"
    default: nil
    }
  }

  private func remedy(for limit: Limit) -> String {
    switch limit {
    case .metadata: "if you trust the site, raise PullOptions.limits.metadataByteLimit"
    case .redirects: "if you trust the site, raise PullOptions.limits.redirectLimit"
    case .privateRedirects: "if you trust the site, set PullOptions.limits.allowsPrivateRedirects"
    case .answer: "try again later, or raise PullOptions.limits.answerLimit; received data is kept"
    case .rate: "try again later, or lower PullOptions.limits.minimumByteRate; received data is kept"
    case .root: "try again later, or raise PullOptions.limits.rootLimit"
    }
  }
}

/// What `localizedDescription` shows: the same English line as ``DeliveryError/description``.
extension DeliveryError: LocalizedError {
  public var errorDescription: String? { description }
  public var failureReason: String? { finding }
  public var recoverySuggestion: String? { remedy }
}
