// Foundation's types for requests and challenges. On Linux these are in FoundationNetworking, which adds a second implementation of
// HTTP with 31 libraries to each program and extension: `Docs/Decisions/0024-requests-have-types-of-their-own.md`. The types here
// have the same names and the members that a download uses. A file that also imports FoundationNetworking writes
// `ManagedPacks.URLRequest`.

#if !canImport(Darwin)
  /// A request to a server: a URL and header fields.
  public struct URLRequest: Hashable, Sendable {
    public var url: URL?

    /// Names are compared without regard to case.
    public private(set) var allHTTPHeaderFields: [String: String]?

    /// `GET`; downloads support no other method.
    public var httpMethod: String? = "GET"

    public init(url: URL) { self.url = url }

    /// Returns the value of a field; `nil` if the request does not have the field.
    public func value(forHTTPHeaderField field: String) -> String? {
      name(of: field).flatMap { allHTTPHeaderFields?[$0] }
    }

    /// Sets a field, or removes it if the value is `nil`.
    public mutating func setValue(_ value: String?, forHTTPHeaderField field: String) {
      let name = name(of: field) ?? field
      var fields = allHTTPHeaderFields ?? [:]
      fields[name] = value
      allHTTPHeaderFields = fields
    }

    /// Appends a value to a field, separated by a comma.
    public mutating func addValue(_ value: String, forHTTPHeaderField field: String) {
      setValue(self.value(forHTTPHeaderField: field).map { "\($0),\(value)" } ?? value, forHTTPHeaderField: field)
    }

    private func name(of field: String) -> String? {
      allHTTPHeaderFields?.keys.first { $0.lowercased() == field.lowercased() }
    }
  }

  /// A name and a password.
  public final class URLCredential: Hashable, Sendable {
    public enum Persistence: UInt, Sendable {
      case none, forSession, permanent, synchronizable
    }

    public let user: String?
    public let password: String?
    public let persistence: Persistence

    public var hasPassword: Bool { password != nil }

    public init(user: String, password: String, persistence: Persistence) {
      self.user = user
      self.password = password
      self.persistence = persistence
    }

    public static func == (one: URLCredential, other: URLCredential) -> Bool {
      one.user == other.user && one.password == other.password && one.persistence == other.persistence
    }

    public func hash(into hasher: inout Hasher) {
      hasher.combine(user)
      hasher.combine(password)
    }
  }

  /// The part of a server that requires authentication.
  public final class URLProtectionSpace: Hashable, Sendable {
    public let host: String
    public let port: Int
    public let `protocol`: String?
    public let realm: String?
    public let authenticationMethod: String

    public init(host: String, port: Int, protocol: String?, realm: String?, authenticationMethod: String?) {
      self.host = host
      self.port = port
      self.protocol = `protocol`
      self.realm = realm
      self.authenticationMethod = authenticationMethod ?? NSURLAuthenticationMethodDefault
    }

    public var receivesCredentialSecurely: Bool { `protocol` == "https" }

    public static func == (one: URLProtectionSpace, other: URLProtectionSpace) -> Bool {
      one.host == other.host && one.port == other.port && one.protocol == other.protocol && one.realm == other.realm
        && one.authenticationMethod == other.authenticationMethod
    }

    public func hash(into hasher: inout Hasher) {
      hasher.combine(host)
      hasher.combine(port)
      hasher.combine(realm)
    }
  }

  /// A server's request for authentication.
  public final class URLAuthenticationChallenge: Sendable {
    public let protectionSpace: URLProtectionSpace
    public let proposedCredential: URLCredential?
    public let previousFailureCount: Int

    init(protectionSpace: URLProtectionSpace, proposedCredential: URLCredential?, previousFailureCount: Int) {
      self.protectionSpace = protectionSpace
      self.proposedCredential = proposedCredential
      self.previousFailureCount = previousFailureCount
    }
  }

  /// The namespace that Foundation uses for the answer to a challenge.
  public enum URLSession {
    public enum AuthChallengeDisposition: Int, Sendable {
      case useCredential
      case performDefaultHandling
      case cancelAuthenticationChallenge
      case rejectProtectionSpace
    }
  }

  public let NSURLAuthenticationMethodDefault = "NSURLAuthenticationMethodDefault"
  public let NSURLAuthenticationMethodHTTPBasic = "NSURLAuthenticationMethodHTTPBasic"

  private func makeChallenge(_ space: URLProtectionSpace, _ failureCount: Int) -> URLAuthenticationChallenge {
    URLAuthenticationChallenge(
      protectionSpace: space, proposedCredential: nil, previousFailureCount: failureCount)
  }
#else
  /// Required by Foundation; challenges of downloads do not use it.
  private final class ChallengeSender: NSObject, URLAuthenticationChallengeSender {
    func use(_ credential: URLCredential, for challenge: URLAuthenticationChallenge) {}
    func continueWithoutCredential(for challenge: URLAuthenticationChallenge) {}
    func cancel(_ challenge: URLAuthenticationChallenge) {}
  }

  private func makeChallenge(_ space: URLProtectionSpace, _ failureCount: Int) -> URLAuthenticationChallenge {
    URLAuthenticationChallenge(
      protectionSpace: space, proposedCredential: nil, previousFailureCount: failureCount, failureResponse: nil,
      error: nil, sender: ChallengeSender())
  }
#endif

extension FileChallenge {
  /// The challenge in the form that an app or extension receives.
  var authentication: URLAuthenticationChallenge {
    let space = URLProtectionSpace(
      host: host, port: port, protocol: scheme, realm: realm,
      authenticationMethod: NSURLAuthenticationMethodHTTPBasic)
    return makeChallenge(space, failureCount)
  }
}

extension FileChallengeReply {
  init(_ disposition: URLSession.AuthChallengeDisposition, _ credential: URLCredential?) {
    switch disposition {
    case .useCredential:
      guard let user = credential?.user, let password = credential?.password else {
        self = .none
        return
      }
      self = .credential(user: user, password: password)
    case .cancelAuthenticationChallenge: self = .cancel
    default: self = .none
    }
  }
}
