import ManagedPacks

/// An app of another team: fetches a pack by its property list, and writes one of its files to standard output.
///
///     managed PROPERTY-LIST PACK FILE
@main
struct Main {
  static func main() async throws {
    let arguments = CommandLine.arguments
    guard arguments.count == 4 else {
      print("usage: managed PROPERTY-LIST PACK FILE")
      exit(2)
    }
    let configuration = try ManagedConfiguration(contentsOf: FilePath(arguments[1]))
    let manager = try AssetPackManager(configuration: configuration)
    try await manager.ensureLocalAvailability(of: manager.assetPack(withID: arguments[2]))
    try FileHandle.standardOutput.write(contentsOf: manager.contents(at: FilePath(arguments[3])))
  }
}
