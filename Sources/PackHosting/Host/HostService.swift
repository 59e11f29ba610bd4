#if Hosting
  import Foundation
  import GRDB
  import Logging
  import PackStore

  /// The parts of a host that do not depend on HTTP.
  struct HostService: Sendable {
    let context: HostContext
    let folder: DataFolder
    let signer: PartURLSigner

    /// Opens a data folder with the system's clock and random numbers.
    ///
    /// - Parameter origin: the public base URL without a final slash.
    /// - Throws: errors of the folder and the database.
    init(
      at path: FilePath, origin: String, clock: any TimeSource = SystemTime(), random: any RandomSource = SystemRandom()
    ) throws {
      // Workers have another working directory.
      let path = FilePath(FileManager.default.currentDirectoryPath).pushing(path).lexicallyNormalized()
      folder = try DataFolder(path)
      let database = try HostDatabase.open(at: folder.database.string)
      context = HostContext(database: database, folder: path, clock: clock, random: random, origin: origin)
      signer = PartURLSigner(secret: try folder.secret(random))
    }

    /// Opens the publisher of an app; `nil` without a delegation.
    func publisher(of app: AppID) async throws -> SitePublisher? {
      let record = try await context.database.read { try AppRecord.find($0, key: ["id": app]) }
      let context = context
      return try await BlockingExecutor.run { try SitePublisher(context, record) }
    }
  }
#endif
