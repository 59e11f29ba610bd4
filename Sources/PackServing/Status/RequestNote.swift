#if Serving
  import HTTPTypes
  import PackStore

  /// A request that was answered: one line of the log.
  public struct RequestNote: Sendable {
    /// The client's address.
    public let client: String
    public let method: String
    /// As it was asked for, which may be anything.
    public let target: String
    public let range: String?
    public let isHTTP2: Bool
    public internal(set) var status = 0
    /// Of the body, as far as it was sent.
    public internal(set) var byteCount: UInt64 = 0
    public internal(set) var duration: Duration = .zero
    /// Why the answer was not sent whole.
    public internal(set) var failure: String?

    var subject: Subject?

    /// The most bytes of a target and of a range that are kept.
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
