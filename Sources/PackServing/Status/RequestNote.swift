#if Serving
  import HTTPTypes
  import PackServer
  import PackStore

  /// An answered request: one line of the log.
  public struct RequestNote: Sendable {
    /// The client's address.
    public let client: String
    public let method: String
    /// The target as requested, which may be any text.
    public let target: String
    /// The `Range` field of the request; `nil` if the request does not contain it.
    public let range: String?
    public let isHTTP2: Bool
    /// The status code of the answer.
    public internal(set) var status = 0
    /// The number of bytes of the body that were sent.
    public internal(set) var byteCount: UInt64 = 0
    /// The time taken to send the answer.
    public internal(set) var duration: Duration = .zero
    /// The reason why the answer was not sent completely.
    public internal(set) var failure: String?

    var subject: Subject?

    /// The version that the request belongs to; `nil` if it is unknown.
    var version: String?

    /// The maximum number of characters of a target or range that are kept.
    static let textLimit = 512

    init(_ head: HTTPRequest, client: String, isHTTP2: Bool) {
      self.client = client
      self.isHTTP2 = isHTTP2
      method = String(head.method.rawValue.prefix(16))
      target = String((head.path ?? "").prefix(Self.textLimit))
      range = head.headerFields[.range].map { String($0.prefix(Self.textLimit)) }
    }
  }
#endif
