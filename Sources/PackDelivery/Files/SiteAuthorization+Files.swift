extension SiteAuthorization {
  /// The header fields for a file that a site lists; empty if the file is on another server.
  package func requestFields(for url: String, listedAt site: String) -> [String: String] {
    #if Delivery
      guard let file = try? SiteURL(url), let site = try? SiteURL(site), file.hasSameOrigin(as: site) else {
        return [:]
      }
      return Dictionary(fields.map { ($0.name, $0.value) }) { $1 }
    #else
      return [:]
    #endif
  }
}
