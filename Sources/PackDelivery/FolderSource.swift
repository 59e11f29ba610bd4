import PackStore
import SystemPackage

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// A site in a folder.
package final class FolderSource: SiteSource {
  package let location: String
  package let isLocal = true
  package let hasRanges = true
  private let folder: FilePath
  private let pace: Pace

  package init(_ folder: String, pace: Pace = Pace()) {
    self.folder = FilePath(folder)
    self.pace = pace
    // As absolute as can be, so that trust is pinned to the same place from wherever the command is run.
    location = Self.realPath(folder) ?? folder
  }

  private static func realPath(_ path: String) -> String? {
    let resolved = URL(fileURLWithPath: path).resolvingSymlinksInPath().path
    return resolved.isEmpty ? nil : resolved
  }

  package func readWhole(_ path: String, upTo limit: Int) async throws -> [UInt8] {
    try await BlockingExecutor.run {
      let descriptor: FileDescriptor
      do {
        descriptor = try self.open(path)
      } catch SourceFault.siteChanged {
        throw DeliveryError(.noSite, "there is no site: no file '\(path)'", at: self.location)
      }
      defer { try? descriptor.close() }
      var bytes: [UInt8] = []
      while true {
        let chunk = try [UInt8](unsafeUninitializedCapacity: 1 << 16) { buffer, count in
          count = try descriptor.read(
            fromAbsoluteOffset: Int64(bytes.count), into: UnsafeMutableRawBufferPointer(buffer))
        }
        if chunk.isEmpty { return bytes }
        guard bytes.count + chunk.count <= limit else {
          throw DeliveryError(.badResponse, "the file is longer than \(limit) bytes", at: self.place(of: path))
        }
        bytes += chunk
      }
    }
  }

  package func read(_ file: SiteFile, at offset: UInt64, into buffer: TransferBuffer, isFresh: Bool) async throws {
    try await pace.pass()
    try await BlockingExecutor.run { try self.fill(buffer, from: file, at: offset) }
    try await pace.pay(buffer.count)
  }

  private func fill(_ buffer: TransferBuffer, from file: SiteFile, at offset: UInt64) throws {
    let descriptor = try open(file.path)
    defer { try? descriptor.close() }
    buffer.clear()
    buffer.requestCount += 1
    while !buffer.isFull {
      let place = Int64(offset) + Int64(buffer.filledCount)
      let count: Int
      do {
        count = try descriptor.read(fromAbsoluteOffset: place, into: buffer.rest)
      } catch let error as Errno {
        throw DeliveryError(
          .ioError, "cannot read (\(error))", at: self.place(of: file.path), offset: UInt64(place))
      }
      guard count > 0 else { throw changed(file.path, "the file is shorter than the site says") }
      buffer.didFill(count)
      buffer.wireByteCount += count
    }
  }

  private func open(_ path: String) throws -> FileDescriptor {
    do {
      return try FileDescriptor.open(folder.pushing(FilePath(path)), .readOnly, options: [.closeOnExec])
    } catch let error as Errno {
      guard error == .noSuchFileOrDirectory || error == .notDirectory else {
        throw DeliveryError(.ioError, "cannot open (\(error))", at: place(of: path))
      }
      throw changed(path, "there is no such file")
    }
  }

  private func changed(_ path: String, _ reason: String) -> SourceFault {
    .siteChanged(DeliveryError(.siteChanged, reason, at: place(of: path)))
  }

  package func stream(_ file: SiteFile) async throws -> any SiteStream { preconditionFailure("a folder has ranges") }

  package func restart(ignoringValidators: Bool) {}

  package func close() async {}
}
