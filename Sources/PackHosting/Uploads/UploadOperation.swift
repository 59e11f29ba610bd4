#if Hosting
  /// How a client sends one part.
  struct UploadOperation: Hashable, Sendable {
    let method: String
    let url: String
    let offset: Int64

    /// At least 1: clients refuse empty parts.
    let length: Int64
    let partNumber: Int
    let expiration: Timestamp
    let requestHeaders: [(name: String, value: String)] = [("Content-Type", "application/octet-stream")]

    static func == (first: UploadOperation, second: UploadOperation) -> Bool { first.url == second.url }
    func hash(into hasher: inout Hasher) { hasher.combine(url) }
  }
#endif
