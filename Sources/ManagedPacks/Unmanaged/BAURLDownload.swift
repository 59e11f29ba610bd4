/// A file downloaded by an HTTP request.
public final class BAURLDownload: BADownload, @unchecked Sendable {
  /// - Parameters:
  ///   - identifier: the app's name for the download; unique among its open downloads.
  ///   - request: an `https` URL, or an `http` URL of this machine, and header fields. The method must be `GET`.
  ///   - essential: whether the app does not start before the download has finished or failed. Permitted only for downloads that an
  ///     extension returns for an installation or an update.
  ///   - fileSize: the size in bytes, or 0 if unknown. For an essential download the exact size: another size is a failure.
  ///   - applicationGroupIdentifier: the app's `BAAppGroupID`.
  ///   - priority: the order of downloads.
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
    // A record contains only a URL and header fields.
    if let method = request.httpMethod, method != "GET" { record.url = "" }
    super.init(record)
  }

  /// Creates a download that is not essential.
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
