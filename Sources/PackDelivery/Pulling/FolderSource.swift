import PackStore

/// A site in a folder.
package final class FolderSource: SiteSource {
  package let location: String
  package let isLocal = true
  package let hasRanges = true
  /// The path that the user gave.
  private let name: String
  private let folder: FilePath
  private let pace: Pace

  package init(_ folder: String, pace: Pace = Pace()) {
    name = folder
    self.folder = FilePath(folder)
    self.pace = pace
    // As absolute as possible, so that trust is pinned to the same place from any working directory.
    location = Self.realPath(folder) ?? folder
  }

  private static func realPath(_ path: String) -> String? {
    let resolved = URL(fileURLWithPath: path).resolvingSymlinksInPath().path
    return resolved.isEmpty ? nil : resolved
  }

  package func readWhole(
    _ path: String, upTo limit: Int, unless known: FileValidators?, counting tally: WireTally
  ) async throws -> WholeFile? {
    tally.beginRequest()
    let bytes = try await BlockingExecutor.run {
      let file: InputFile
      do {
        file = try self.open(path)
      } catch SourceFault.siteChanged {
        throw self.noSite(path)
      }
      do {
        return try file.contents(limit: limit)
      } catch let error as PackStoreError where error.code == .corrupt {
        throw DeliveryError(.badResponse, "longer than \(formatBytes(limit))", at: self.place(of: path))
      } catch {
        throw DeliveryError(cannotRead: error, at: self.place(of: path))
      }
    }
    tally.receive(bytes.count)
    return WholeFile(bytes: bytes)
  }

  private func noSite(_ path: String) -> DeliveryError {
    guard !pathExists(folder) else {
      return DeliveryError(noRoot: path, at: location)
    }
    let shown = withoutSecrets(name)
    var error = DeliveryError(.noSite, "the folder does not exist", at: shown)
    error.specificRemedy = urlWithMissingScheme(name).map { "for a server, write \($0)" }
    return error
  }

  package func read(_ file: SiteFile, at offset: UInt64, into buffer: TransferBuffer, isFresh: Bool) async throws {
    try await pace.pass()
    try await BlockingExecutor.run { try self.fill(buffer, from: file, at: offset) }
    try await pace.pay(buffer.count)
  }

  private func fill(_ buffer: TransferBuffer, from file: SiteFile, at offset: UInt64) throws {
    let opened = try open(file.path)
    let isWhole: Bool
    do {
      isWhole = try buffer.fill(from: opened, at: offset)
    } catch {
      throw DeliveryError(cannotRead: error, at: place(of: file.path), offset: offset)
    }
    guard isWhole else { throw changed(file.path, "shorter than the site records") }
  }

  /// Links inside the site are refused: the user chose only the path of the site's folder.
  private func open(_ path: String) throws -> InputFile {
    do {
      return try InputFile(path, in: folder)
    } catch let error as PackStoreError where error.code == .notFound || error.systemError == .notDirectory {
      throw changed(path, "does not exist")
    } catch {
      throw DeliveryError(cannotRead: error, at: place(of: path))
    }
  }

  private func changed(_ path: String, _ reason: String) -> SourceFault {
    .siteChanged(DeliveryError(.siteChanged, reason, at: place(of: path)))
  }

  package func stream(_ file: SiteFile) async throws -> any SiteStream { preconditionFailure("a folder has ranges") }

  package func restart(ignoringValidators: Bool) {}

  package func close() async {}
}
