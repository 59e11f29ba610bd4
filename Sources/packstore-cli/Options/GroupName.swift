import ArgumentParser
import ManagedPacks
import PackStore

/// A group of apps, given by its id, an app's property list or the group's folder.
enum GroupName {
  case id(PackID)
  case propertyList(FilePath)
  case folder(FilePath)

  /// Returns `nil` if the word is a path to a missing file, or is not a valid id.
  init?(_ word: String) {
    let path = FilePath(word)
    if word.contains("/") || [".plist", ".json"].contains(where: word.hasSuffix) {
      guard pathExists(path) else { return nil }
      self = isFolder(path) ? .folder(path) : .propertyList(path)
    } else {
      guard let id = try? PackID(validating: word) else { return nil }
      self = .id(id)
    }
  }

  /// Returns the default group: the group of the property list in the environment, otherwise this user's only group.
  ///
  /// - Throws: `Failure` if this user has no group or several groups.
  static func only(_ environment: [String: String]) throws -> GroupName {
    if let list = environment[ManagedConfiguration.environmentVariable], !list.isEmpty {
      return .propertyList(FilePath(list))
    }
    let groups = try all(environment)
    guard let group = groups.first else {
      throw Failure(
        .notFound, "no group of apps exists on this machine", remedy: "name a group, or an app's property list")
    }
    guard groups.count == 1 else {
      throw Failure(
        .invalidArgument, "several groups exist (\(groups.map(\.name).joined(separator: ", ")))",
        remedy: "name one of them")
    }
    return .id(group)
  }

  /// Returns the groups in the standard folder.
  static func all(_ environment: [String: String]) throws -> [PackID] {
    guard let parent = try? GroupFolder.standardParent(environment) else { return [] }
    return try namesInFolder(parent).compactMap { name in
      guard let id = try? PackID(validating: name), pathExists(parent.appending(name).appending("journal")) else {
        return nil
      }
      return id
    }.sorted()
  }

  /// Returns the group's folder, and the app if the group was given by a property list. Creates a missing folder.
  ///
  /// - Parameter registering: whether to register the app in the group. If false, a group given by its id must exist.
  func open(registering: Bool) throws -> (GroupFolder, app: String?) {
    let (folder, configuration) = try locate(makes: true, mustBeThere: !registering)
    if registering, let configuration {
      let active = OverrideFile(in: folder).state(at: Date().timeIntervalSince1970).active
      // The app stays registered when an override ends.
      for group in [folder, try folder.under(active)] { try JournalFile(in: group).register(configuration) }
    }
    return (folder, configuration?.appID)
  }

  /// Returns the group's folder, which may be missing, and the app's configuration if the group was given by a property list.
  /// Creates and writes nothing.
  ///
  /// - Throws: `Failure` if the group was given by its id and does not exist.
  func find() throws -> (folder: GroupFolder, configuration: ManagedConfiguration?) {
    try locate(makes: false, mustBeThere: true)
  }

  /// Returns the group's folder. Creates a missing folder.
  func make() throws -> GroupFolder { try locate(makes: true, mustBeThere: false).folder }

  /// Returns the group's folder, whether it exists or not. Creates and writes nothing.
  func locate() throws -> GroupFolder { try locate(makes: false, mustBeThere: false).folder }

  private func locate(
    makes: Bool, mustBeThere: Bool
  ) throws -> (folder: GroupFolder, configuration: ManagedConfiguration?) {
    let environment = ProcessInfo.processInfo.environment
    switch self {
    case .id(let id):
      let folder = try GroupFolder(of: id, environment: environment, makes: makes && !mustBeThere)
      guard !mustBeThere || pathExists(folder.path) else {
        throw Failure(
          .notFound, "group '\(id.name)': does not exist on this machine",
          remedy: "launch one of its apps, or name an app's property list", path: folder.path.string)
      }
      return (folder, nil)
    case .folder(let path): return (try GroupFolder(path, makes: makes), nil)
    case .propertyList(let path):
      let configuration = try ManagedConfiguration(contentsOf: path)
      guard configuration.appID != programName() else {
        throw Failure(
          .invalidArgument, "'\(escaped(path.string))': does not name its app",
          remedy: "set CFBundleIdentifier")
      }
      return (try GroupFolder(of: configuration, environment: environment, makes: makes), configuration)
    }
  }
}
