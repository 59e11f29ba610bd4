#if Hosting
  /// An operation of the API. The table of routes is the only description of the API: it drives routing, refusal, access and the
  /// OpenAPI document.
  struct Route: Sendable {
    enum Method: String, CaseIterable, Sendable {
      case get = "GET"
      case post = "POST"
      case patch = "PATCH"
      case delete = "DELETE"
    }

    /// The body of a successful answer.
    enum Result: Sendable {
      case one(ResourceKind)
      case many(ResourceKind)
      case linkages(ResourceKind)
      /// The resource of a relationship to one, or null.
      case related(ResourceKind)
      /// The linkage of a relationship to one, or null.
      case linkage(ResourceKind)
      case nothing

      /// The kind of the resources; `nil` without a body.
      var kind: ResourceKind? {
        switch self {
        case .one(let kind), .many(let kind), .linkages(let kind), .related(let kind), .linkage(let kind): kind
        case .nothing: nil
        }
      }
    }

    let method: Method

    /// The path, with `{id}` in the place of an id.
    let path: String

    /// A summary of the operation, for the OpenAPI document.
    let summary: String

    /// The right that the caller needs.
    var right = Right.read
    var parameters: [ParameterSchema] = []

    /// Types of resources that `included` may have.
    var included: [ResourceKind] = []
    var body: BodySchema?

    /// The largest body in bytes; `nil` for the server's limit.
    var bodyByteCount: Int?
    let result: Result
    let handle: @Sendable (Call) async throws -> Answer

    /// The status of success.
    var status: Int {
      switch (method, result) {
      case (_, .nothing): 204
      case (.post, _): 201
      default: 200
      }
    }

    /// All parameters: lists accept the cursor of `links.next`.
    var allParameters: [ParameterSchema] { isList ? parameters + [.cursor] : parameters }

    var isList: Bool {
      switch result {
      case .many, .linkages: true
      case .one, .related, .linkage, .nothing: false
      }
    }

    /// Names of the operations in refusals, as App Store Connect writes them.
    var operation: String { Self.operation(method.rawValue, isCollection: !path.contains("{id}")) }

    static func operation(_ method: String, isCollection: Bool) -> String {
      switch Method(rawValue: method) {
      case .get: isCollection ? "GET_COLLECTION" : "GET_INSTANCE"
      case .post: "CREATE"
      case .patch: "UPDATE"
      case .delete: "DELETE"
      case nil: method
      }
    }
  }
#endif
