/// A file that is fetched by a request.
public final class BAURLDownload: BADownload, @unchecked Sendable {
  /// - Parameters:
  ///   - identifier: the app's own name for it: one of its open downloads at a time has it.
  ///   - request: an `https` URL, or an `http` URL of this machine, and fields of the header. Only `GET` is known.
  ///   - essential: the app does not start before it has come or failed: only what an extension returns for an installation or
  ///     an update can be.
  ///   - fileSize: in bytes. Of an essential download the exact size: another one is a failure. 0: not known.
  ///   - applicationGroupIdentifier: the app's `BAAppGroupID`.
  ///   - priority: which of several goes first.
  public init(
    identifier: String, request: URLRequest, essential: Bool, fileSize: Int, applicationGroupIdentifier: String,
    priority: Priority = .default
  ) {
    var record = DownloadRecord(
      name: identifier, url: request.url?.absoluteString ?? "", group: applicationGroupIdentifier)
    record.fields = request.allHTTPHeaderFields ?? [:]
    record.isEssential = essential
    record.byteCount = fileSize
    record.priority = priority.rawValue
    // Only what a request for a file says can be kept.
    if let method = request.httpMethod, method != "GET" { record.url = "" }
    super.init(record)
  }

  /// One that is not essential.
  public convenience init(
    identifier: String, request: URLRequest, fileSize: Int, applicationGroupIdentifier: String
  ) {
    self.init(
      identifier: identifier, request: request, essential: false, fileSize: fileSize,
      applicationGroupIdentifier: applicationGroupIdentifier)
  }

  @available(
    *, deprecated, message: "state the file's size: init(identifier:request:fileSize:applicationGroupIdentifier:)"
  )
  public convenience init(identifier: String, request: URLRequest, applicationGroupIdentifier: String) {
    self.init(
      identifier: identifier, request: request, fileSize: 0, applicationGroupIdentifier: applicationGroupIdentifier)
  }

  @available(
    *, deprecated,
    message: "state the file's size: init(identifier:request:essential:fileSize:applicationGroupIdentifier:priority:)"
  )
  public convenience init(
    identifier: String, request: URLRequest, applicationGroupIdentifier: String, priority: Priority
  ) {
    self.init(
      identifier: identifier, request: request, essential: false, fileSize: 0,
      applicationGroupIdentifier: applicationGroupIdentifier, priority: priority)
  }

  override init(_ record: DownloadRecord) { super.init(record) }

  required init(copying record: DownloadRecord) { super.init(copying: record) }
}
