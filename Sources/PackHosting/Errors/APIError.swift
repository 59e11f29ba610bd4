#if Hosting
  /// An error that a client of the API receives.
  struct APIError: Error, Hashable, Sendable {
    enum Source: Hashable, Sendable {
      /// A path in the body, such as `/data/attributes/assetPackIdentifier`.
      case pointer(String)
      /// The name of a query parameter.
      case parameter(String)
    }

    /// The HTTP status.
    let status: Int

    /// A dotted code. Clients compare it exactly, so each cause has one code.
    let code: String
    let title: String
    let detail: String
    var source: Source?

    /// Causes of a state fault, by the path of the object, such as `/v1/backgroundAssetVersions/<id>`.
    var associated: [String: [APIError]] = [:]

    init(_ status: Int, _ code: String, _ title: String, _ detail: String, at source: Source? = nil) {
      (self.status, self.code, self.title, self.detail, self.source) = (status, code, title, detail, source)
    }
  }

  /// Several errors of one request, in order.
  struct APIErrors: Error, Hashable, Sendable {
    let all: [APIError]
  }
#endif
