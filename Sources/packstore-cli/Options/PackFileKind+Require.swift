import PackFormats
import PackStore

extension PackFileKind {
  /// Fails if the file at `path` is of another kind. The error suggests the right command.
  ///
  /// - Parameter command: the requested command, such as `apply`.
  static func require(_ wanted: PackFileKind, at path: String, store: String, for command: String) throws {
    guard let found = PackFileKind(FilePath(path)), found != wanted else { return }
    let (name, store) = (escaped(path), escaped(store))
    switch found {
    case .delta:
      throw Failure(
        .wrongKind, "'\(name)': a delta, which '\(command)' does not read",
        remedy: "run 'packstore apply \(store) \(name)'", path: path)
    case .archive:
      throw Failure(
        .wrongKind, "'\(name)': an archive, which '\(command)' does not read",
        remedy: "run 'packstore import \(store) \(name)'", path: path)
    case .other:
      let (noun, maker) = wanted == .delta ? ("a delta", "delta") : ("an archive of a pack", "export")
      throw Failure(
        .wrongKind, "'\(name)': not \(noun)", remedy: "name a file created by 'packstore \(maker)'", path: path)
    }
  }
}
