extension ManagedConfiguration {
  /// The environment variable with the path of the running program's property list.
  public static let environmentVariable = "PACKSTORE_BACKGROUND_ASSETS"

  /// The environment variable with the absolute path of the group's folder, in place of the property list's. A simulation sets it
  /// for extensions.
  static let groupFolderVariable = "PACKSTORE_GROUP_FOLDER"

  /// Returns the configuration of the running program: the property list named in ``environmentVariable``, or the first of
  /// `PROGRAM.plist`, `PROGRAM.json` and `Info.plist` in the program's folder.
  ///
  /// - Throws: ``ManagedPacksError``.
  public static func main(
    environment: [String: String] = ProcessInfo.processInfo.environment, program: FilePath? = nil
  ) throws -> Self {
    var configuration = try found(environment, program)
    if let folder = environment[groupFolderVariable].map({ FilePath($0) }), folder.isAbsolute {
      configuration.groupFolder = folder
    }
    return configuration
  }

  private static func found(_ environment: [String: String], _ program: FilePath?) throws -> Self {
    if let named = environment[environmentVariable], !named.isEmpty {
      return try Self(contentsOf: FilePath(named))
    }
    let program = program ?? FilePath(Bundle.main.executablePath ?? CommandLine.arguments.first ?? "")
    let folder = program.removingLastComponent(), name = program.lastComponent?.string ?? ""
    let candidates = ["\(name).plist", "\(name).json", "Info.plist"].map { folder.appending($0) }
    guard let found = candidates.first(where: pathExists) else {
      throw ManagedPacksError(
        .noConfiguration, "no property list exists for the program '\(program)'",
        remedy:
          "put \(name).plist or \(name).json next to it with BAAppGroupID and BAManifestURL, or name one in "
          + environmentVariable)
    }
    return try Self(contentsOf: found)
  }

  /// Reads a property list in XML, JSON or the binary form.
  ///
  /// - Throws: ``ManagedPacksError``.
  public init(contentsOf path: FilePath) throws {
    let bytes: [UInt8]
    do {
      bytes = try InputFile(path).contents(limit: Self.byteCountLimit)
    } catch let error as PackStoreError {
      throw ManagedPacksError(
        .noConfiguration, "the property list '\(path)' cannot be read (\(error.finding))",
        remedy: "use a file of at most \(Self.byteCountLimit) bytes that the program can read")
    }
    try self.init(propertyList: Data(bytes), name: path.string)
    propertyList = resolvedPath(path)
    // A relative path is relative to the folder of the list.
    downloaderExtension = downloaderExtension.map { path.removingLastComponent().pushing($0) }
  }
}
