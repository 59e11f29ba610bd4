#if Serving
  import HTTPTypes
  import PackStore

  /// An answered request: one line of the log.
  public struct RequestNote: Sendable {
    /// The client's address.
    public let client: String
    public let method: String
    /// The target as requested, which may be any text.
    public let target: String
    public let range: String?
    public let isHTTP2: Bool
    public internal(set) var status = 0
    /// The number of bytes of the body that were sent.
    public internal(set) var byteCount: UInt64 = 0
    public internal(set) var duration: Duration = .zero
    /// The reason why the answer was not sent completely.
    public internal(set) var failure: String?

    var subject: Subject?

    /// The largest number of characters of a target and of a range that are kept.
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
