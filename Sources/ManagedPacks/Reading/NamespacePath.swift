extension ManagedPacksError {
  fileprivate static func invalidPath(_ path: FilePath, _ fault: String) -> Self {
    Self(
      .invalidPath, "the path '\(path)' \(fault)",
      remedy: "use a path relative to the root of the packs, such as Videos/Introduction.m4v")
  }
}

/// Returns a path of the namespace in the form that the store uses.
///
/// - Throws: ``ManagedPacksError`` `invalidPath` for a path that is absolute, is empty, or contains `..`.
package func namespacePath(_ path: FilePath) throws -> String {
  guard path.isRelative else { throw ManagedPacksError.invalidPath(path, "is absolute") }
  let parts = path.components.filter { $0.kind != .currentDirectory }
  guard !parts.contains(where: { $0.kind == .parentDirectory }) else {
    throw ManagedPacksError.invalidPath(path, "leads out of the root of the packs")
  }
  guard !parts.isEmpty else { throw ManagedPacksError.invalidPath(path, "is empty") }
  return parts.map(\.string).joined(separator: "/")
}
