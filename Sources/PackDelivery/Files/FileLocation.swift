import PackStore

/// Where a file may come from: `https`, and `http` from this machine alone.
package struct FileLocation: Hashable, Sendable {
  package let host: String

  /// Nil: no file is fetched from there.
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
