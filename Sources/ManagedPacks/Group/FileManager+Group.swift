#if os(Linux)
  extension FileManager {
    /// Returns the folder for the files of a group's apps, and creates it if it is missing: `container/` in the group's folder. A
    /// delivered download that is moved there unchanged stays purgeable. All processes of the group may use it.
    ///
    /// The property list of the program determines the group's folder if it names this group, otherwise the standard folder is
    /// used. Reads files on the calling thread.
    ///
    /// - Returns: `nil` if the identifier is invalid, or the group's folder cannot be used.
    public func containerURL(forSecurityApplicationGroupIdentifier groupIdentifier: String) -> URL? {
      let environment = ProcessInfo.processInfo.environment
      return groupContainer(groupIdentifier, try? .main(environment: environment), environment)
    }
  }
#endif

/// - Parameter configuration: the property list of the program; `nil` if it has none.
func groupContainer(
  _ group: String, _ configuration: ManagedConfiguration?, _ environment: [String: String]
) -> URL? {
  guard let id = try? PackID(validating: group) else { return nil }
  let named = configuration.flatMap { $0.appGroupID == id ? $0 : nil }
  guard
    let folder = try? named.map({ try GroupFolder(of: $0, environment: environment) })
      ?? GroupFolder(of: id, environment: environment), (try? makeFolder(folder.container, isSecret: true)) != nil
  else { return nil }
  return URL(fileURLWithPath: folder.container.string, isDirectory: true)
}
