#if Hosting
  /// The requests that a token's `scope` permits.
  enum TokenScope {
    /// Parameters that do not count in the comparison.
    private static let ignored: Set = ["limit", "cursor", "sort"]

    /// Returns whether one entry, such as `GET /v1/apps?filter[platform]=IOS`, permits the request. An empty scope permits none.
    ///
    /// - Parameter target: path and query of the request.
    static func permits(_ scope: [String], method: String, target: String) -> Bool {
      guard let request = parse(target) else { return false }
      return scope.contains { entry in
        let parts = entry.split(separator: " ", maxSplits: 1)
        guard parts.count == 2, parts[0] == method, let permitted = parse(String(parts[1])) else { return false }
        return permitted.path == request.path && permitted.query == request.query
      }
    }

    private static func parse(_ target: String) -> (path: String, query: [String: String])? {
      let cut = target.firstIndex(of: "?")
      let path = String(cut.map { target[..<$0] } ?? target[...])
      var query: [String: String] = [:]
      for field in (cut.map { target[target.index(after: $0)...] } ?? "").split(separator: "&") {
        let parts = field.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
        guard let name = PercentEncoding.decodeQuery(parts[0]),
          let value = PercentEncoding.decodeQuery(parts.count > 1 ? parts[1] : "")
        else { return nil }
        if ignored.contains(name) { continue }
        guard query.updateValue(value, forKey: name) == nil else { return nil }
      }
      return (path, query)
    }
  }
#endif
