import PackFormats
import PackStore

/// A site in an archive: a tar file of its files.
package final class ArchiveSource: SiteSource {
  package let location: String
  package let isLocal = true
  package let isArchive = true
  package let hasRanges = true
  private let file: InputFile
  private let index: ArchiveIndex
  private let pace: Pace

  /// Opens the archive and indexes its files.
  ///
  /// - Throws: `noSite` if the file does not exist; `corrupt` if it is not an archive; `ioError`.
  package init(_ path: String, pace: Pace = Pace()) throws {
    let place = URL(fileURLWithPath: path).resolvingSymlinksInPath().path
    do {
      file = try InputFile(FilePath(path))
      index = try Self.readIndex(file, place)
    } catch let error as PackStoreError where error.code == .notFound || error.systemError == .notDirectory {
      throw DeliveryError(.noSite, "the archive does not exist", at: place)
    } catch let error as PackStoreError where error.code == .corrupt {
      var damage = DeliveryError(.corrupt, error.reason, at: place, offset: error.offset)
      damage.specificRemedy = error.specificRemedy
      throw damage
    } catch {
      throw DeliveryError(cannotRead: error, at: place)
    }
    location = place
    self.pace = pace
  }

  private static func readIndex(_ file: InputFile, _ place: String) throws -> ArchiveIndex {
    try ArchiveIndex(byteCount: try file.byteCount, file: place) { offset, count in
      try file.bytes(at: offset, upTo: count)
    }
  }

  private func member(_ path: String) -> ArchiveIndex.Member? { SitePath(path).flatMap { index.members[$0] } }

  package func readWhole(
    _ path: String, upTo limit: Int, unless known: FileValidators?, counting tally: WireTally
  ) async throws -> WholeFile? {
    guard let member = member(path) else { throw changed(path, "missing in the archive") }
    guard member.byteCount <= UInt64(limit) else {
      throw DeliveryError(.badResponse, "longer than \(formatBytes(limit))", at: place(of: path))
    }
    let file = SiteFile(path, byteCount: member.byteCount)
    let memory = UnsafeMutableRawBufferPointer.allocate(byteCount: Int(member.byteCount), alignment: 16)
    defer { memory.deallocate() }
    let buffer = TransferBuffer(memory)
    defer { tally.take(buffer) }
    try await read(file, at: 0, into: buffer, isFresh: false)
    return WholeFile(bytes: Array(buffer.bytes))
  }

  package func read(_ file: SiteFile, at offset: UInt64, into buffer: TransferBuffer, isFresh: Bool) async throws {
    try await pace.pass()
    try await BlockingExecutor.run { try self.fill(buffer, from: file, at: offset) }
    try await pace.pay(buffer.count)
  }

  private func fill(_ buffer: TransferBuffer, from file: SiteFile, at offset: UInt64) throws {
    guard let member = member(file.path) else { throw changed(file.path, "missing in the archive") }
    // A read must not reach into the next member.
    guard offset <= member.byteCount, UInt64(buffer.count) <= member.byteCount - offset else {
      throw changed(file.path, "shorter than the site records")
    }
    let isWhole: Bool
    do {
      isWhole = try buffer.fill(from: self.file, at: member.offset + offset)
    } catch {
      throw DeliveryError(cannotRead: error, at: location, offset: member.offset + offset)
    }
    guard isWhole else { throw changed(file.path, "the archive became shorter") }
  }

  private func changed(_ path: String, _ reason: String) -> SourceFault {
    .siteChanged(DeliveryError(.siteChanged, reason, at: place(of: path)))
  }

  package func stream(_ file: SiteFile) async throws -> any SiteStream { preconditionFailure("an archive has ranges") }

  package func restart(ignoringValidators: Bool) {}

  package func close() async {}
}
