extension ManagedPacksError {
  fileprivate static func invalidPath(_ path: FilePath, _ fault: String) -> Self {
    Self(
      .invalidPath, "the path '\(path)' \(fault)",
      remedy: "name a file or folder relative to the root of the packs, such as Videos/Introduction.m4v")
  }
}

/// A path of the namespace of packs, as the store writes it.
///
/// - Throws: ``ManagedPacksError`` `invalidPath` for one that is absolute, empty, or leaves the namespace.
package func namespacePath(_ path: FilePath) throws -> String {
  guard path.isRelative else { throw ManagedPacksError.invalidPath(path, "is absolute") }
  let parts = path.components.filter { $0.kind != .currentDirectory }
  guard !parts.contains(where: { $0.kind == .parentDirectory }) else {
    throw ManagedPacksError.invalidPath(path, "leaves the namespace")
  }
  guard !parts.isEmpty else { throw ManagedPacksError.invalidPath(path, "names no file") }
  return parts.map(\.string).joined(separator: "/")
}
