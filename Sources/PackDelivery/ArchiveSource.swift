import PackStore
import SystemPackage

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// A site in an archive: a tar file of its files.
package final class ArchiveSource: SiteSource {
  package let location: String
  package let isLocal = true
  package let hasRanges = true
  private let descriptor: FileDescriptor
  private let index: ArchiveIndex
  private let pace: Pace

  /// Opens the archive and looks for its files.
  ///
  /// - Throws: `noSite` when there is no such file; `corrupt` when it is no archive; `ioError`.
  package init(_ file: String, pace: Pace = Pace()) throws(DeliveryError) {
    let place = URL(fileURLWithPath: file).resolvingSymlinksInPath().path
    do {
      let descriptor = try FileDescriptor.open(FilePath(file), .readOnly, options: [.closeOnExec])
      do {
        index = try Self.readIndex(descriptor, place)
      } catch {
        try? descriptor.close()
        throw error
      }
      self.descriptor = descriptor
    } catch let error as PackStoreError {
      throw DeliveryError(.corrupt, error.reason, at: place, offset: error.offset)
    } catch let error as Errno where error == .noSuchFileOrDirectory || error == .notDirectory {
      throw DeliveryError(.noSite, "there is no such file", at: place)
    } catch {
      throw DeliveryError(.ioError, "cannot read (\(error))", at: place)
    }
    location = place
    self.pace = pace
  }

  deinit { try? descriptor.close() }

  private static func readIndex(_ descriptor: FileDescriptor, _ place: String) throws -> ArchiveIndex {
    let byteCount = UInt64(try descriptor.seek(offset: 0, from: .end))
    return try ArchiveIndex(byteCount: byteCount, file: place) { offset, count in
      try [UInt8](unsafeUninitializedCapacity: count) { buffer, done in
        while done < count {
          let rest = UnsafeMutableRawBufferPointer(rebasing: UnsafeMutableRawBufferPointer(buffer)[done...])
          let more = try descriptor.read(fromAbsoluteOffset: Int64(offset) + Int64(done), into: rest)
          if more == 0 { return }
          done += more
        }
      }
    }
  }

  private func member(_ path: String) -> ArchiveIndex.Member? { SitePath(path).flatMap { index.members[$0] } }

  package func readWhole(_ path: String, upTo limit: Int) async throws -> [UInt8] {
    guard let member = member(path) else { throw changed(path, "the archive has no such file") }
    guard member.byteCount <= UInt64(limit) else {
      throw DeliveryError(.badResponse, "the file is longer than \(limit) bytes", at: place(of: path))
    }
    let file = SiteFile(path, byteCount: member.byteCount)
    let memory = UnsafeMutableRawBufferPointer.allocate(byteCount: Int(member.byteCount), alignment: 16)
    defer { memory.deallocate() }
    let buffer = TransferBuffer(memory)
    try await read(file, at: 0, into: buffer, isFresh: false)
    return Array(buffer.bytes)
  }

  package func read(_ file: SiteFile, at offset: UInt64, into buffer: TransferBuffer, isFresh: Bool) async throws {
    try await pace.pass()
    try await BlockingExecutor.run { try self.fill(buffer, from: file, at: offset) }
    try await pace.pay(buffer.count)
  }

  private func fill(_ buffer: TransferBuffer, from file: SiteFile, at offset: UInt64) throws {
    guard let member = member(file.path) else { throw changed(file.path, "the archive has no such file") }
    // Where the next member lies is no business of a reader of this one.
    guard offset <= member.byteCount, UInt64(buffer.count) <= member.byteCount - offset else {
      throw changed(file.path, "the file is shorter than the site says")
    }
    buffer.clear()
    buffer.requestCount += 1
    while !buffer.isFull {
      let place = Int64(member.offset + offset) + Int64(buffer.filledCount)
      let count: Int
      do {
        count = try descriptor.read(fromAbsoluteOffset: place, into: buffer.rest)
      } catch {
        throw DeliveryError(.ioError, "cannot read (\(error))", at: location, offset: UInt64(place))
      }
      guard count > 0 else { throw changed(file.path, "the archive is shorter than before") }
      buffer.didFill(count)
      buffer.wireByteCount += count
    }
  }

  private func changed(_ path: String, _ reason: String) -> SourceFault {
    .siteChanged(DeliveryError(.siteChanged, reason, at: place(of: path)))
  }

  package func stream(_ file: SiteFile) async throws -> any SiteStream { preconditionFailure("an archive has ranges") }

  package func restart(ignoringValidators: Bool) {}

  package func close() async {}
}
