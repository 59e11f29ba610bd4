#if Delivery
  import AsyncHTTPClient
  import NIOHTTP1

  /// The target of a request, updated by redirects.
  struct Redirections {
    private(set) var url: SiteURL
    /// Whether the target may be in a private network: false once a public server redirected there.
    private(set) var mayBePrivate: Bool
    private(set) var count = 0
    private let limit: Int

    init(from url: SiteURL, mayBePrivate: Bool, limit: Int) {
      self.url = url
      self.mayBePrivate = mayBePrivate
      self.limit = max(limit, 0)
    }

    /// Whether a response is a redirect; `url` is then the new target.
    mutating func follow(_ response: HTTPClientResponse, by clients: HTTPClients) throws -> Bool {
      guard [.movedPermanently, .found, .seeOther, .temporaryRedirect, .permanentRedirect].contains(response.status)
      else { return false }
      guard count < limit else {
        throw DeliveryError(
          .badResponse, "the server redirects more than \(limit) times", at: url.text, limit: .redirects)
      }
      guard let target = response.headers.first(name: "Location") else {
        throw DeliveryError(.badResponse, "the server redirects without a location", at: url.text)
      }
      count += 1
      mayBePrivate = mayBePrivate && clients.isPrivate(url)
      url = try url.redirected(to: target)
      return true
    }
  }
#endif
