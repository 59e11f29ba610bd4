import CPackStore

/// A pattern for paths, such as `*.bin` or `Levels/**/mesh`, in the syntax of ``Store/InstallOptions/mappedPaths``.
package struct PathPattern: Hashable, Sendable {
  package let text: String

  /// - Throws: `invalidArgument` for an invalid pattern.
  package init(_ text: String) throws {
    // A NUL would end the pattern in the core.
    let fault = text.utf8.contains(0) ? "contains a NUL" : pks_glob_fault(text).map { String(cString: $0) }
    if let fault { throw PackStoreError(.invalidArgument, fault, about: .pattern(text)) }
    self.text = text
  }

  /// Whether the pattern matches the path.
  package func matches(_ path: String) -> Bool { path.withPath { pks_glob_matches(text, $0, $1) } }
}
