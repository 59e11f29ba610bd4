import PackDelivery
import PackStore

/// The meaning of a storage's answer.
enum S3Answer {
  case done
  case missing

  /// A condition does not hold.
  case refused

  /// A temporary failure.
  case passing(DeliveryError, demanded: Duration?)

  /// The request was dated by a wrong clock: the answer contained the correct time.
  case misdated(DeliveryError)
  case failed(DeliveryError)

  /// - Parameters:
  ///   - code: the error code in the body; `nil`: none.
  ///   - region: the region of the bucket according to the answer.
  ///   - isConditional: whether the request had a condition (`If-Match`, `If-None-Match`).
  ///   - byteCount: the length of the request's body.
  init(
    status: UInt, code: String?, region: String?, retryAfter: Int?, at location: String, isConditional: Bool = false,
    byteCount: UInt64? = nil
  ) {
    let shown = "\(status)" + (code.map { " \($0)" } ?? "")
    func error(_ kind: DeliveryError.Code, _ reason: String, _ remedy: String) -> DeliveryError {
      var error = DeliveryError(kind, reason, at: location)
      error.specificRemedy = remedy
      return error
    }
    switch (status, code) {
    case (200..<300, _): self = .done
    case (404, "NoSuchBucket"):
      self = .failed(error(.noSite, "the bucket does not exist (\(shown))", "create it, or check its name"))
    case (404, _): self = .missing
    case (412, _), (304, _): self = .refused
    case (403, "RequestTimeTooSkewed"), (403, "RequestInTheFuture"), (403, "RequestExpired"):
      self = .misdated(
        error(.denied, "the storage refuses the time of the request (\(shown))", "correct this machine's clock"))
    case (400, "ExpiredToken"), (403, "ExpiredToken"), (400, "TokenRefreshRequired"), (403, "ExpiredTokenException"):
      self = .failed(
        error(.denied, "the credentials have expired (\(shown))", "get new ones, and run the command again to continue")
      )
    case (_, "InvalidAccessKeyId"), (_, "SignatureDoesNotMatch"), (_, "InvalidToken"),
      (_, "AuthorizationHeaderMalformed"):
      self = .failed(
        region.map { error(.denied, "the bucket is in the region \($0) (\(shown))", "use --region \($0)") }
          ?? error(
            .denied, "the storage does not accept these credentials (\(shown))",
            "check access key, secret, session token and region"))
    case (401, _), (403, _):
      self = .failed(
        error(
          .denied, "the credentials do not allow the request (\(shown))",
          "allow them to get, put and delete objects below the site's prefix and the ledger's, and to list the bucket;"
            + " otherwise Amazon does not report that an object is missing"))
    case (300..<400, _):
      self = .failed(
        error(
          .denied, "the bucket is at another endpoint or region (\(shown))",
          region.map { "use --region \($0)" } ?? "check the endpoint and the region"))
    case (413, _), (_, "EntityTooLarge"):
      let size = byteCount.map { "\($0) bytes" } ?? "this size"
      self = .failed(
        error(
          .denied, "the storage refuses an object of \(size) (\(shown))",
          "check whether a proxy in front of the storage limits uploads"))
    case (408, _), (409, _), (425, _), (429, _), (500..<600, _), (400, "RequestTimeout"), (400, "BadDigest"),
      (400, "XAmzContentSHA256Mismatch"), (400, "IncompleteBody"):
      guard status != 501 else {
        self = .failed(
          error(
            .badResponse, "the storage does not support the \(isConditional ? "condition" : "request") (\(shown))",
            "test the storage with 'packstore check-bucket'"))
        return
      }
      self = .passing(
        error(.unreachable, "the storage fails (\(shown))", "try again later; completed work is kept"),
        demanded: retryAfter.map { .seconds($0) })
    default:
      self = .failed(
        error(
          .badResponse, "the storage refuses the \(isConditional ? "condition" : "request") (\(shown))",
          "test the storage with 'packstore check-bucket'"))
    }
  }

  /// Whether the storage is full.
  static func isFull(status: UInt, code: String?) -> Bool {
    status == 507 || code.map { $0.hasSuffix("QuotaExceeded") || $0.hasSuffix("StorageFull") } ?? false
  }

  /// Returns the region in the body of an error: the element `Region`.
  static func region(in body: [UInt8]) -> String? {
    let text = String(decoding: body, as: UTF8.self)
    guard let match = text.firstMatch(of: /<Region>([A-Za-z0-9-]{1,64})<\/Region>/) else { return nil }
    return String(match.1)
  }

  /// Returns the error code in the body of an error: the element `Code` of the XML.
  static func code(in body: [UInt8]) -> String? {
    let text = String(decoding: body, as: UTF8.self)
    guard let match = text.firstMatch(of: /<Code>([A-Za-z0-9.]{1,64})<\/Code>/) else { return nil }
    return String(match.1)
  }
}

extension ObjectTag {
  /// The tag in an answer's `ETag`.
  ///
  /// Conditions of writes compare only strong tags (RFC 9110, 13.1.1), and an empty tag cannot distinguish contents: with such
  /// tags, every condition would fail, and a publisher would retry until it gives up.
  ///
  /// - Throws: `badResponse` for a missing, empty or weak tag.
  init(header text: String?, at location: String) throws {
    func refusal(_ reason: String) -> DeliveryError {
      var error = DeliveryError(.badResponse, reason, at: location)
      error.specificRemedy = "use the endpoint of the storage itself, not a proxy or cache that changes answers"
      return error
    }
    guard let text, let tag = ObjectTag(text) else {
      throw refusal("the answer of the storage has no ETag, which conditions need")
    }
    guard !text.hasPrefix("W/") else {
      throw refusal("the storage sends the weak ETag '\(text)', but conditions need a strong ETag")
    }
    guard text != "\"\"" else { throw refusal("the storage sends an empty ETag") }
    self = tag
  }
}
