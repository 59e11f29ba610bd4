import PackStore

/// A URL from which a file may be fetched: `https`, or `http` on this machine only.
package struct FileLocation: Hashable, Sendable {
  package let host: String

  /// `nil` for any other URL.
  package init?(_ url: String) {
    #if Delivery
      guard let url = try? SiteURL(url), url.isSafe else { return nil }
      host = url.plainHost
    #else
      guard url.utf8.count <= 8192, let parsed = URL(string: url), parsed.scheme == "https", let host = parsed.host,
        !host.isEmpty, parsed.user == nil
      else { return nil }
      self.host = host.lowercased()
    #endif
  }
}
