package import PackDelivery
import PackStore

/// The files of a site in object storage as a site source: read directly from the storage, never through a CDN.
package final class StorageSource: SiteSource {
  private let storage: any ObjectStorage
  package let isLocal = false
  package let hasRanges = true

  package init(_ storage: any ObjectStorage) { self.storage = storage }

  package var location: String { storage.location }

  /// Returns the storage's time, in seconds since 1970.
  package func now() async throws -> Int64 { try await storage.now() }

  package func readWhole(
    _ path: String, upTo limit: Int, unless known: FileValidators?, counting tally: WireTally
  ) async throws -> WholeFile? {
    tally.beginRequest()
    guard let object = try await storage.read(ObjectKey(space: .shared, path: path), limit: limit) else {
      throw DeliveryError(noRoot: path, at: location)
    }
    tally.receive(object.bytes.count)
    return WholeFile(bytes: object.bytes)
  }

  package func read(_ file: SiteFile, at offset: UInt64, into buffer: TransferBuffer, isFresh: Bool) async throws {
    buffer.clear()
    guard buffer.count > 0 else { return }
    buffer.requestCount += 1
    let key = ObjectKey(space: .shared, path: file.path)
    let bytes = try await storage.read(key, in: offset..<offset.addingClamped(UInt64(buffer.count)))
    guard let bytes, bytes.count == buffer.count else {
      let reason = bytes == nil ? "does not exist" : "shorter than the site records"
      throw SourceFault.siteChanged(DeliveryError(.siteChanged, reason, at: place(of: file.path)))
    }
    bytes.withUnsafeBytes { buffer.append($0) }
    buffer.wireByteCount += bytes.count
  }

  package func stream(_ file: SiteFile) async throws -> any SiteStream { preconditionFailure("a storage has ranges") }

  package func restart(ignoringValidators: Bool) {}

  package func close() async { await storage.close() }
}
