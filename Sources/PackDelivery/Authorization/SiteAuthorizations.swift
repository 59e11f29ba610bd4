import PackStore

/// The authorizations for the sites of a command: of the user's options, the environment, and a file `.netrc`.
///
/// A token or header field names no host: it goes to the sites of a command only if they are on one server. An entry of `.netrc`
/// names its host.
package struct SiteAuthorizations: Sendable {
  /// Where the user put a token or header fields.
  package enum Given: Sendable {
    case token(String, source: String)
    case headerLines(String, source: String)
  }

  /// The variable of the environment with a token.
  package static let tokenVariable = "PACKSTORE_TOKEN"

  /// Faults that stop nothing.
  package private(set) var warnings: [String] = []

  private var given: SiteAuthorization?
  private var netrc: (text: String, file: String)?

  /// - Parameters:
  ///   - given: of an option; `nil`: the environment decides.
  ///   - sites: all that the command may read from.
  /// - Throws: `invalidLocation`; `ioError` for a `.netrc` that cannot be read.
  package init(_ given: Given?, for sites: [String], environment: [String: String]) throws {
    let servers = Set(sites.compactMap(serverOfSite))
    guard let server = servers.first else { return }
    try readNetrc(environment)
    if let given {
      guard servers.count == 1 else { throw Self.tooManyServers }
      self.given = try Self.authorization(given)
    } else if let token = environment[Self.tokenVariable], !token.isEmpty {
      guard servers.count == 1 else {
        warnings.append("\(Self.tokenVariable) is not used: the sites are on several servers; name them in ~/.netrc")
        return
      }
      self.given = try Self.authorization(.token(token, source: "the variable \(Self.tokenVariable)"))
    }
    if self.given != nil, Self.isReadableOnTheWay(to: server) {
      warnings.append("the authorization goes to '\(server)' unencrypted: use https")
    }
  }

  /// The authorization for a site; `nil` if none is known.
  ///
  /// - Throws: `invalidLocation`.
  package func authorization(for site: String) throws -> SiteAuthorization? {
    guard serverOfSite(site) != nil else { return nil }
    if let given { return given }
    return try netrc.flatMap { try SiteAuthorization(for: site, inNetrc: $0.text, file: $0.file) }
  }

  private static func authorization(_ given: Given) throws -> SiteAuthorization {
    do {
      switch given {
      case .token(let text, _): return try SiteAuthorization(bearerToken: text.trimmedLineEnds)
      case .headerLines(let text, _): return try SiteAuthorization(headerLines: text)
      }
    } catch var error as DeliveryError {
      error.reason = "\(given.source): \(error.reason)"
      throw error
    }
  }

  private static var tooManyServers: DeliveryError {
    var error = DeliveryError(.invalidLocation, "one token for sites on several servers")
    error.specificRemedy = "name the servers in ~/.netrc"
    return error
  }

  /// `http` to another machine.
  private static func isReadableOnTheWay(to server: String) -> Bool {
    server.hasPrefix("http:") && !server.contains(/^http:\/\/(localhost|127\.[0-9.]+|\[::1\]):/)
  }

  /// A missing file, or a device such as `/dev/null`, has no entries.
  private mutating func readNetrc(_ environment: [String: String]) throws {
    let home = environment["HOME"].flatMap { $0.isEmpty ? nil : "\($0)/.netrc" }
    guard let name = environment["NETRC"].flatMap({ $0.isEmpty ? nil : $0 }) ?? home else { return }
    do {
      let file = try InputFile(FilePath(name))
      let text = String(decoding: try file.contents(limit: Netrc.byteCountLimit), as: UTF8.self)
      netrc = (text, name)
      if !text.isEmpty, try file.isOpenToOthers { warnings.append(Self.openToOthers(name)) }
    } catch let error as PackStoreError {
      guard ![.notFound, .wrongKind].contains(error.code) else { return }
      throw DeliveryError(cannotRead: error, at: name)
    }
  }

  /// The warning about a file with secrets that other users can read.
  package static func openToOthers(_ file: String) -> String {
    "others can read the passwords or tokens in '\(file)': run 'chmod 600 \(file)'"
  }
}

extension SiteAuthorizations.Given {
  fileprivate var source: String {
    switch self {
    case .token(_, let source), .headerLines(_, let source): source
    }
  }
}

extension String {
  /// Without the line ends that editors and 'echo' add.
  fileprivate var trimmedLineEnds: String {
    var text = self[...]
    while text.last?.isNewline == true { text.removeLast() }
    return String(text)
  }
}
